"""Which walls are to be put up: records that the host sends to the fork-server.

A wall can be left out only by constructing a ``WallPlan`` with ``off``, which tests do to show that
the proof then fails. No environment variable, file or command line reaches it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum


class Mechanism(str, Enum):
    """How a student process is set apart: with namespaces as root, as a user, or without any."""

    NS = "ns"
    USERNS = "userns"
    FLAT = "flat"


class Wall(str, Enum):
    """One wall. The name is what the report lists."""

    VIEW = "view"
    PIDS = "pid namespace"
    NETWORK = "network namespace"
    IPC = "ipc namespace"
    SCRATCH = "sized scratch"
    USER = "own user"
    CAPABILITIES = "no capabilities"
    NO_NEW_PRIVS = "no new privileges"
    DUMPABLE = "not dumpable"
    PARENT_DEATH = "death signal"
    LANDLOCK = "landlock"
    SECCOMP = "seccomp"
    LIMITS = "rlimits"


@dataclass(frozen=True, slots=True)
class Canary:
    """What the host lays out for student processes to try their hands on.

    Attributes:
        folder: Folder that anybody may write to, with a file ``secret`` that anybody may read.
        socket: Name of an abstract socket on which the host listens.
        namespaces: The host's own, kind → what its link under ``/proc/self/ns`` says.
        hidden: Further paths that exist and must stay out of reach, such as the reference's.
    """

    folder: str
    socket: str
    namespaces: Mapping[str, str]
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WallPlan:
    """What holds for every student process of a fork-server.

    Attributes:
        mechanism: How student processes are set apart.
        canary: What student processes try to reach.
        landlock: The kernel's Landlock ABI; 0 where there is none.
        slots: Each student process gets a user ID of its own, for which the host has to be root,
            with the capabilities that it takes.
        preload: Import torch before serving. Probes of the machine do without.
        also: Modules to import beside it, where they are installed.
        fonts: Folder for matplotlib's list of fonts, for the fork-server only.
        gpus: Numbers of the GPUs whose nodes are in the view; a student process may open its own
            only.
        parts: Names of GPUs of which some are parts (MIG), as ``CUDA_VISIBLE_DEVICES`` takes them;
            empty where all are whole, for then a node says it all.
        libraries: Folders of the driver's libraries that the loader does not know by itself.
        off: Walls left out; for tests only.
    """

    mechanism: Mechanism
    canary: Canary
    landlock: int = 0
    slots: bool = False
    preload: bool = True
    also: tuple[str, ...] = ()
    fonts: str = ""
    gpus: tuple[int, ...] = ()
    libraries: tuple[str, ...] = ()
    parts: str = ""
    off: frozenset[Wall] = field(default_factory=frozenset)

    @property
    def namespaces(self) -> bool:
        """Tell whether student processes live in namespaces of their own."""
        return self.mechanism is not Mechanism.FLAT

    def has(self, wall: Wall) -> bool:
        """Tell whether the plan puts up this wall."""
        # Both: a wall that this mechanism lacks must not be reported as one that held.
        return wall not in self.off and wall in self.walls()

    def walls(self) -> tuple[Wall, ...]:
        """The walls that this mechanism has on this kernel, switched off or not."""
        spaces = (Wall.VIEW, Wall.PIDS, Wall.NETWORK, Wall.IPC, Wall.SCRATCH)
        common = (Wall.CAPABILITIES, Wall.NO_NEW_PRIVS, Wall.DUMPABLE, Wall.PARENT_DEATH)
        present: tuple[Wall, ...] = (*common, Wall.SECCOMP, Wall.LIMITS)
        present += (Wall.USER,) if self.slots else ()
        present += (Wall.LANDLOCK,) if self.landlock else ()
        return (*spaces, *present) if self.namespaces else present

    def without(self, *walls: Wall) -> WallPlan:
        """Return the plan with walls switched off. For tests."""
        return replace(self, off=self.off | frozenset(walls))


@dataclass(frozen=True, slots=True)
class ProcessPlan:
    """What holds for one student process; sizes in bytes.

    Attributes:
        number: The host's number for it.
        uid: User and group to become; None to stay who the fork-server is.
        scratch_path: Its scratch folder, where there is no namespace to mount a private one in.
        shared_uid: Other processes run under the same UID, so that none can be counted.
        leave_orphan: Leave a process behind, for the host to see that it is reaped.
        timed: It may start threads, but no processes, whose time the host would not see.
        gpus: Numbers of the GPUs that it may use.
        visible: The same by UUID, as ``CUDA_VISIBLE_DEVICES`` takes them; all where empty.
        gpu_memory: What a GPU's driver takes in a process; does not count against ``memory``.
        gpu_processes: In how many processes it does not.
    """

    number: int
    memory: int
    output: int
    processes: int
    scratch: int
    cpu_seconds: int
    uid: int | None = None
    scratch_path: str = ""
    shared_uid: bool = False
    loopback: bool = False
    leave_orphan: bool = False
    timed: bool = False
    gpus: tuple[int, ...] = ()
    visible: str = ""
    gpu_memory: int = 0
    gpu_processes: int = 0

    def counted(self, touched: Iterable[int]) -> int:
        """Return how much counts against ``memory`` of what each of its processes has touched."""
        sizes = sorted(touched, reverse=True)
        spared = (min(size, self.gpu_memory) for size in sizes[: self.gpu_processes])
        return sum(sizes) - sum(spared)
