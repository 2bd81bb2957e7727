"""Grading side by side on this machine: worker processes, each with a sandbox of its own.

Workers are forked after the reference has run, so that it runs once for a whole class, and before
anything in this process starts a thread.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.util
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from pathlib import Path

from grader.batch.discover import HandIn
from grader.errors import GraderError, InfrastructureError
from grader.report.gradescope import write_results
from grader.report.json_file import write_report
from grader.report.model import Report
from grader.report.pictures import write_pictures
from grader.run.grade import Grader
from grader.sandbox.base import Sandbox
from grader.sandbox.walls import libc

OpenSandbox = Callable[[], Sandbox]

_grader: Grader | None = None
_failure = ""


def grade_all(
    grader: Grader, open_sandbox: OpenSandbox, hand_ins: Sequence[HandIn], out: Path, jobs: int
) -> Generator[Report, None, None]:
    """Start grading, and return an iterator over the reports in the order in which they are done.

    What has to be timed is so at the end, one hand-in at a time with nothing else beside it: each
    is then graded again as a whole, and its second report takes the place of the first.

    Args:
        grader: Prepared; its own sandbox may be closed by now.
        open_sandbox: Makes a sandbox for each worker.
        hand_ins: What to grade.
        out: Reports go to ``out/<name>/``.
        jobs: Worker processes.

    Raises:
        InfrastructureError: While iterating: a worker died. What was graded is written.
    """
    pool = ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("fork"),
        initializer=_start_worker,
        initargs=(grader, open_sandbox),
    )
    # The first submit forks all workers: here, not when the caller begins to iterate.
    futures = {pool.submit(_grade, hand_in, out, False): hand_in for hand_in in hand_ins}
    # The executor forgets them at its shutdown, and offers no other way to end one before 3.14.
    workers = list(pool._processes.values())

    def results() -> Generator[Report, None, None]:
        timed: list[HandIn] = []
        for future in as_completed(futures):
            report = Report.model_validate_json(future.result())
            if grader.awaits_clock(report):
                timed.append(futures[future])
            yield report
        for hand_in in timed:
            yield Report.model_validate_json(pool.submit(_grade, hand_in, out, True).result())

    return _results(pool, workers, results())


def _results(
    pool: ProcessPoolExecutor,
    workers: Sequence[BaseProcess],
    reports: Generator[Report, None, None],
) -> Generator[Report, None, None]:
    complete = False
    try:
        yield from reports
        complete = True
    except BrokenProcessPool as error:
        raise InfrastructureError(
            "a worker process was killed, probably for want of memory; use a smaller -j. "
            "The reports written so far are complete"
        ) from error
    finally:
        if not complete:
            # Whoever stops early does not wait for hand-ins that are in the middle of their work;
            # a worker's guests die with it.
            for worker in workers:
                worker.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


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


def _grade(hand_in: HandIn, out: Path, clock: bool) -> str:
    if _grader is None:
        raise InfrastructureError(f"a worker could not begin: {_failure}")
    report = _grader.grade(hand_in.path, hand_in.name, clock=clock)
    write_report(report, out / hand_in.name)
    write_results(report, out / hand_in.name)
    write_pictures(report, out / hand_in.name)
    return report.model_dump_json()
