"""Workers on this machine: processes that grade side by side, each with a sandbox of its own.

This process forks one *template* after the reference has run, and before it starts a thread. All
workers are forks of the template. So the reference runs once for a class, and a worker that died
can be replaced: forking this process instead would copy locks that its threads hold.

Defends against: a submission that kills its worker. A fresh worker grades it once more, while no
other worker runs. If that one dies too, the submission gets an outcome and the class goes on. The
submission is at fault if both workers died while they read its answers; else the machine is.
Does not defend against: a machine that ends this process.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from mmap import mmap
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from grader.batch.schedule import Answer, WorkItem, WorkKind, perform, without_run
from grader.errors import GraderError, InfrastructureError
from grader.grading import Grader
from grader.run.answer_budget import MOST_SECONDS, CpuGuard
from grader.sandbox.host.processes import Sandbox
from grader.sandbox.walls import libc

OpenSandbox = Callable[[], Sandbox]

_OTHER, _READING, _JUDGING = range(3)
_DURING = {
    _OTHER: "while it was graded",
    _READING: "while its answers were read",
    _JUDGING: "while it was judged",
}


class LocalWorkers:
    """Processes on this machine; forked when the first work comes.

    Args:
        grader: Prepared; its own sandbox may be closed by now.
        open_sandbox: Makes a sandbox for each worker.
        out: Reports go to ``out/<name>/``.
        jobs: Worker processes.
    """

    def __init__(self, grader: Grader, open_sandbox: OpenSandbox, out: Path, jobs: int) -> None:
        self._grader, self._out = grader, out
        self._template = _Template(grader, open_sandbox, out, jobs)
        self._waiting: queue.SimpleQueue[tuple[WorkItem, Future[Answer]] | None] = (
            queue.SimpleQueue()
        )
        self._room = _Room()
        self._attendants = [
            threading.Thread(target=self._attend, args=(slot,), daemon=True) for slot in range(jobs)
        ]
        self._stopped = False

    def submit(self, work: WorkItem) -> Future[Answer]:
        """See ``Workers.submit``."""
        if not self._template.begun:
            self._template.begin()
            for attendant in self._attendants:
                attendant.start()
        future: Future[Answer] = Future()
        self._waiting.put((work, future))
        return future

    def close(self, finished: bool) -> None:
        """See ``Workers.close``."""
        if not self._template.begun:
            return
        if not finished:
            # Whoever stops early does not wait for submissions in the middle of their work:
            # workers die with the template, and their student processes with them.
            self._stopped = True
            self._template.kill()
        for _ in self._attendants:
            self._waiting.put(None)
        for attendant in self._attendants:
            attendant.join()
        self._template.close()

    def _attend(self, slot: int) -> None:
        """Hand work to the worker of a slot, and answers on, until there is no more."""
        worker = _Worker(self._template, slot)
        while (item := self._waiting.get()) is not None:
            work, future = item
            try:
                future.set_result(self._done(worker, work))
            except Exception as error:  # noqa: BLE001  it is raised where the answer is waited for
                future.set_exception(error)
        worker.end()

    def _done(self, worker: _Worker, work: WorkItem) -> Answer:
        deaths = []
        for room in (self._room.shared, self._room.alone):
            with room():
                if self._stopped:
                    raise InfrastructureError("stopped early")
                answer = worker.perform(work)
            if answer is not None:
                return answer
            deaths.append(worker.was_at)
        return self._died(work, deaths)

    def _died(self, work: WorkItem, deaths: list[int]) -> Answer:
        """Return what is to be said of work that two workers have died of."""
        if work.kind is WorkKind.READ:
            return ""
        # Both times over this submission's answers, the second time alone: its own doing. Any other
        # death may be the machine's, and leaves the points pending.
        if set(deaths) == {_READING}:
            examined = self._grader.not_readable(work.submission.name, work.digest)
        else:
            during = " and ".join(dict.fromkeys(_DURING[phase] for phase in deaths))
            reason = f"two worker processes ended {during}, the second one with nothing beside it"
            examined = self._grader.not_read(work.submission.name, reason)
        return without_run(self._grader, work, examined.report, self._out)


class _Room:
    """Lets many work side by side, or one alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._wanted = threading.Lock()  # held by whoever is alone, or wants to be

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._wanted, self._changed:
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._wanted:
            with self._changed:
                self._changed.wait_for(lambda: not self._inside)
            yield


class _Worker:
    """The worker of one slot, started anew after each death."""

    def __init__(self, template: _Template, slot: int) -> None:
        self._template, self._slot = template, slot
        self._line: Connection | None = None
        self.was_at = _OTHER

    def perform(self, work: WorkItem) -> Answer | None:
        """Have work done; return its answer, or None where the worker has died.

        Raises:
            GraderError: Nobody's work can be done.
        """
        if self._line is None:
            self._line = self._template.worker(self._slot)
        try:
            self._line.send(work)
            answer: Answer | GraderError = self._line.recv()
        except (EOFError, OSError):
            self.was_at = self._template.was_at(self._slot)
            self._line.close()
            self._line = None
            return None
        if isinstance(answer, GraderError):
            raise answer
        return answer

    def end(self) -> None:
        """Have it end, and wait until it has."""
        if self._line is None:
            return
        with suppress(EOFError, OSError):
            self._line.send(None)
            self._line.recv()
        self._line.close()


class _Template:
    """A process without threads that forks workers."""

    def __init__(self, grader: Grader, open_sandbox: OpenSandbox, out: Path, jobs: int) -> None:
        self._work = partial(_serve, grader, open_sandbox, out)
        # Shared with every fork: what a worker was at is known even when it was killed without a
        # word.
        self._phases = mmap(-1, jobs)
        self._lock = threading.Lock()
        self._control, self._far = socket.socketpair()
        self._process = multiprocessing.get_context("fork").Process(target=self._run)
        self.begun = False

    def begin(self) -> None:
        """Fork it."""
        self.begun = True
        self._process.start()
        self._far.close()

    def worker(self, slot: int) -> Connection:
        """Return the line to a new worker.

        Raises:
            InfrastructureError: The template is gone.
        """
        near, far = socket.socketpair()
        try:
            with far, self._lock:
                self._phases[slot] = _OTHER
                socket.send_fds(self._control, [slot.to_bytes(4, "little")], [far.fileno()])
        except OSError as error:
            near.close()
            raise InfrastructureError(f"no worker process can be started: {error}") from error
        return Connection(near.detach())

    def was_at(self, slot: int) -> int:
        """Return what the worker of a slot was at when it died."""
        return self._phases[slot]

    def kill(self) -> None:
        """End it and every worker at once."""
        # PR_SET_PDEATHSIG takes the workers along, and these their student processes.
        self._process.kill()

    def close(self) -> None:
        """End it."""
        self._control.close()
        self._process.join()

    def _run(self) -> None:
        _as_a_child()
        self._control.close()
        # Nobody waits for workers: their lines tell when they end.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            slot, fds, *_ = socket.recv_fds(self._far, 4, 1)
            if not slot:
                return
            with suppress(OSError):  # no process to be had: the line ends, as by a death
                # The template has no threads, so no lock is held at this moment by a thread that
                # the child lacks.
                if os.fork() == 0:
                    self._become_worker(int.from_bytes(slot, "little"), Connection(fds[0]))
            os.close(fds[0])

    def _become_worker(self, slot: int, line: Connection) -> NoReturn:
        status = 1
        try:
            self._far.close()
            _as_a_child()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._work(line, self._guard(slot))
            status = 0
        finally:
            # Not sys.exit: exit handlers are the batch's, and would close its journal from here.
            os._exit(status)

    def _guard(self, slot: int) -> CpuGuard:
        return CpuGuard(partial(self._at, slot, _READING), partial(self._at, slot, _JUDGING))

    @contextmanager
    def _at(self, slot: int, phase: int) -> Iterator[None]:
        self._phases[slot] = phase
        # Without a handler the signal ends the process, also from within numpy.
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            self._phases[slot] = _OTHER


def _as_a_child() -> None:
    # An interrupt reaches the whole process group; it is the parent's to answer.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)


def _serve(
    grader: Grader, open_sandbox: OpenSandbox, out: Path, line: Connection, guard: CpuGuard
) -> None:
    """Do work until there is no more."""
    try:
        sandbox = open_sandbox()
    except GraderError as error:
        # Reported with the first submission: a worker that ends would be taken for one that died.
        _refuse(line, InfrastructureError(f"a worker could not begin: {error}"))
        return
    with sandbox:
        grader = grader.with_sandbox(sandbox, guard)
        while (work := _next(line)) is not None:
            line.send(_performed(grader, work, out))


def _performed(grader: Grader, work: WorkItem, out: Path) -> Answer | GraderError:
    try:
        return perform(grader, work, out)
    except GraderError as error:
        return error
    except Exception as error:  # noqa: BLE001  a fault of ours costs no points, and stops no class
        if work.kind is WorkKind.READ:
            return ""
        (*_, last) = traceback.extract_tb(error.__traceback__)
        where = f"{last.filename}:{last.lineno}"
        reason = f"the grader failed: {type(error).__name__}: {error} ({where})"
        return without_run(grader, work, grader.not_read(work.submission.name, reason).report, out)


def _refuse(line: Connection, error: InfrastructureError) -> None:
    while _next(line) is not None:
        line.send(error)


def _next(line: Connection) -> WorkItem | None:
    try:
        work: WorkItem | None = line.recv()
    except EOFError:
        return None
    return work
