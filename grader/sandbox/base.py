"""What the host knows of a guest: a connection, facts about its process, and how to end it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType

from grader.errors import InfrastructureError
from grader.wire.frames import Connection

NO_TF32 = {"NVIDIA_TF32_OVERRIDE": "0"}
"""In the environment of every guest: NVIDIA's libraries then keep to full precision, whatever a
program asks of them. A hand-in that gets round it shows in its values."""


class WallRefusedError(InfrastructureError):
    """The machine refused something that walls take.

    Args:
        text: What happened, for a person.
        call: The system call that was refused, and what it was done to; empty where it was no call.
    """

    def __init__(self, text: str, call: str = "") -> None:
        super().__init__(text)
        self.call = call


class Tier(str, Enum):
    """How well a guest is walled in. DESIGN: full > restricted > none."""

    FULL = "full"
    RESTRICTED = "restricted"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Isolation:
    """What held, for the report.

    Attributes:
        tier: The tier in force.
        mechanisms: Names of the mechanisms in force.
        proved: Probe name → what a real guest met when it tried to break out.
    """

    tier: Tier
    mechanisms: tuple[str, ...] = ()
    proved: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GuestLimits:
    """What a guest may use; sizes in bytes."""

    memory: int
    output: int
    processes: int
    scratch: int
    cpu_seconds: int


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU, as the driver knows it.

    Attributes:
        uuid: Its name for all programs; what ``CUDA_VISIBLE_DEVICES`` takes.
        minor: Number of its node, ``/dev/nvidiaN``.
    """

    uuid: str
    minor: int


@dataclass(frozen=True, slots=True)
class GuestNeeds:
    """What the questions ahead need.

    Attributes:
        cuda: Real GPUs.
        processes: Processes that the hand-in may start.
        loopback: The hand-in may talk to itself.
        virtual: Virtual GPUs. The guest makes them by itself and needs nothing of a sandbox.
        virtual_memory_mb: Memory of each, in MiB; 0 for no limit.
        timed: It may not start processes, as each would have a clock of its own.
        gpus: Real GPUs that it is to see; all of them where it needs some and none is named.
    """

    cuda: int = 0
    processes: int = 0
    loopback: bool = False
    virtual: int = 0
    virtual_memory_mb: int = 0
    timed: bool = False
    gpus: tuple[Gpu, ...] = ()


@dataclass(frozen=True, slots=True)
class Exit:
    """How a guest's process ended, as the host saw it. ``peak_memory`` is in bytes.

    ``code`` and ``signal`` are None while it was still running when the host ended it.
    """

    code: int | None = None
    signal: int | None = None
    peak_memory: int | None = None
    memory_exceeded: bool = False


class Guest(ABC):
    """One live untrusted process."""

    connection: Connection

    @abstractmethod
    def end(self) -> Exit:
        """Kill the guest and every descendant, verify that none is left, and say how it ended.

        Idempotent. Waits a moment for a guest that is already dying, so that its own exit status
        or signal is what is reported, and not the host's kill.

        Raises:
            InfrastructureError: Something survived.
        """

    @abstractmethod
    def output(self) -> bytes:
        """What the guest printed so far, bounded."""

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """PID of the process that runs calls, as the host sees it; None where that is unknown."""


class Sandbox(ABC):
    """Starts guests. A context manager; leaving it ends every guest it started."""

    isolation: Isolation

    @abstractmethod
    def start(self, limits: GuestLimits, needs: GuestNeeds) -> Guest:
        """Start a guest whose walls stand before it can receive anything.

        Raises:
            InfrastructureError: It cannot be started.
        """

    @abstractmethod
    def grants(self, needs: GuestNeeds) -> bool:
        """Whether this sandbox can give a guest what its questions need."""

    @abstractmethod
    def close(self) -> None:
        """End everything that was started."""

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
