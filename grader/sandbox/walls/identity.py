"""Who a guest is: a user of its own where there is root, with no capability and no way to gain one.

Defends against: acting with the host's rights, programs that raise privileges, being read or traced
through ``/proc`` by a neighbour, outliving the fork-server.
Does not defend against: what the user may do anyway; unprivileged, the user is the host's own.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from pathlib import Path

from grader.sandbox.walls import libc

_CAPABILITY_VERSION = 0x20080522
_LAST_CAPABILITY = 63
_NET_ADMIN = 12
_NEEDED = {"CHOWN": 0, "DAC_OVERRIDE": 1, "FOWNER": 3, "KILL": 5, "SETGID": 6, "SETUID": 7,
           "SETPCAP": 8}  # fmt: skip
"""What it takes to start a guest as another user, to end it, and to remove what it left."""


def lacking() -> list[str]:
    """Return the capabilities that it takes to give guests a user of their own, and are not held.

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
    found = [line.split()[1] for line in lines if line.startswith(f"{kind}:")]
    return int(found[0], 16) if found else 0


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
