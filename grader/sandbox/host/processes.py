"""A student process from the host's side: its limits, output, use of the machine, and end.

Facts here are the host's own, read from ``/proc`` and the kernel. A student process cannot change
them by what it says. A student process's end is the end of every process that it started.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from grader.errors import InfrastructureError
from grader.sandbox.walls import cuda
from grader.speed_statistics.sampling import running
from grader.wire.frames import Connection

NO_TF32 = {"NVIDIA_TF32_OVERRIDE": "0"}
"""In the environment of every student process: NVIDIA's libraries keep full precision, whatever a
program asks of them. A submission that gets round it shows in its values."""


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
    """How well a student process is walled in. DESIGN: full > restricted > none."""

    FULL = "full"
    RESTRICTED = "restricted"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Isolation:
    """What held, for the report.

    Attributes:
        tier: The tier in force.
        mechanisms: Names of the mechanisms in force.
        proved: Probe name → what a real student process met when it tried to break out.
    """

    tier: Tier
    mechanisms: tuple[str, ...] = ()
    proved: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU, or a part of a divided one (MIG), as the driver knows it.

    Attributes:
        uuid: Its name for all programs; what ``CUDA_VISIBLE_DEVICES`` takes.
        minor: Number of its node, ``/dev/nvidiaN``.
        board: Name of the whole GPU that it is a part of; empty for a whole one.
    """

    uuid: str
    minor: int
    board: str = ""

    @property
    def card(self) -> str:
        """Name of the whole GPU, which is what the driver tells the state of."""
        return self.board or self.uuid


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """What a student process gets; one can stand in for another of the same spec.

    The defaults are the limits of an assignment file that names none. Sizes are in bytes.

    Attributes:
        module: File whose functions are called; the program's own where empty. Nothing to a
            sandbox.
        seconds: Processor time of one call, and how long it may sleep.
        import_seconds: The same for loading the program.
        cpu_seconds: Processor time of each process in all; the kernel ends what uses more.
        memory: Beyond what the process holds before anything is loaded.
        output: Of what it prints, kept.
        scratch: Size of its writable folder.
        threads: Processes and threads that there may be at once.
        processes: Processes that the submission may start.
        loopback: The submission may talk to itself.
        timed: It may not start processes, as each would have a clock of its own.
        cuda: Real GPUs.
        gpus: Those that it is to see; all of them where it gets some and none is named.
        virtual_gpus: Virtual GPUs. It makes them by itself and needs nothing of a sandbox.
        virtual_gpu_memory_mb: Memory of each, in MiB; 0 for no limit.
    """

    module: str = ""
    seconds: float = 10.0
    import_seconds: float = 20.0
    cpu_seconds: int = 680
    memory: int = 2**30
    output: int = 2**18
    scratch: int = 2**26
    threads: int = 64
    processes: int = 0
    loopback: bool = False
    timed: bool = False
    cuda: int = 0
    gpus: tuple[Gpu, ...] = ()
    virtual_gpus: int = 0
    virtual_gpu_memory_mb: int = 0


@dataclass(frozen=True, slots=True)
class Exit:
    """How a student process ended, as the host saw it. ``peak_memory`` is in bytes.

    ``code`` and ``signal`` are None while it was still running when the host ended it. ``touched``
    is the most that it and all below it had touched beyond their start, where a watch looked.
    """

    code: int | None = None
    signal: int | None = None
    peak_memory: int | None = None
    memory_exceeded: bool = False
    touched: int | None = None


class SandboxedProcess(ABC):
    """One live untrusted process."""

    connection: Connection

    @abstractmethod
    def end(self) -> Exit:
        """Kill the process and every descendant, verify that none is left, and say how it ended.

        Idempotent. Waits a moment for a student process that is already dying, so that its own exit
        status or signal is what is reported, and not the host's kill.

        Raises:
            InfrastructureError: Something survived.
        """

    @abstractmethod
    def output(self) -> bytes:
        """Return what the student process printed so far, bounded."""

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """PID of the process that runs calls, as the host sees it; None where that is unknown."""


class Sandbox(ABC):
    """Starts student processes. A context manager; leaving it ends every process it started.

    Attributes:
        isolation: What holds.
        gpu_memory: Host memory that a GPU's driver may take in each process, in bytes; does not
            count against a student process's limit.
    """

    isolation: Isolation
    gpu_memory: int = cuda.MEMORY

    @abstractmethod
    def start(self, spec: ProcessSpec) -> SandboxedProcess:
        """Start a student process whose walls stand before it can receive anything.

        Raises:
            InfrastructureError: It cannot be started.
        """

    @abstractmethod
    def grants(self, spec: ProcessSpec) -> bool:
        """Tell whether this sandbox can give a student process the GPUs and the rest of a spec."""

    @abstractmethod
    def close(self) -> None:
        """End everything that was started."""

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OpenedSandbox(Sandbox):
    """One that was opened on this machine, and that others like it can be made of."""

    @abstractmethod
    def hand_on(self) -> SandboxSource:
        """End everything that was started, and return what opens others like this one.

        No thread is left of it, so that this process may be forked.
        """

    def __enter__(self) -> OpenedSandbox:
        return self


class SandboxSource(ABC):
    """Opens sandboxes, in this process and in forks of it. A context manager, left by this one."""

    @abstractmethod
    def open(self) -> Sandbox:
        """Return another one.

        Raises:
            InfrastructureError: It cannot be started.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of what they are made of, once they are closed."""

    def __enter__(self) -> SandboxSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def readable(fd: int, seconds: float) -> bool:
    """Return whether something can be read, or the other side hung up, within so many seconds."""
    return ready(fd, select.POLLIN, seconds)


def ready(fd: int, event: int, seconds: float) -> bool:
    """Return whether an event of ``select.poll`` happens within so many seconds."""
    poller = select.poll()
    poller.register(fd, event)
    return bool(poller.poll(seconds * 1000))


_F_ADD_SEALS = 1033
_SEALS = 0x0001 | 0x0002 | 0x0004  # SEAL, SHRINK, GROW: the size can never change again


class Capture:
    """A file for a student process's standard output and error.

    On Linux a sealed memfd: a flood stops at its size, costs no disk, and blocks nobody, unlike a
    pipe that has to be read. Elsewhere an unlinked temporary file, read up to the cap.

    Args:
        cap: Bytes kept.
    """

    def __init__(self, cap: int) -> None:
        self._cap = cap
        if hasattr(os, "memfd_create"):
            self.fd = os.memfd_create("output", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            # Its full size first: once sealed, it can never grow.
            os.truncate(self.fd, cap)
            # Unsealed, the process could truncate or grow the file, which nobody counts as its
            # memory.
            fcntl.fcntl(self.fd, _F_ADD_SEALS, _SEALS)
        else:
            self.fd, path = tempfile.mkstemp()
            os.unlink(path)  # noqa: PTH108  the descriptor is all that is wanted

    def read(self) -> bytes:
        """Return what was printed so far."""
        # The file has its full size from the start, so what was not written reads as zeros.
        return os.pread(self.fd, self._cap, 0).rstrip(b"\0")

    def close(self) -> None:
        """Give the memory back."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


_KILL_SECONDS = 10.0
"""Seconds in which a tree that keeps forking must be gone."""

_REAP_SECONDS = 2.0
"""Seconds that a keeper on a busy machine is given to collect its dead."""


def descendants(pid: int) -> list[int]:
    """Return all processes below ``pid``, children first."""
    pids: list[int] = []
    for child in _children(pid):
        pids.append(child)
        pids.extend(descendants(child))
    return pids


def _children(pid: int) -> list[int]:
    pids: list[int] = []
    with contextlib.suppress(OSError):
        # The kernel lists children by thread: those forked by another thread are not under the
        # first one.
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                pids += [int(word) for word in (task / "children").read_text().split()]
    return pids


def end_below(keeper: int) -> None:
    """Kill everything below a keeper until nothing is left.

    A keeper adopts orphans, so a daemon that double-forked is still found below it. What it has
    not collected when it goes is left to the machine's first process, as a zombie, until that one
    gets to it; so the keeper is given a moment.

    Raises:
        InfrastructureError: Something is still alive after ten seconds.
    """
    if sys.platform != "linux":
        # Without /proc only the process group is known, which a process that double-forks leaves.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(keeper, signal.SIGKILL)
        return
    deadline = time.monotonic() + _KILL_SECONDS
    # Listed anew each time: a process may fork between the listing and the kill.
    while alive := [pid for pid in descendants(keeper) if not _is_zombie(pid)]:
        for pid in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise InfrastructureError(f"processes {alive[:5]} of a submission could not be ended")
        time.sleep(0.002)
    deadline = time.monotonic() + _REAP_SECONDS
    while descendants(keeper) and time.monotonic() < deadline:
        time.sleep(0.002)


def _is_zombie(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    # A process chooses its name, which may hold brackets: only the last one ends it.
    return stat.rpartition(")")[2].split()[0] in "ZX"


# Not RssFile: a library's pages are shared by all, and would count once for each process.
_FIELDS = ("RssAnon:", "RssShmem:")


@dataclass(frozen=True, slots=True)
class Activity:
    """What a student process and its descendants have done so far.

    Attributes:
        seconds: Processor time of all, those among them that ended and were waited for.
        used: PID → processor time of that process alone.
        ready: PIDs of those that run, or would if they were given a core.
    """

    seconds: float
    used: Mapping[int, float]
    ready: frozenset[int]


def pid_of(pidfd: int) -> int:
    """Return the PID behind a pidfd, in this process's namespace; -1 once it is gone."""
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1


def own_memory(pid: int) -> int:
    """Return the anonymous and shared memory that a process has touched, in bytes; 0 if gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    lines = (line.split() for line in text.splitlines() if line.startswith(_FIELDS))
    return sum(int(words[1]) for words in lines) * 1024


def memory_above(pid: int, baseline: int) -> list[int]:
    """Return what a process and each below it has touched beyond its start, in bytes.

    Args:
        pid: The student process's first process; every orphan of its namespace is below it.
        baseline: What each inherits by fork and shares until it writes, in bytes.
    """
    # Per process: what a fork shares with its parent would otherwise be counted once for each.
    return [max(0, own_memory(each) - baseline) for each in (pid, *descendants(pid))]


def activity(pid: int) -> Activity | None:
    """Return what a process and all below it have done; None where this system does not show it.

    Args:
        pid: The student process's first process.
    """
    total, used, ready = 0.0, {}, set()
    for each in (pid, *descendants(pid)):
        try:
            own, ended = _times(each)
            if running(each):
                ready.add(each)
        except OSError:  # it ended since it was listed
            continue
        used[each] = own
        total += own + ended
    return Activity(total, used, frozenset(ready)) if used else None


def _times(pid: int) -> tuple[float, float]:
    """Return the processor time of a process, and of the children that it waited for."""
    text = Path(f"/proc/{pid}/stat").read_text()
    # Behind the name, which may hold spaces and brackets: utime, stime, cutime, cstime of proc(5).
    second = os.sysconf("SC_CLK_TCK")
    ticks = [int(word) for word in text.rpartition(")")[2].split()[11:15]]
    return sum(ticks[:2]) / second, sum(ticks[2:]) / second


def folder_size(path: str) -> tuple[int, int, int]:
    """Return the bytes written in a folder, those its files take, and its entries, all levels."""
    written = taken = entries = 0
    for folder, names, files in os.walk(path):
        entries += len(names) + len(files)
        for name in files:
            try:
                status = os.lstat(f"{folder}/{name}")
            except OSError:  # files go while we look
                continue
            blocks = status.st_blocks * 512
            # A sparse file of a terabyte takes no disk. A file system may take more than was
            # written, for blocks of its own or ahead of what is to come: no student's doing.
            written += min(status.st_size, blocks)
            taken += blocks
    return written, taken, entries
