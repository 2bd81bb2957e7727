"""A student process's user, capabilities and resource limits.

Defends against: acting with the host's rights, programs that raise privileges, being read or traced
through ``/proc`` by a neighbour, outliving the fork-server. Core dumps, files too large, too many
descriptors, address space beyond the budget, CPU time without end, locked memory, message queues,
and processes or threads beyond the number allowed (the kernel does not count those of the
superuser, which a student process never is).
Does not defend against: what the user may do anyway (without root, the user is the host's own), nor
memory of many processes together; the host's watch sums it.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
from pathlib import Path

from grader.sandbox.walls import cuda, libc
from grader.sandbox.walls.plan import ProcessPlan

_CAPABILITY_VERSION = 0x20080522
_LAST_CAPABILITY = 63
_NET_ADMIN = 12
_NEEDED = {"CHOWN": 0, "DAC_OVERRIDE": 1, "FOWNER": 3, "KILL": 5, "SETGID": 6, "SETUID": 7,
           "SETPCAP": 8}  # fmt: skip
"""What it takes to start a process as another user, to end it, and to remove what it left."""


def lacking() -> list[str]:
    """Return the missing capabilities among those that giving each process its own user takes.

    A container may run as root with few of them, or none.
    """
    held = capabilities("CapEff")
    return [name for name, number in _NEEDED.items() if not held >> number & 1]


def may_raise_loopback() -> bool:
    """Return whether this process may bring up a network, be it one of its own."""
    return bool(capabilities("CapEff") >> _NET_ADMIN & 1)


def capabilities(kind: str) -> int:
    """Return a set of this process's capabilities as the kernel writes it, one bit each.

    Args:
        kind: Its line in ``/proc/self/status``: ``CapEff``, ``CapBnd`` and so on.
    """
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    masks = [line.split()[1] for line in lines if line.startswith(f"{kind}:")]
    return int(masks[0], 16) if masks else 0


def drop_bounding_set() -> None:
    """Make every capability unobtainable; needs ``CAP_SETPCAP``, without which none is held.

    Raises:
        OSError: The kernel refused.
    """
    libc.prctl(libc.PR_CAP_AMBIENT, libc.PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            libc.prctl(libc.PR_CAPBSET_DROP, capability)
        except OSError:  # noqa: PERF203
            # EINVAL: past the last one this kernel knows. EPERM: an ordinary user, who has none.
            break


def drop_capabilities() -> None:
    """Give up every capability held.

    Raises:
        OSError: The kernel refused.
    """
    header = ctypes.create_string_buffer(struct.pack("Ii", _CAPABILITY_VERSION, 0), 8)
    libc.syscall("capset", header, ctypes.create_string_buffer(bytes(24), 24))


def become(uid: int) -> None:
    """Become a user and the group of the same number, with no other group.

    Raises:
        OSError: Not allowed, or the UID is not mapped here.
    """
    # Groups first, then GID, then UID: without the UID of root the others can no longer be changed.
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def set_dumpable(yes: bool) -> None:
    """Say whether others may trace this process and read its memory.

    Changing user resets this, so it comes after.

    Raises:
        OSError: The kernel refused.
    """
    libc.prctl(libc.PR_SET_DUMPABLE, int(yes))


def die_with_parent() -> None:
    """Be killed when the fork-server dies.

    Changing user resets this, so it comes after.

    Raises:
        OSError: The kernel refused.
    """
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)


def forbid_new_privileges() -> None:
    """Make programs that raise privileges run without them, here and in all that is started.

    Raises:
        OSError: The kernel refused.
    """
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)


OPEN_FILES = 512
THREAD_SPACE = 512 * 2**20
"""Address space that thread stacks and arenas take without touching it, in bytes."""


def process_limit(plan: ProcessPlan) -> int:
    """Return how many processes and threads a student process may have, itself among them."""
    return 1 + plan.processes + (cuda.THREADS if plan.gpus else 0)


def planned_limits(plan: ProcessPlan, space: int) -> dict[str, int]:
    """Return limit name → value, soft and hard alike.

    Args:
        plan: The student process's plan.
        space: Address space that the process already has, in bytes.
    """
    limits = {
        # A core file would hold the memory of the process, hidden inputs included, and fill the
        # disk.
        "CORE": 0,
        "FSIZE": max(plan.scratch, plan.output),
        "NOFILE": OPEN_FILES,
        "AS": space + plan.memory + THREAD_SPACE,
        "CPU": plan.cpu_seconds,
        "MEMLOCK": 65536,
        "MSGQUEUE": 0,
    }
    # NPROC counts all processes of a user. With a shared UID, the grader's own would count, and an
    # honest submission could not start a thread.
    if not plan.shared_uid:
        limits["NPROC"] = process_limit(plan)
    if plan.gpus:
        limits = {name: value for name, value in limits.items() if name not in cuda.UNLIMITED}
    return limits


def address_space() -> int:
    """Return the size of this process's address space, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def apply_limits(limits: dict[str, int]) -> None:
    """Set limits for good.

    Raises:
        OSError: A limit is above one that already holds.
    """
    for name, value in limits.items():
        which = getattr(resource, f"RLIMIT_{name}")
        # A container may already have a lower one; raising it would need a capability and fail.
        _, hard = resource.getrlimit(which)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (allowed, allowed))


def unset_limits(limits: dict[str, int]) -> list[str]:
    """Return the names of limits that are wider than planned."""
    wide = []
    for name, value in limits.items():
        for held in resource.getrlimit(getattr(resource, f"RLIMIT_{name}")):
            # Python shows “no limit” as -1, which the comparison alone would take for a narrow one.
            if held == resource.RLIM_INFINITY or held > value:
                wide.append(name)
                break
    return wide
