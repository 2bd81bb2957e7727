"""seccomp: system calls that a submission has no business making fail with EPERM.

The filter is a classic BPF program: a list of instructions and labels, whose jumps name labels.
Default is to allow: torch's own needs are wide and change. What is denied is listed below.

Defends against: sockets other than UNIX ones (where there is no private network: all), tracing and
reading other processes, new namespaces and mounts, kernel keys, memory that no limit counts (memfd,
System V segments), io_uring, BPF, perf, signals by way of ``F_SETSIG``, talking to other sandboxes
by locks on libraries or by watching who reads them, and on the flat tier also new processes,
programs, sessions, and signals or limits for any process but itself. A student process that is
timed starts no processes either, on any tier.
Does not defend against: misuse of calls that stay allowed, or kernel flaws in them. Student
processes with a loopback or a GPU may lock files, and so pass bits to each other.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Union

from grader.sandbox.walls import libc
from grader.sandbox.walls.libc import AUDIT_ARCH, machine, number

LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
JUMP_GREATER_EQUAL = 0x35  # BPF_JMP | BPF_JGE | BPF_K
JUMP_ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K

_INSTRUCTION = struct.Struct("=HBBI")
_FARTHEST = 255


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; an empty target falls through to the next."""

    code: int
    value: int
    then: str = ""
    otherwise: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """A place to jump to: the instruction that follows."""

    name: str


FilterLine = Union[Instruction, Label]


def assemble(lines: Sequence[FilterLine]) -> bytes:
    """Return the program's bytes, eight an instruction.

    Raises:
        ValueError: A jump goes backwards, too far, or to no label.
    """
    places: dict[str, int] = {}
    program: list[Instruction] = []
    for line in lines:
        if isinstance(line, Label):
            places[line.name] = len(program)
        else:
            program.append(line)
    return b"".join(_encode(item, index, places) for index, item in enumerate(program))


def _encode(item: Instruction, index: int, places: dict[str, int]) -> bytes:
    offsets = []
    for target in (item.then, item.otherwise):
        offset = places[target] - index - 1 if target in places else 0
        if (target and target not in places) or not 0 <= offset <= _FARTHEST:
            raise ValueError(f"instruction {index} cannot jump to {target!r} ({offset} away)")
        offsets.append(offset)
    return _INSTRUCTION.pack(item.code, *offsets, item.value)


_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERRNO = 0x00050000
_X32 = 0x40000000
# Places in the kernel's struct seccomp_data; of each argument the lower half comes first.
_NUMBER, _ARCH, _ARGS = 0, 4, 16
_SET_MODE_FILTER = 1
_TSYNC = 1

_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_CLONE_THREAD = 0x10000
_NAMESPACES = (
    libc.CLONE_NEWNS | libc.CLONE_NEWCGROUP | libc.CLONE_NEWUTS | libc.CLONE_NEWIPC
    | libc.CLONE_NEWUSER | libc.CLONE_NEWPID | libc.CLONE_NEWNET
)  # fmt: skip

DENIED = (
    # other processes
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
    "kcmp", "pidfd_getfd", "migrate_pages", "move_pages",
    # namespaces, mounts, files by handle
    "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount",
    "fspick", "move_mount", "open_tree", "open_tree_attr", "mount_setattr", "statmount",
    "listmount", "name_to_handle_at", "open_by_handle_at", "fanotify_init", "quotactl",
    "quotactl_fd",
    # the kernel itself
    "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "lookup_dcookie",
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot",
    "swapon", "swapoff", "acct", "syslog", "sethostname", "setdomainname", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex", "iopl", "ioperm", "modify_ldt", "uselib",
    "vhangup", "personality", "_sysctl",
    # watching which library files others open
    "inotify_init", "inotify_init1",
    # memory and queues that no limit counts
    "memfd_secret", "shmget", "msgget", "semget", "mq_open",
)  # fmt: skip
"""Denied to every student process."""

_MEMORY_FILES = "memfd_create"
"""Denied to student processes without a GPU: no limit counts what is written to a memory file.
With a GPU it must stay: the driver's library makes one when it starts (NVIDIA/OpenShell #1696)."""

ABSENT = ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register")
"""Said not to exist: the C library then falls back to calls whose arguments can be looked at."""

FLAT_DENIED = (
    "execve", "execveat", "setsid", "setpgid", "tkill", "pidfd_open",
    "pidfd_send_signal", "setpriority", "ioprio_set",
)  # fmt: skip
"""Denied too where no PID namespace keeps a student process's processes together."""

FLAT_OWN_PID = ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
FLAT_OWN_OR_ZERO = (
    "prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr",
)  # fmt: skip

_FCNTL = (8, 10, 15, 1024, 1025, 1026)
"""F_SETOWN F_SETSIG F_SETOWN_EX: a signal of choice to any PID. F_SETLEASE F_GETLEASE F_NOTIFY:
news of what others open."""

_FCNTL_LOCKS = (5, 6, 7, 36, 37, 38)
"""F_GETLK F_SETLK F_SETLKW, and their F_OFD_ kind: a library's file may be locked for reading."""

_IOCTL = (0x8901, 0x8902, 0x5412, 0x541C)
"""FIOSETOWN SIOCSPGRP TIOCSTI TIOCLINUX."""


_OWN_PID = 0x7E57AB1E
"""Stands for the student process's PID until that is known; no filter's constant looks like it."""


class Filter:
    """Collects the lines of a filter, one block a system call."""

    def __init__(self, arch: str) -> None:
        self._arch = arch
        self._names = count()
        self.lines: list[FilterLine] = [
            Instruction(LOAD, _ARCH),
            Instruction(JUMP_EQUAL, AUDIT_ARCH[arch], "native", ""),
            # Another architecture's numbers mean other calls: none of ours can come this way.
            Instruction(RETURN, _KILL),
            Label("native"),
            Instruction(LOAD, _NUMBER),
        ]
        if arch == "x86_64":
            self.lines += [
                # x32 is the same architecture to seccomp, with numbers of its own: a denied call
                # could come as one.
                Instruction(JUMP_GREATER_EQUAL, _X32, "x32", "not x32"),
                Label("x32"),
                Instruction(RETURN, _ERRNO | errno.ENOSYS),
                Label("not x32"),
            ]

    def deny(self, name: str, code: int = errno.EPERM) -> None:
        """Fail a call whatever its arguments."""
        self._block(name, [Instruction(RETURN, _ERRNO | code)])

    def allow_only(self, name: str, position: int, values: tuple[int, ...]) -> None:
        """Fail a call unless the argument at ``position`` is one of ``values``."""
        self._compare(name, position, [(JUMP_EQUAL, item) for item in values], "yes")

    def deny_values(self, name: str, position: int, values: tuple[int, ...]) -> None:
        """Fail a call if the argument at ``position`` is one of ``values``."""
        self._compare(name, position, [(JUMP_EQUAL, item) for item in values], "no")

    def bits(self, name: str, mask: int, allowed: bool) -> None:
        """Fail a call if its first argument has a bit of ``mask``, or if it has none."""
        self._compare(name, 0, [(JUMP_ANY_BIT, mask)], "yes" if allowed else "no")

    def finish(self) -> bytes:
        """Return the program: what no block caught is allowed."""
        return assemble([*self.lines, Instruction(RETURN, _ALLOW)])

    def _compare(
        self, name: str, position: int, tests: list[tuple[int, int]], when_true: str
    ) -> None:
        label = f"{name}-{next(self._names)}"
        # The kernel takes these arguments as 32-bit integers; the upper half means nothing.
        body: list[FilterLine] = [Instruction(LOAD, _ARGS + 8 * position)]
        body += [Instruction(code, value, label) for code, value in tests]
        verdicts = (_ERRNO | errno.EPERM, _ALLOW)
        # Reached where no test held: the opposite of what a match gets.
        body += [Instruction(RETURN, verdicts[when_true != "yes"]), Label(label)]
        body += [Instruction(RETURN, verdicts[when_true == "yes"])]
        self._block(name, body)

    def _block(self, name: str, body: list[FilterLine]) -> None:
        which = number(name, self._arch)
        if which is None:
            return
        after = f"after-{next(self._names)}"
        self.lines += [Instruction(JUMP_EQUAL, which, "", after), *body, Label(after)]


def build(
    flat_pid: int | None,
    loopback: bool = False,
    timed: bool = False,
    gpu: bool = False,
    arch: str | None = None,
) -> bytes:
    """Return a filter's program.

    Args:
        flat_pid: The student process's own PID, where no PID namespace sets it apart; else None.
        loopback: Allow internet sockets, in a network namespace of the student process's own.
        timed: Allow threads, but no new processes.
        gpu: Allow what the GPU driver's library needs.
        arch: Architecture; this machine's by default.

    Raises:
        OSError: No numbers are known for the architecture.
    """
    program = _template(flat_pid is not None, loopback, timed, gpu, arch or machine())
    if flat_pid is None:
        return program
    # A student process knows its PID only after the fork; the program is not assembled anew for it.
    return program.replace(struct.pack("=I", _OWN_PID), struct.pack("=I", flat_pid))


# Room for all kinds that `apply.once` makes: one that falls out is assembled in each fork again.
@lru_cache(maxsize=8)
def _template(flat: bool, loopback: bool, timed: bool, gpu: bool, arch: str) -> bytes:
    # Assembled once in the fork-server: two milliseconds that no student process has to spend
    # again.
    program = Filter(arch)
    for name in DENIED if gpu else (*DENIED, _MEMORY_FILES):
        program.deny(name)
    for name in ABSENT:
        # ENOSYS, not EPERM: the C library falls back only on a call that does not exist. With
        # EPERM, starting a thread fails.
        program.deny(name, errno.ENOSYS)
    # All sandboxes see the same library files, so a lock on one is a bit that the others can read.
    # Processes that talk lock a file when they meet (torch's FileStore), the GPU driver its cache.
    may_lock = loopback or gpu
    if not may_lock:
        # ENOSYS, as on file systems without locks: HDF5 then opens its files without one.
        program.deny("flock", errno.ENOSYS)
    program.deny_values("fcntl", 1, _FCNTL if may_lock else (*_FCNTL, *_FCNTL_LOCKS))
    program.deny_values("ioctl", 1, _IOCTL)
    if not flat:
        # Netlink is how the C library lists interfaces; it sees the private namespace only.
        inet = (_AF_INET, _AF_INET6, _AF_NETLINK) if loopback else ()
        program.allow_only("socket", 0, (_AF_UNIX, *inet))
        if timed:
            _threads_only(program)
        else:
            program.bits("clone", _NAMESPACES, allowed=False)
    else:
        _flat(program)
    return program.finish()


def install(program: bytes) -> None:
    """Put a filter on every thread of this process, for good.

    Raises:
        OSError: ``no_new_privs`` is not set, or seccomp is off.
    """
    buffer = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: a length, padding to a pointer's alignment, a pointer.
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    fprog = ctypes.create_string_buffer(header, len(header))
    # TSYNC reaches threads that torch may have started; without it, these would stay unfiltered.
    libc.syscall("seccomp", _SET_MODE_FILTER, _TSYNC, fprog)


def _threads_only(program: Filter) -> None:
    for name in ("fork", "vfork"):
        program.deny(name)
    # Without namespace flags needing a look: a new thread cannot have them.
    program.bits("clone", _CLONE_THREAD, allowed=True)


def _flat(program: Filter) -> None:
    for name in (*FLAT_DENIED, "socket"):
        program.deny(name)
    # Its own PID only: abort() and raise() go on working, and nobody else can be signalled.
    for name in FLAT_OWN_PID:
        program.allow_only(name, 0, (_OWN_PID,))
    # To these calls 0 is the caller itself.
    for name in FLAT_OWN_OR_ZERO:
        program.allow_only(name, 0, (0, _OWN_PID))
    _threads_only(program)
    # Without a PID namespace the death signal is what ends the process with its fork-server.
    program.deny_values("prctl", 0, (libc.PR_SET_PDEATHSIG,))
