"""Namespaces: a guest sees no other process, no network and no shared memory but its own.

Defends against: finding, signalling or tracing processes outside, reaching any network or the
abstract sockets of others, message queues and segments left for the next guest, and processes that
outlive their guest: the guest is process 1 of its namespace, and when it dies the kernel kills all
that it ever started before anybody is told of its death.
Does not defend against: flaws of the kernel itself, or timing observed through shared hardware.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct

from grader.sandbox.walls import libc

KINDS = ("mnt", "pid", "net", "ipc")
_SIOCSIFFLAGS = 0x8914
_IFF_UP_RUNNING = 0x1 | 0x40


def current() -> dict[str, str]:
    """Return kind → identity of the namespaces that this process is in."""
    found = {}
    for kind in KINDS:
        try:
            found[kind] = os.readlink(f"/proc/self/ns/{kind}")  # noqa: PTH115  milliseconds count
        except OSError:  # noqa: PERF203
            found[kind] = "unknown"
    return found


def enter(flags: int) -> None:
    """Move this process (for PIDs: its next child) into new namespaces.

    Raises:
        OSError: The kernel or the container does not allow it.
    """
    libc.syscall("unshare", flags, about=hex(flags))


def enter_user_namespace() -> None:
    """Enter a new user namespace with this user, and only this one, mapped to itself.

    Raises:
        OSError: User namespaces are forbidden here.
    """
    uid, gid = os.geteuid(), os.getegid()
    # A process that is not dumpable does not own its own /proc files and could not write its map.
    libc.prctl(libc.PR_SET_DUMPABLE, 1)
    enter(libc.CLONE_NEWUSER)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")


def become_first_process() -> None:
    """Fork so that the child is process 1 of a new PID namespace, and return only in the child.

    The parent waits for it and ends as it ended. The child dies with the parent.

    Raises:
        OSError: PID namespaces are forbidden here.
    """
    enter(libc.CLONE_NEWPID)
    child = os.fork()
    if child == 0:
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
        return
    # The control socket must be the child's alone, or the host would not see it die.
    os.closerange(3, 256)
    _, status = os.waitpid(child, 0)
    os._exit(min(os.waitstatus_to_exitcode(status) % 256, 255))


def raise_loopback() -> None:
    """Bring up ``lo`` in a private network namespace.

    Raises:
        OSError: It could not be done.
    """
    request = struct.pack("16sh14x", b"lo", _IFF_UP_RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, _SIOCSIFFLAGS, request)


def _write(path: str, text: str) -> None:
    # A map may be written once and in one call; buffered files do not promise that.
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
