"""Which GPUs may be used: shown before anything is graded, and a healthy one for each timed job.

A driver that lists a GPU proves nothing. Each start therefore has a probe process, behind the same
walls as every student process, compute a product on each GPU. Where that fails, the probe is
repeated with one wall left out at a time, so that the message can name the wall in the way. Only
the host's own program ever runs in these.

Each timed job examines its device before and after. If the device failed, or one of the grader's
own processes on it, the result is dropped and a fresh process examines the device. A device that is
still unwell is taken out. The job begins again, on another device if there is one. A job whose
devices keep failing is given up: its points stay pending, and the remaining device serves the next
submission.

Defends against: a device that one submission has broken and the next would pay for; two timed runs
on one device; a submission that breaks one device after another.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from grader.assignment.types import Limits
from grader.errors import InfrastructureError
from grader.run.gpu_driver import advice, node_problems
from grader.run.gpu_state import Leases, ask, visible_gpus
from grader.run.gpu_worker import (
    PROGRAM,
    DeviceWorker,
    GpuProcess,
    SickDeviceError,
    compute_product,
    overwrite_memory,
    with_gpu,
)
from grader.run.session import ProcessSession
from grader.sandbox.host.fork_server import ForkServerSandbox
from grader.sandbox.host.open import OneShotSandbox, without_wall
from grader.sandbox.host.processes import Gpu, ProcessSpec, Sandbox
from grader.sandbox.walls import cuda
from grader.sandbox.walls.plan import Wall

_PROOF_PATIENCE = 600.0
"""Seconds to wait for a GPU that another run is timing on."""

_SUSPECTS = (Wall.LANDLOCK, Wall.SECCOMP, Wall.LIMITS, Wall.VIEW, Wall.SCRATCH, Wall.IPC)
"""Walls that the driver's library may run into, the likeliest first. The others (other users, no
capabilities, no network) are like those of any ordinary program on a GPU."""

_GO_ON = (
    "To go on without the GPU: --device virtual grades on virtual GPUs, and only measured speed "
    "stays pending.\n"
    "To go on without the sandbox: --isolation none. Student code then has your own rights: it can "
    "read the reference and change any file of yours. Its points are no official score; `grader "
    "merge` takes them only with --accept-unwalled, and marks them."
)


@dataclass(frozen=True, slots=True)
class GpuProof:
    """What was shown.

    Attributes:
        proved: For the report: attempt → what a probe process met.
        failed: Name of a GPU → why it cannot be used.
        memory: Most host memory that a probe process took on one of them, in bytes; 0 if unknown.
    """

    proved: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    memory: int = 0

    @property
    def gpu_memory(self) -> int:
        """Host memory to allow each process for its GPU's driver, in bytes.

        Half as much again as the probe took, and 256 MiB: kernels are loaded when they are first
        called, and a submission calls more of them.
        """
        return self.memory * 3 // 2 + 2**28 if self.memory else cuda.MEMORY

    def explanation(self, tier: str) -> str:
        """Return what an instructor has to know of the failures, and how to go on."""
        lines = "\n".join(f"  {name}: {reason}" for name, reason in self.failed.items())
        where = "" if tier == "none" else f" in the sandbox (tier {tier})"
        go_on = _GO_ON.splitlines()[0] if tier == "none" else _GO_ON
        return f"student code cannot use the GPU{where}:\n{lines}\n{go_on}"


ProveGpus = Callable[[Sandbox, Sequence[Gpu], Limits], GpuProof]


def prove_gpus(
    sandbox: Sandbox, gpus: Sequence[Gpu], limits: Limits, leases: Leases | None = None
) -> GpuProof:
    """Have a probe process compute a product on each GPU.

    Args:
        sandbox: Starts the student processes.
        gpus: Of this machine.
        limits: Of the student processes.
        leases: Keep the probe from a GPU that another run is timing on.
    """
    proved, failed, memory = {}, {}, 0
    leases = leases or Leases()
    for gpu in gpus:
        # Held meanwhile: the product would be in the time of whoever measures on it.
        with leases.hold(gpu.uuid, _PROOF_PATIENCE) as held:
            problem, touched = (
                _problem(sandbox, gpu, limits) if held else ("another run is timing on it", 0)
            )
        memory = max(memory, touched)
        if problem:
            failed[gpu.uuid] = problem
        else:
            proved[f"product on {gpu.uuid}"] = "right"
    return GpuProof(proved, failed, memory)


def scrub_gpus(sandbox: Sandbox, gpus: Sequence[Gpu], limits: Limits) -> None:
    """Overwrite the memory of GPUs: the reference's answers may still be there.

    Raises:
        InfrastructureError: It could not be overwritten; no submission may run there.
    """
    for gpu in gpus:
        reserve = ask(gpu.card).reserve
        overwrite_memory(ProcessSession(sandbox, PROGRAM), with_gpu(limits, gpu), reserve)


def _problem(sandbox: Sandbox, gpu: Gpu, limits: Limits) -> tuple[str, int]:
    """Return why student processes cannot use a GPU, or an empty string; and the memory it took."""
    if not sandbox.grants(ProcessSpec(cuda=1)):
        return "this kernel has no Landlock, which keeps it from processes that may not use it", 0
    problem, touched = _product(sandbox, gpu, limits)
    if not problem:
        # A product takes one process; the driver knows whether the card takes several.
        return ask(gpu.card).problem, touched
    if not isinstance(sandbox, ForkServerSandbox):
        return "; ".join(filter(None, (problem, advice(problem)))), 0
    return "; ".join((problem, *_causes(sandbox, gpu, limits, problem))), 0


def _causes(sandbox: ForkServerSandbox, gpu: Gpu, limits: Limits, problem: str) -> list[str]:
    """Return why a product failed in the sandbox: the machine, the nodes, or a wall."""
    # Outside first: what fails there too is no wall's doing, and each wall takes seconds to try.
    with contextlib.closing(OneShotSandbox()) as outside:
        same, _ = _product(outside, gpu, limits)
    if same:
        outside_too = "outside the sandbox it fails too"
        outside_too += "" if same == problem else f": {same}"
        known = advice(same) or advice(problem)
        return [outside_too, *([known] if known else node_problems(gpu))]
    causes = node_problems(gpu) or [_wall_in_the_way(sandbox, gpu, limits)]
    return ["outside the sandbox it is right", *causes, *filter(None, [advice(problem)])]


def _product(sandbox: Sandbox, gpu: Gpu, limits: Limits) -> tuple[str, int]:
    """Return why a product could not be computed, or an empty string; and the memory it took."""
    session = ProcessSession(sandbox, PROGRAM)
    try:
        answer, _ = compute_product(session, with_gpu(limits, gpu))
    except InfrastructureError as error:
        answer = str(error)
    finally:
        ended = session.close()
    return answer if isinstance(answer, str) else "", ended.touched or 0


def _wall_in_the_way(sandbox: ForkServerSandbox, gpu: Gpu, limits: Limits) -> str:
    for wall in _SUSPECTS:
        if not sandbox.plan.has(wall):
            continue
        with without_wall(sandbox, wall) as probing:
            if not _product(probing, gpu, limits)[0]:
                return f"the wall “{wall.value}” is in the way: without it, the product is right"
    return "no single wall is in the way"


_T = TypeVar("_T")

_TURNS = 2
"""Times that a job is begun: breaking devices may not go on for ever."""

_PATIENCE = 600.0
_TICK = 0.1


class NoDeviceError(InfrastructureError):
    """No device can be used; says why for each."""


class DeviceTakenError(InfrastructureError):
    """All devices were in use for longer than anybody waits."""


class Rack:
    """All devices.

    Args:
        devices: Their names; the first that is free is taken.
        open_worker: Makes a worker for a device that was leased.
        leases: Who has which device.
        patience: Seconds to wait for one.
    """

    def __init__(
        self,
        devices: Sequence[str],
        open_worker: Callable[[str], DeviceWorker],
        leases: Leases,
        patience: float = _PATIENCE,
    ) -> None:
        self._devices = tuple(devices)
        self._open = open_worker
        self._leases = leases
        self._patience = patience

    def run(self, job: Callable[[DeviceWorker], _T]) -> _T:
        """Run a job on a device.

        Args:
            job: Called with a worker, again from the beginning where a device failed.

        Raises:
            NoDeviceError: None is left, or those that the job had failed.
            DeviceTakenError: All were in use for too long.
        """
        failures: list[str] = []
        tried: list[str] = []
        # A job that breaks devices may break no more than these; others of the class need them.
        for _ in range(_TURNS):
            with self._leased(tried) as device:
                try:
                    return self._on(device, job)
                except InfrastructureError as error:
                    failures.append(f"{device}: {error}")
                    tried.append(device)
                    self._examine(device, str(error))
        raise NoDeviceError("; ".join(failures))

    def sick(self) -> list[str]:
        """Look at every device; take out those that are not well, and say why each is out.

        Raises:
            DeviceTakenError: One was in use for too long.
        """
        for device in self._devices:
            if not self._leases.why_out(device):
                with self._leases.hold(device, self._patience) as held:
                    if not held:
                        raise DeviceTakenError(f"in use for more than {self._patience:g} s")
                    self._examine(device, "a call on it ended with an error")
        out = ((device, self._leases.why_out(device)) for device in self._devices)
        return [f"{device}: {reason}" for device, reason in out if reason]

    def _on(self, device: str, job: Callable[[DeviceWorker], _T]) -> _T:
        worker = self._open(device)
        try:
            _insist(worker)
            result = job(worker)
            # After the job too: numbers from a device that failed meanwhile say nothing of the
            # submission.
            _insist(worker)
        except BaseException:
            # What ended the job is the error to report, not what came of it.
            with contextlib.suppress(InfrastructureError):
                worker.close()
            raise
        try:
            worker.close()
        except InfrastructureError as error:
            # Found out after the result, which stands; but nobody else may have this device.
            self._leases.take_out(device, str(error))
        return result

    def _examine(self, device: str, reason: str) -> None:
        """Take a device out unless a fresh process finds it well."""
        try:
            worker = self._open(device)
            try:
                _insist(worker)
            finally:
                worker.close()
        except InfrastructureError as error:
            self._leases.take_out(device, f"{reason}; looked at again: {error}")

    @contextlib.contextmanager
    def _leased(self, tried: Sequence[str]) -> Iterator[str]:
        deadline = time.monotonic() + self._patience
        # One that this job has not had is tried first.
        order = sorted(self._devices, key=tried.count)
        while True:
            # Asked anew each time: other graders take devices out while this one waits.
            out = {device: self._leases.why_out(device) for device in order}
            if all(out.values()):
                reasons = "; ".join(
                    f"{device}: {reason} (to put it back, remove {self._leases.note(device)})"
                    for device, reason in out.items()
                )
                reasons = reasons or "there is none"
                raise NoDeviceError(f"no GPU is left that may be used: {reasons}")
            for device in (name for name in order if not out[name]):
                with self._leases.hold(device, 0.0) as held:
                    # It may have been taken out while its last holder had it.
                    if held and not self._leases.why_out(device):
                        yield device
                        return
            if time.monotonic() > deadline:
                raise DeviceTakenError(f"in use for more than {self._patience:g} s: {order}")
            time.sleep(_TICK)


def _insist(worker: DeviceWorker) -> None:
    health = worker.health()
    if health.problem:
        raise SickDeviceError(health.problem)


OpenRack = Callable[[Sandbox, Limits], "Rack | None"]
"""Returns the devices that a sandbox can give to student processes; None where there are none."""


def open_rack(sandbox: Sandbox, limits: Limits) -> Rack | None:
    """Return the real devices of this machine, if it has any and student processes may see them."""
    gpus = {gpu.uuid: gpu for gpu in visible_gpus()}
    if not gpus or not sandbox.grants(ProcessSpec(cuda=1)):
        return None
    return Rack(list(gpus), lambda uuid: GpuProcess(sandbox, gpus[uuid], limits), Leases())


def no_rack(sandbox: Sandbox, limits: Limits) -> None:
    """Have no devices, whatever this machine has."""
