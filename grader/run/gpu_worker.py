"""One GPU and the processes that are timed on it: all that a timed run needs of a GPU.

``GpuProcess`` is the real one. Tests have another, with noise, throttling, failure and death on
demand, and everything above this interface runs against both. **``GpuProcess`` has never been run
on a GPU**; what of it does not need one is tested.

What the host itself runs on a device is sent into student processes as source, as it imports no
torch: ``wire`` and ``transfer`` are the parties that carry bytes and compute nothing; ``probe`` is
a product whose result is known, the only proof that a device works: a driver that lists it proves
nothing; ``scrub`` overwrites what a submission may have left in the device's memory.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from grader.assignment.types import Limits
from grader.errors import InfrastructureError
from grader.observation import Observation, Outcome
from grader.run.gpu_state import Health, ask
from grader.run.process_limits import process_spec
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import Gpu, ProcessSpec, Sandbox
from grader.verdict import Param
from grader.wire.messages import Call, Load

PROBE_SIZE = 512
PROBE_ANSWER = float(PROBE_SIZE)
"""Every entry of a product of two square matrices of ones."""

_SOURCE = b"""
import torch


def wire(outputs, *inputs):
    return [torch.zeros(shape, dtype=dtype) for shape, dtype in outputs]


def transfer(outputs, *inputs):
    for value in inputs:
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(item, torch.Tensor):
                item.cuda()
    made = [torch.zeros(shape, dtype=dtype, device="cuda") for shape, dtype in outputs]
    return [item.cpu() for item in made]


def probe(size):
    ones = torch.ones(size, size, device="cuda")
    product = ones @ ones
    return {
        "least": product.min().item(),
        "greatest": product.max().item(),
        "tf32": bool(torch.backends.cuda.matmul.allow_tf32),
        "threads": torch.get_num_threads(),
    }


def scrub(reserve):
    kept, part = [], torch.cuda.mem_get_info()[0]
    while True:
        part = min(part, torch.cuda.mem_get_info()[0] - reserve)
        if part < 2**21:
            break
        try:
            kept.append(torch.zeros(part, dtype=torch.uint8, device="cuda"))
        except torch.cuda.OutOfMemoryError:
            part //= 2
    torch.cuda.synchronize()
    return sum(item.numel() for item in kept)
"""

PROGRAM = Load({"device.py": _SOURCE}, "device.py")
"""All of it, as what a student process loads."""


_PROBE_SECONDS = 60.0
_SCRUB_SECONDS = 120.0
_QUIET_TIMES, _QUIET_SECONDS = 2.0, 0.005
"""A device is quiet when a probe takes at most so many times what it took on an idle one, and so
many seconds more: the host's own load makes it late by milliseconds, on an idle device too."""

_CUDA_ERRORS = ("CUDA error:", "CUBLAS_STATUS_EXECUTION_FAILED", "CUBLAS_STATUS_INTERNAL_ERROR")


class SickDeviceError(InfrastructureError):
    """A device, or what is ours on it, failed. Nothing is known of a submission."""


class DeviceWorker(ABC):
    """One device, leased, and a student process for each party."""

    name: str

    @abstractmethod
    def start(self, programs: Mapping[str, Load]) -> Mapping[str, Observation]:
        """Have a fresh process for each party, in the place of those that were there.

        Returns:
            How a party's program failed to load, for those that did.

        Raises:
            SickDeviceError: A process could not be started.
        """

    @abstractmethod
    def health(self) -> Health:
        """Return the state of the device: asked of the driver, and of a product computed there."""

    @abstractmethod
    def state(self) -> Health:
        """Return what the driver says of the device, without computing anything there."""

    @abstractmethod
    def call(self, party: str, call: Call, seconds: float) -> Observation:
        """Make one call in a party's process, on the host's clock."""

    @abstractmethod
    def quiet(self, seconds: float) -> float:
        """Wait until the device is idle; return for how many seconds it was not, that at most."""

    @abstractmethod
    def close(self) -> None:
        """End all processes, and overwrite what they may have left in the device's memory.

        Raises:
            SickDeviceError: It could not be overwritten: nobody else may have the device.
        """


def suspicious(seen: Observation) -> bool:
    """Tell whether the device, or an earlier submission on it, may have ended a call.

    An exception is the submission's own word: a reason to look at the device, and no finding.
    Errors that CUDA reports once are reported by every later call in the same process.
    """
    if seen.outcome in (Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.OUT_OF_MEMORY):
        return True
    fault = seen.claims.fault
    return fault is not None and any(text in fault.message for text in _CUDA_ERRORS)


class GpuProcess(DeviceWorker):
    """A real device.

    Args:
        sandbox: Starts the student processes; it shows them this device and no other.
        device: The device.
        limits: Of every student process.
        ask_driver: Returns the driver's word on the device.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        device: Gpu,
        limits: Limits,
        ask_driver: Callable[[str], Health] = ask,
    ) -> None:
        self.name = device.uuid
        self._ask = ask_driver
        self._card = device.card
        self._spec = with_gpu(limits, device)
        self._session = partial(ProcessSession, sandbox)
        self._known: Health | None = None
        self._errors: int | None = None
        self._sessions: dict[str, ProcessSession] = {}
        self._prober: ProcessSession | None = None
        self._idle: float | None = None

    def start(self, programs: Mapping[str, Load]) -> Mapping[str, Observation]:
        """See ``DeviceWorker.start``."""
        self._end()
        failed = {}
        for party, program in programs.items():
            session = self._sessions[party] = self._session(program)
            session.prepare(self._spec)
            if session.failed_load is not None:
                failed[party] = session.failed_load
        return failed

    def health(self) -> Health:
        """See ``DeviceWorker.health``."""
        # The product first: it proves the device, and starts the adapter, which the driver's tool
        # would have to do for each of its calls.
        answer, seconds = self._probe()
        state = self.state()
        if state.problem:
            return state
        if isinstance(answer, str):
            return replace(state, problem=answer)
        # The least that was ever seen: a device that was busy at first would else pass for idle
        # later.
        self._idle = min(seconds, self._idle or seconds)
        # Of a process like all others; NVIDIA_TF32_OVERRIDE in their environment goes beyond it.
        facts = {"tf32": answer["tf32"], "cpu_threads": answer["threads"]}
        return replace(state, facts={**state.facts, **facts})

    def state(self) -> Health:
        """See ``DeviceWorker.state``."""
        if self._known is not None and self._known.silent:
            # Once is enough: each further round would wait as long.
            return self._known
        state = self._known = self._ask(self._card)
        # The least that was seen: the count begins anew where the adapter is started again.
        self._errors = min(state.errors, state.errors if self._errors is None else self._errors)
        if state.errors > self._errors and not state.problem:
            more = state.errors - self._errors
            return replace(state, problem=f"{more} uncorrectable memory errors while it was used")
        return state

    def call(self, party: str, call: Call, seconds: float) -> Observation:
        """See ``DeviceWorker.call``."""
        session = self._sessions[party]
        if not session.alive:
            raise SickDeviceError(f"the process of the party “{party}” is gone")
        return session.call(call, seconds)

    def quiet(self, seconds: float) -> float:
        """See ``DeviceWorker.quiet``."""
        start = time.monotonic()
        while (waited := time.monotonic() - start) < seconds:
            answer, took = self._probe()
            if isinstance(answer, str):
                raise SickDeviceError(answer)
            if self._idle is None or took <= _QUIET_TIMES * self._idle + _QUIET_SECONDS:
                return waited
        return seconds

    def close(self) -> None:
        """See ``DeviceWorker.close``."""
        self._end()
        # First: what a living process holds in the device's memory cannot be overwritten.
        if self._prober is not None:
            self._prober.close()
            self._prober = None
        # The driver does not clear memory between processes: the next submission could read this
        # one's tensors.
        reserve = (self._known or self.state()).reserve
        overwrite_memory(self._session(PROGRAM), self._spec, reserve)

    def _end(self) -> None:
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def _probe(self) -> tuple[dict[str, Param] | str, float]:
        """Compute a product; return what the process said, or what went wrong, and the seconds."""
        if self._prober is None or not self._prober.alive:
            self._prober = self._session(PROGRAM)
        return compute_product(self._prober, self._spec)


def with_gpu(limits: Limits, gpu: Gpu) -> ProcessSpec:
    """Return what a process gets that works on one GPU."""
    return replace(process_spec(limits), cuda=1, gpus=(gpu,))


def compute_product(
    session: ProcessSession, spec: ProcessSpec
) -> tuple[dict[str, Param] | str, float]:
    """Compute a product whose result is known; return what the process said, and the seconds.

    Returns:
        A text where the product was not computed or is wrong: what went wrong.

    Raises:
        InfrastructureError: No student process can be started.
    """
    session.prepare(spec)
    if session.failed_load is not None:
        return f"a student process could not use it: {failure_text(session.failed_load)}", 0.0
    observation = session.call(Call("probe", (PROBE_SIZE,)), _PROBE_SECONDS)
    value = observation.claims.value
    if observation.outcome is not Outcome.COMPLETED or not isinstance(value, dict):
        return f"a product could not be computed: {failure_text(observation)}", 0.0
    answer: dict[str, Param] = {
        str(key): item for key, item in value.items() if isinstance(item, (bool, int, float))
    }
    # All entries, by least and greatest: a device with one bad unit is wrong in a few of them.
    if not answer.get("least") == answer.get("greatest") == PROBE_ANSWER:
        return f"it computes {answer.get('least')} for {PROBE_ANSWER}", 0.0
    return answer, observation.facts.wall_seconds


def overwrite_memory(session: ProcessSession, spec: ProcessSpec, reserve: int = 0) -> None:
    """Overwrite what earlier processes may have left in the memory of a GPU.

    Args:
        session: Of ``PROGRAM``; closed here.
        spec: What the process gets, the GPU among it.
        reserve: Bytes to leave to the display, which would die without them.

    Raises:
        SickDeviceError: It could not be overwritten: nobody else may have the device.
    """
    try:
        session.prepare(spec)
        done = session.failed_load or session.call(Call("scrub", (reserve,)), _SCRUB_SECONDS)
    finally:
        session.close()
    if done.outcome is not Outcome.COMPLETED:
        raise SickDeviceError(f"its memory could not be overwritten: {failure_text(done)}")


def failure_text(seen: Observation) -> str:
    """Return what is known of a call that did not return."""
    fault = seen.claims.fault
    if fault is not None:
        return f"{fault.type}: {fault.message[:300]}"
    return f"{seen.outcome.value} {seen.detail[:300]}".strip()
