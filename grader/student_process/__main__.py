"""A student process started by itself, without a fork-server: ``-m grader.student_process``.

Arguments: the descriptor of the connection, that of the status pipe, the output cap in bytes, the
memory that a submission may use beyond the start, in bytes (0: no limit, which CUDA needs), and 1
to import at once what torch imports late, as a fork-server does, or 0.

The process splits in two before torch is imported. The parent stays as *keeper*: it adopts every
orphan of its child (on Linux), so that the host finds all descendants below one process, and it
writes how the child ended to the status pipe, which the child does not have.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import struct
import sys

STATUS = struct.Struct("<iq")
"""Wait status and peak resident memory in KiB, as the keeper writes them."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _keep(child: int, status_fd: int) -> None:
    while True:
        # Any child: an adopted orphan that nobody collects would stay a zombie.
        pid, status, usage = os.wait4(-1, 0)
        if pid == child:
            os.write(status_fd, STATUS.pack(status, usage.ru_maxrss))
            break
    # Stay, so that orphans stay below this process until the host has ended them all.
    while True:
        try:
            os.wait()
        except ChildProcessError:  # noqa: PERF203  waiting is all that this loop does
            signal.sigwait({signal.SIGCHLD})


def _serve(connection_fd: int, cap: int, memory: int, warm: int) -> None:
    # Once more: a fork does not inherit it.
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # Imported here, so that the keeper holds no torch.
    from grader.sandbox.walls import privileges  # noqa: PLC0415
    from grader.student_process import bound_output, server  # noqa: PLC0415
    from grader.wire.frames import Connection  # noqa: PLC0415

    if warm:
        server.warm(server.REST)
    if memory and sys.platform == "linux":
        # After the imports: the limit comes on top of the address space that torch takes.
        space = privileges.address_space()
        privileges.apply_limits({"CORE": 0, "AS": space + memory + privileges.THREAD_SPACE})
    bound_output(cap)
    server.serve(Connection(socket.socket(fileno=connection_fd)), {})


def main() -> None:
    """Split into keeper and student process; serve until the host closes the connection."""
    connection_fd, status_fd, cap, memory, warm = (int(argument) for argument in sys.argv[1:6])
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    child = os.fork()
    if child:
        # The keeper must not hold the line open: the host would not see its child die.
        os.close(connection_fd)
        # Blocked, a death between two waits stays pending: no orphan is overlooked.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        _keep(child, status_fd)
    # The submission must not be able to write how it ended.
    os.close(status_fd)
    _serve(connection_fd, cap, memory, warm)
    # Not sys.exit: a submission may have left exit handlers or threads, which would hold up the
    # end.
    os._exit(0)


if __name__ == "__main__":
    main()
