"""System calls by ctypes, with their numbers by architecture; a failure names the call."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from typing import Any

_TABLE: dict[str, tuple[int | None, int | None]] = {
    "_sysctl": (156, None),
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "capset": (126, 91),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "execve": (59, 221),
    "execveat": (322, 281),
    "fanotify_init": (300, 262),
    "fcntl": (72, 25),
    "finit_module": (313, 273),
    "flock": (73, 32),
    "fork": (57, None),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "listmount": (458, 458),
    "lookup_dcookie": (212, 18),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "mknod": (133, None),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "seccomp": (317, 277),
    "semget": (64, 190),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setpgid": (109, 154),
    "setpriority": (141, 140),
    "setsid": (112, 157),
    "settimeofday": (164, 170),
    "shmget": (29, 194),
    "socket": (41, 198),
    "statmount": (457, 457),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "tgkill": (234, 131),
    "tkill": (200, 130),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "uselib": (134, None),
    "userfaultfd": (323, 282),
    "vfork": (58, None),
    "vhangup": (153, 58),
}
"""Name → number on (x86_64, aarch64); None where the architecture has no such call."""

_COLUMNS = {"x86_64": 0, "aarch64": 1}
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""What seccomp calls the architectures."""


def machine() -> str:
    """Return the architecture's name as the kernel gives it."""
    return platform.machine()


def number(name: str, arch: str | None = None) -> int | None:
    """Return the number of a system call, or None where the architecture has none.

    Raises:
        OSError: The architecture is not one of those known here.
        KeyError: The call has no line in the table.
    """
    if name not in _TABLE:
        raise KeyError(f"system call {name}: write its numbers into _TABLE in walls/libc.py")
    column = _COLUMNS.get(arch or machine())
    if column is None:
        raise OSError(f"no system call numbers for {arch or machine()}; known: {list(_COLUMNS)}")
    return _TABLE[name][column]


# With use_errno, ctypes keeps errno apart: Python's own calls in between would overwrite it.
_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

PR_SET_PDEATHSIG = 1
PR_GET_PDEATHSIG = 2
PR_GET_DUMPABLE = 3
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_GET_NO_NEW_PRIVS = 39
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4


class CallError(OSError):
    """A system call failed.

    Attributes:
        call: Its name, and what it was done to.
    """

    call = ""


def error_name(error: OSError) -> str:
    """Return ``EACCES`` and the like."""
    return errno.errorcode.get(error.errno or 0, f"errno {error.errno}")


def syscall(name: str, *args: Any, about: str = "") -> int:
    """Make a system call by name.

    Args:
        name: A key of ``_TABLE``.
        args: Integers, bytes, None or ctypes objects.
        about: What it was done to, for the message of a failure.

    Raises:
        OSError: The call failed; the message names it.
    """
    # By number, not by a function of the C library: an older one has none for new calls.
    which = number(name)
    if which is None:
        raise OSError(errno.ENOSYS, f"{name}: not on this architecture")
    result = int(_libc.syscall(ctypes.c_long(which), *(_argument(item) for item in args)))
    if result < 0:
        raise _failure(name, about)
    return result


def prctl(option: int, value: int = 0, third: int = 0) -> int:
    """Make a ``prctl`` call and return what it returned.

    Raises:
        OSError: It failed.
    """
    # Zeros to the end: several options are refused if an argument they do not use is set.
    result = int(_libc.prctl(option, *(ctypes.c_ulong(item) for item in (value, third, 0, 0))))
    if result < 0:
        raise _failure("prctl", str(option))
    return result


def parent_death_signal() -> int:
    """Return the signal that this process gets when its parent dies; 0 for none."""
    value = ctypes.c_int(0)
    if _libc.prctl(PR_GET_PDEATHSIG, ctypes.byref(value), 0, 0, 0) < 0:
        raise _failure("prctl", "PR_GET_PDEATHSIG")
    return value.value


def _argument(item: Any) -> Any:
    # ctypes passes a bare int as 32 bits; a size or an address would lose its upper half.
    return ctypes.c_long(item) if isinstance(item, int) else item


def _failure(call: str, about: str) -> CallError:
    code = ctypes.get_errno()
    where = f"{call} {about}".strip()
    error = CallError(code, f"{where}: {os.strerror(code)}")
    error.call = where
    return error
