"""The fork-server: ``main()``, with the number of a descriptor ``FD`` as the only argument.

Started by exec with a clean environment (``grader.sandbox.host.forked``), it imports torch once, in
one thread, and forks a student process for each request that comes over ``FD``, a SEQPACKET socket
to the host. It holds no secret.

Requests: a ``WallPlan`` once; then a ``ProcessPlan`` with three descriptors: connection, capture,
status pipe. Answers: ``{"ready": …}`` or ``{"failed": text, "call": …}`` once, with the system call
that the machine refused, if it was one; then ``{"started": n}`` with a pidfd or ``{"refused": n,
"reason": …}``, and ``{"ended": n, "status": …, "peak": …}`` when student process ``n`` and all
below it are gone. A further ``WallPlan``, with one descriptor, asks for another fork-server: a fork
that serves over that socket, and answers there ``{"ready": …}`` with a pidfd of itself.

Defends against: a submission that looks for what its ancestors knew. A student process leaves the
frames of the loop before it does anything, and has none of its descriptors.
Does not defend against: what is in the interpreter for all to see; nothing secret may be put there.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import select
import signal
import socket
import sys
from typing import Any, NamedTuple

from grader.sandbox.walls import apply, libc, self_test, view
from grader.sandbox.walls.plan import Mechanism, ProcessPlan, Wall, WallPlan
from grader.student_process import bound_output
from grader.wire.frames import Connection
from grader.wire.messages import from_bytes

_MESSAGE = 1 << 16
_WALLS_FAILED = 70
_CONNECTION, _STATUS = 3, 4


class Start(NamedTuple):
    """What a new student process is started with."""

    process: ProcessPlan
    fds: list[int]


class ForkServer:
    """Serves start requests until the host hangs up.

    Attributes:
        plan: The walls of its student processes.
    """

    def __init__(self, control: socket.socket, plan: WallPlan) -> None:
        self.plan = plan
        self._nested = plan.has(Wall.PIDS)
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY) if self._nested else -1
        self._listen_to(control)
        # Where GPUs are planned all of it is there by now: the student process that proves them
        # comes first, and must be like those after it.
        self._rest = plan.preload and not plan.gpus

    def run(self) -> Start | None:
        """Return None when the host hangs up; in a fork, what it was started with."""
        while True:
            for fd, _ in self._poll.poll():
                if fd != self._control.fileno():
                    self._reap(fd)
                    continue
                data, fds, _, _ = socket.recv_fds(self._control, _MESSAGE, 3)
                if not data:
                    return None
                if len(fds) == 1:
                    if self._fork_another(data, fds[0]):
                        break  # what the other one polled is not this one's
                    continue
                start = Start(from_bytes(data, ProcessPlan), fds)
                # Out of the loop: a submission can walk the frames below its own, and finds none of
                # these.
                if self._fork(start):
                    return start
                self._warm_the_rest()

    def leave(self) -> None:
        """Give up the line to the host, which is closed with the other descriptors."""
        # A socket object that is collected later would close a number that is another's by then.
        self._control.detach()

    def _listen_to(self, control: socket.socket) -> None:
        self._control = control
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._processes: dict[int, tuple[int, int]] = {}

    def _fork_another(self, plan: bytes, line: int) -> bool:
        """Fork another fork-server; return True in it."""
        # Nobody asks how it ends; nor an orphan of it, which is this one's then.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        try:
            child = os.fork()
        except OSError:
            child = -1  # its line ends, as by a death
        if child:
            os.close(line)
            return False
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
        if not self.plan.namespaces:
            adopt_orphans()
        self.plan = from_bytes(plan, WallPlan)
        self._control.close()
        self._listen_to(socket.socket(fileno=line))
        own = os.pidfd_open(os.getpid())
        say(self._control, {"ready": os.getpid()}, [own])
        os.close(own)
        return True

    def _fork(self, start: Start) -> bool:
        """Fork a student process; return True in the child."""
        number = start.process.number
        try:
            child = self._fork_apart()
        except OSError as error:
            say(self._control, {"refused": number, "reason": str(error)})
            child = -1
        if child == 0:
            return True
        # Copies left open here would keep a connection alive whose process is gone.
        for fd in start.fds:
            os.close(fd)
        if child > 0:
            # Before anybody reaps it: until then its number cannot be another's.
            pidfd = os.pidfd_open(child)
            self._processes[pidfd] = (child, number)
            self._poll.register(pidfd, select.POLLIN)
            say(self._control, {"started": number}, [pidfd])
        return False

    def _warm_the_rest(self) -> None:
        """Import what the first student process can do without, while it is at work."""
        if self._rest:
            from grader.student_process.server import REST, warm  # noqa: PLC0415  it is there by now

            self._rest = False
            warm(REST)
            settle()

    def _fork_apart(self) -> int:
        if not self._nested:
            return os.fork()
        view.enter_namespaces(libc.CLONE_NEWPID)
        try:
            child = os.fork()
        except OSError:
            # After a failure as well, or the next student process could enter no namespace.
            libc.syscall("setns", self._own, libc.CLONE_NEWPID)
            raise
        if child:
            # Back to our own: from the child's, no further namespace could be entered.
            libc.syscall("setns", self._own, libc.CLONE_NEWPID)
        return child

    def _reap(self, pidfd: int) -> None:
        child, number = self._processes.pop(pidfd)
        self._poll.unregister(pidfd)
        os.close(pidfd)
        # For process 1 of a namespace this returns only when all others in it are gone.
        _, status, usage = os.wait4(child, 0)
        say(self._control, {"ended": number, "status": status, "peak": usage.ru_maxrss * 1024})


def say(control: socket.socket, message: dict[str, Any], fds: list[int] | None = None) -> None:
    """Send one message to the host; a host that is gone is noticed by the loop."""
    try:
        socket.send_fds(control, [json.dumps(message).encode()], fds or [])
    except OSError:
        os._exit(0)


def prepare(plan: WallPlan) -> None:
    """Enter the fork-server's namespaces, import torch and warm it.

    Raises:
        OSError: The machine refused a wall.
        RuntimeError: Torch cannot be forked safely.
    """
    # Before the PID namespace, which must belong to it: else the kernel refuses the way back after
    # a fork.
    if plan.mechanism is Mechanism.USERNS:
        view.enter_user_namespace()
    if plan.has(Wall.PIDS):
        view.become_first_process()
    if plan.preload:
        # Torch, after the PID namespace.
        from grader.student_process.server import REST, warm  # noqa: PLC0415

        warm((*plan.also, *REST) if plan.gpus else plan.also, engine=not plan.gpus)
    apply.around_fork_server(plan)
    apply.once(plan)
    if not plan.namespaces:
        adopt_orphans()
    # Forks inherit it: until one has its own walls, no neighbour of the same user can trace it.
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    settle()


def adopt_orphans() -> None:
    """Become the parent of processes below whose own has ended."""
    # One that is nobody's would stay a zombie and count against its user's limit.
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)


def settle() -> None:
    """Make sure of a single thread, and keep what is shared with student processes shared.

    Raises:
        RuntimeError: A second thread runs.
    """
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208  names only
    if threads != 1:
        raise RuntimeError(f"{threads} threads in the fork-server; its forks would hang")
    gc.collect()
    # Collections in a student process would otherwise write to, and so copy, every inherited
    # object.
    gc.freeze()


def become_student_process(plan: WallPlan, start: Start) -> None:
    """Put up the walls, try to break out, report to the host, and serve."""
    process = start.process
    connection_fd = _arrange(start.fds)
    try:
        planned = apply.around_process(plan, process)
        met = self_test.attempt_all(plan, process, planned)
        report: dict[str, Any] = {"met": met}
    except (OSError, RuntimeError) as error:
        report = {"failed": str(error)[:1000], "call": _call(error)}
        met = {}
    # Before a byte of the submission is here: what this process reports of its walls is its own
    # word, and nobody else can have changed it yet.
    os.write(_STATUS, json.dumps(report).encode() + b"\n")
    os.close(_STATUS)
    if "failed" in report:
        # Behind incomplete walls nothing may run, not even exit handlers.
        os._exit(_WALLS_FAILED)
    bound_output(process.output)
    # Inherited already, but for a probe of the machine, which ends before it gets here.
    from grader.student_process.server import serve  # noqa: PLC0415

    serve(Connection(socket.socket(fileno=connection_fd)), met)


def _call(error: Exception) -> str:
    return error.call if isinstance(error, libc.CallError) else ""


def _arrange(fds: list[int]) -> int:
    """Leave open: 0 nothing, 1 and 2 the capture, 3 the connection, 4 the status pipe."""
    null = os.open(os.devnull, os.O_RDONLY)
    # Out of the way first, so that no copy lands on one that is still to be copied.
    connection, capture, status = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100) for fd in fds)
    for fd, place in ((null, 0), (capture, 1), (capture, 2)):
        os.dup2(fd, place)
    for fd, place in ((connection, _CONNECTION), (status, _STATUS)):
        # A program that the submission starts must not hold the line to the host open.
        os.dup2(fd, place, inheritable=False)
    # Whatever the fork-server had open, its line to the host among it, must not be the
    # submission's. A line has the number that it had in the host, however high that was.
    with os.scandir("/proc/self/fd") as entries:
        last = max(int(entry.name) for entry in entries)
    os.closerange(_STATUS + 1, last + 1)
    return _CONNECTION


def main() -> None:
    """Prepare, serve, and turn into a student process in each fork."""
    # Every fork inherits this. The host alone decides what ends: an interrupt that reached a
    # student process would look like a crash of the submission.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=int(sys.argv[1]))
    plan = from_bytes(control.recv(_MESSAGE), WallPlan)
    try:
        prepare(plan)
    except (OSError, RuntimeError, ImportError) as error:
        say(control, {"failed": str(error), "call": _call(error)})
        os._exit(1)
    say(control, {"ready": os.getpid()})
    server = ForkServer(control, plan)
    start = server.run()
    if start is not None:
        server.leave()
        plan = server.plan
        del server
        become_student_process(plan, start)
    os._exit(0)
