"""Grading side by side on this machine: worker processes, each with a sandbox of its own.

Workers are forked after the reference has run, so that it runs once for a whole class, and before
anything in this process starts a thread.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.util
import signal
import sys
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

from grader.batch.work import Answer, Work, perform
from grader.errors import GraderError, InfrastructureError
from grader.run.grade import Grader
from grader.sandbox.base import Sandbox
from grader.sandbox.walls import libc

OpenSandbox = Callable[[], Sandbox]

_grader: Grader | None = None
_failure = ""


class LocalWorkers:
    """Processes on this machine; forked when the first work comes.

    Args:
        grader: Prepared; its own sandbox may be closed by now.
        open_sandbox: Makes a sandbox for each worker.
        out: Reports go to ``out/<name>/``.
        jobs: Worker processes.
    """

    def __init__(self, grader: Grader, open_sandbox: OpenSandbox, out: Path, jobs: int) -> None:
        self._out = out
        self._pool = ProcessPoolExecutor(
            jobs,
            mp_context=multiprocessing.get_context("fork"),
            initializer=_start_worker,
            initargs=(grader, open_sandbox),
        )

    def submit(self, work: Work) -> Future[Answer]:
        """See ``Workers.submit``."""
        return self._pool.submit(_perform, work, self._out)

    def close(self, finished: bool) -> None:
        """See ``Workers.close``."""
        if not finished:
            # Whoever stops early does not wait for hand-ins that are in the middle of their work;
            # a worker's guests die with it. The executor offers no other way before 3.14.
            for worker in list((self._pool._processes or {}).values()):
                worker.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _start_worker(grader: Grader, open_sandbox: OpenSandbox) -> None:
    global _grader, _failure  # noqa: PLW0603  a worker process has one grader for its whole life
    # An interrupt reaches the whole process group; it is the parent's to answer.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        sandbox = open_sandbox()
    except GraderError as error:
        # Told with the first hand-in: the executor would report a worker that was killed.
        _failure = str(error)
        return
    # A forked worker leaves by os._exit, which runs these finalizers and no others.
    multiprocessing.util.Finalize(None, sandbox.close, exitpriority=10)
    _grader = grader.with_sandbox(sandbox)


def _perform(work: Work, out: Path) -> Answer:
    if _grader is None:
        raise InfrastructureError(f"a worker could not begin: {_failure}")
    return perform(_grader, work, out)
