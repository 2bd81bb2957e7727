"""A device that is not there: what a real one does to a timed run, on demand and repeatably.

``FakeWorker`` stands where ``GpuProcess`` does. Its parties compute right answers with numpy, and
take the time that a model gives them; noise, lowered clocks, a slow driver, contexts that find no
room, errors that stay, lost memory, death are switched on by tests. What is missing is the kernel
alone.

Faults have the types and sentences of torch 2.13 for CUDA 13.0, read from its libraries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from grader.observation import Claims, HostFacts, Observation, Outcome
from grader.run.gpu_state import Health
from grader.run.gpu_worker import DeviceWorker, SickDeviceError
from grader.run.process_limits import outcome_of
from grader.speed_statistics.device import CPU, REFERENCE, STUDENT, TRANSFER, WIRE
from grader.wire.messages import Call, Fault, Load
from grader.wire.values import Tensor, Value


def cuda_error(text: str, name: str) -> Fault:
    """An error of the CUDA runtime as torch raises it, with all that it adds."""
    return Fault(
        "AcceleratorError",
        f"CUDA error: {text}\nSearch for `{name}' in https://docs.nvidia.com/cuda/cuda-runtime-api/"
        "group__CUDART__TYPES.html for more information.\nCUDA kernel errors might be "
        "asynchronously reported at some other API call, so the stacktrace below might be "
        "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\nFor more detailed "
        "error information, run with CUDA_LOG_FILE=stderr\n",
    )


STICKY = cuda_error("an illegal memory access was encountered", "cudaErrorIllegalAddress")
NO_MEMORY = Fault(
    "OutOfMemoryError",
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 14.56 GiB of "
    "which 1.03 GiB is free. Including non-PyTorch memory, this process has 4.21 GiB memory in "
    "use. Of the allocated memory 3.90 GiB is allocated by PyTorch, and 1.20 MiB is reserved by "
    "PyTorch but unallocated. If reserved but unallocated memory is large try setting "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation "
    "for Memory Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html"
    "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)",
)
NO_CONTEXT = cuda_error("out of memory", "cudaErrorMemoryAllocation")
"""No room for a context: raised by the first call, and no ``OutOfMemoryError``."""
NO_HANDLE = Fault(
    "RuntimeError",
    "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
)
NO_HANDLE_EITHER = Fault(
    "RuntimeError",
    "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
)
BUSY = cuda_error(
    "CUDA-capable device(s) is/are busy or unavailable", "cudaErrorDevicesUnavailable"
)
"""Another process has the device for itself, where its compute mode is Exclusive_Process."""

SECONDS = {WIRE: 0.0, TRANSFER: 0.006, CPU: 0.400, REFERENCE: 0.010}
"""Beyond the wire's time. A product of 512×4096 by 4096×4096 takes about so long."""

_WIRE_SECONDS = 0.090
_COLD_SECONDS = 1.2
_BURST = 0.05
_DRIVER_PATIENCE = 60.0

_PROBE = "probe"
_CONTEXTS = (TRANSFER, REFERENCE, STUDENT)
"""Parties that use the device. The probe does, too."""


def product(args: tuple[Value, ...]) -> Tensor:
    """The product of two matrices, rounded to float32."""
    left, right = (
        np.frombuffer(item.data, "<f4").reshape(item.shape).astype(float)
        for item in args
        if isinstance(item, Tensor)
    )
    found = (left @ right).astype("<f4")
    return Tensor("float32", found.shape, found.tobytes())


def reduced(args: tuple[Value, ...]) -> Tensor:
    """The product with factors rounded to the ten bits that TF32 keeps of them."""
    rounded = []
    for item in args:
        assert isinstance(item, Tensor)
        bits = np.frombuffer(item.data, "<u4")
        rounded.append(Tensor("float32", item.shape, ((bits + 0x1000) & 0xFFFFE000).tobytes()))
    return product(tuple(rounded))


@dataclass
class Answer:
    """What the submission does in one call.

    Attributes:
        seconds: That it takes to answer, beyond the wire's.
        value: That it answers with.
        after: Seconds for which the device goes on working.
        fault: Raised instead of an answer.
        outcome: Where the process does not even raise.
    """

    seconds: float = 0.010
    value: Value = None
    after: float = 0.0
    fault: Fault | None = None
    outcome: Outcome = Outcome.COMPLETED


Student = Callable[["FakeDevice", int, tuple[Value, ...]], Answer]
"""Given the device, the number of the call in its process, and the inputs."""


def honest(seconds: float = 0.010) -> Student:
    """Right, in so many seconds."""
    return lambda _device, _number, args: Answer(seconds, product(args))


@dataclass
class FakeDevice:
    """A device.

    Attributes:
        noise: Standard deviation of the logarithm of what a call takes, without the wire.
        wire_noise: The same of the wire.
        late: Share of its time by which the wire is late on average, never early: the bytes go
            through a pipe, whose other end waits for a core. One call in twenty meets a neighbour
            and takes as long again.
        driver_seconds: What the driver's tool takes to answer.
        contexts: Processes that may use it at once; None for any number.
        refusal: What the first call of one process more than that raises.
        now: Seconds that calls and the driver's tool have taken so far.
        problem: Why it is not well; stays until somebody mends it.
        throttled: Whether its clocks are lowered while a round of that number is made.
        dies: Party → number of the call in which its process dies.
        unclean: Its memory cannot be overwritten.
        memory: What the last hand-in left there.
        users: Workers that have it open now.
        events: What was done to it.
    """

    name: str = "GPU-0"
    noise: float = 0.02
    wire_noise: float = 0.005
    late: float = 0.0
    driver_seconds: float = 0.0
    contexts: int | None = None
    refusal: Fault = BUSY
    now: float = 0.0
    problem: str = ""
    throttled: Callable[[int], bool] = lambda _number: False
    dies: dict[str, int] = field(default_factory=dict)
    unclean: bool = False
    link: float | None = None
    memory: str = ""
    users: int = 0
    events: list[str] = field(default_factory=list)
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))


class FakeWorker(DeviceWorker):
    """A worker on a device that is not there."""

    def __init__(self, device: FakeDevice, student: Student) -> None:
        self.name = device.name
        self.device = device
        self._student = student
        self._calls: dict[str, int] = {}
        self._contexts: set[str] = set()
        self._silent = False
        self._states = 0
        self._busy = 0.0
        device.users += 1
        assert device.users == 1, "two timed runs on one device"
        device.events.append("open")

    def start(self, programs: Mapping[str, Load]) -> Mapping[str, Observation]:
        """Fresh processes: an error that stays with a process is gone with it."""
        self._calls = dict.fromkeys(programs, 0)
        self._contexts &= {_PROBE}
        self.device.events.append("start")
        return {}

    def health(self) -> Health:
        """As the driver says, and as a product shows."""
        self._contexts.add(_PROBE)
        return self.state() if not self.device.problem else Health(self.device.problem)

    def state(self) -> Health:
        """As the driver says."""
        self._states += 1
        if self._silent:
            return Health()
        self.device.now += min(self.device.driver_seconds, _DRIVER_PATIENCE)
        # Asked once; each further round would wait as long.
        self._silent = self.device.driver_seconds > _DRIVER_PATIENCE
        if self._silent:
            return Health()
        hot = "temperature (hardware)" if self.device.throttled(self._states) else ""
        facts = {"name": "Fake 100", "tf32": False, "cpu_threads": 1}
        return Health("", hot, self.device.link, facts)

    def call(self, party: str, call: Call, seconds: float) -> Observation:
        """Take the time that the model gives."""
        assert self._busy == 0, "the next call was made while the device was busy"
        number = self._calls[party] = self._calls[party] + 1
        if self.device.dies.get(party) == number:
            del self.device.dies[party]
            return Observation(Outcome.CRASHED, HostFacts(0.1, None, 9), detail="signal 9")
        if party in _CONTEXTS and not self._admitted(party):
            answer = Answer(fault=self.device.refusal)
        elif party == STUDENT:
            answer = self._student(self.device, number, call.args)
            self._busy = answer.after
        else:
            value = None if party in (WIRE, TRANSFER) else product(call.args)
            answer = Answer(SECONDS[party], value)
        cold = _COLD_SECONDS if number == 1 and party not in (WIRE, CPU) else 0.0
        wall = cold + self._wall(answer.seconds)
        self.device.now += wall
        outcome, detail = outcome_of(answer.fault)
        outcome = answer.outcome if answer.fault is None else outcome
        claims = Claims(answer.value, fault=answer.fault)
        return Observation(outcome, HostFacts(wall), claims, detail)

    def quiet(self, seconds: float) -> float:
        """The work that was left is done."""
        waited, self._busy = min(self._busy, seconds), 0.0
        return waited

    def close(self) -> None:
        """Overwrite the memory."""
        self.device.users -= 1
        self.device.events.append("close")
        if self.device.unclean:
            raise SickDeviceError("its memory could not be overwritten: no answer")
        self.device.memory = ""

    def _admitted(self, party: str) -> bool:
        """Tell whether a party's process has a context, or gets one."""
        most = self.device.contexts
        if party not in self._contexts and most is not None and len(self._contexts) >= most:
            return False
        self._contexts.add(party)
        return True

    def _wall(self, seconds: float) -> float:
        noises = (self.device.wire_noise, self.device.noise)
        wire, rest = (
            part * math.exp(noise * self.device.random.standard_normal())
            for part, noise in zip((_WIRE_SECONDS, seconds), noises, strict=True)
        )
        if self.device.late:
            lateness = self.device.random.exponential(self.device.late)
            burst = float(self.device.random.random() < _BURST)
            wire *= 1 + lateness + burst
        return wire + rest
