"""Which hand-ins are timed on a device, and their verdicts anew once they were.

Last of all, and only for what the checks that speed rests on let through: whatever can be found out
without a device was found out without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from grader.assignment.types import Limits
from grader.checks.judge import required
from grader.checks.speed import speed_tests
from grader.errors import InfrastructureError
from grader.observation import Timing
from grader.run.clocked import Judged
from grader.run.gpu_state import Leases, visible_gpus
from grader.run.gpu_worker import GuestWorker, suspicious
from grader.run.gpus import Rack
from grader.run.materials import Materials
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedQuestion
from grader.run.submitted import Verdicts, for_all
from grader.run.timed_gpu import DeviceSubject, DeviceTimer
from grader.sandbox.host.guests import GuestNeeds, Sandbox
from grader.verdict import Code, Message, Owner, Status, fault

OpenRack = Callable[[Sandbox, Limits], "Rack | None"]
"""Returns the devices that guests of a sandbox can be given; None where there are none."""


def open_rack(sandbox: Sandbox, limits: Limits) -> Rack | None:
    """Return the real devices of this machine, if it has any and guests may see them."""
    gpus = {gpu.uuid: gpu for gpu in visible_gpus()}
    if not gpus or not sandbox.grants(GuestNeeds(cuda=1)):
        return None
    return Rack(list(gpus), lambda uuid: GuestWorker(sandbox, gpus[uuid], limits), Leases())


def no_rack(sandbox: Sandbox, limits: Limits) -> None:
    """Have no devices, whatever this machine has."""


def wants_device(planned: PlannedQuestion, verdicts: Mapping[str, Judged]) -> bool:
    """Return whether a question's function is to be timed on a device.

    Args:
        planned: The question.
        verdicts: Of its checks, by id, without times.
    """
    checks = planned.question.checks
    # Cases that are too large for this machine's way of running the question are not planned.
    there = {case.case.id for case in planned.cases}
    return any(
        test.case in there
        and verdicts[check.id].code is Code.NO_DEVICE
        and all(
            verdicts[name].status in (Status.PASSED, Status.PARTIAL)
            for name in required(check, checks)
        )
        for check, test in speed_tests(checks, on_device=True)
    )


class DeviceClock:
    """The devices of this machine: times questions of hand-ins, and finds out who broke what.

    Args:
        materials: Hold the reference.
        sandbox: Starts the guests.
        seed: Of all drawn inputs.
        racks: Finds the devices.
    """

    def __init__(self, materials: Materials, sandbox: Sandbox, seed: int, racks: OpenRack) -> None:
        self._materials = materials
        self._seed = seed
        self._open: Callable[[Limits], Rack | None] = partial(racks, sandbox)

    @property
    def available(self) -> bool:
        """Whether there is a device at all."""
        return self._open(self._materials.assignment.limits) is not None

    def faults(
        self, plan: Sequence[PlannedQuestion], runs: Mapping[str, QuestionRun]
    ) -> dict[str, Verdicts]:
        """Return verdicts for questions that met a device which is not well; they cost nothing.

        A hand-in that runs into an error of CUDA may have met what an earlier one left behind.

        Args:
            plan: What was called.
            runs: What came of it, by question id.
        """
        met = [
            planned.question
            for planned in plan
            if planned.needs.cuda
            and any(map(suspicious, runs[planned.question.id].observations.values()))
        ]
        rack = self._open(self._materials.assignment.limits) if met else None
        if rack is None:
            return {}
        try:
            sick = rack.sick()
        except InfrastructureError as error:
            sick = [str(error)]
        told = Message("speed_device_failed", {"detail": "; ".join(sick)})
        verdict = fault(Code.DEVICE_FAILED, Owner.INFRASTRUCTURE, told)
        return {question.id: for_all(question, verdict) for question in met} if sick else {}

    def time(
        self, planned: PlannedQuestion, entry: str, ours: str, files: Mapping[str, bytes]
    ) -> Timing:
        """Time a question's function.

        Args:
            planned: The question.
            entry: The function's name in the hand-in.
            ours: Its name in the reference.
            files: The hand-in.
        """
        limits = self._materials.assignment.limits_of(planned.question)
        rack = self._open(limits)
        if rack is None:
            return Timing(skipped="speed_no_device")
        subject = DeviceSubject(planned, entry, ours, files, limits)
        return DeviceTimer(self._materials, rack, self._seed).time(subject)
