"""Grading side by side on this machine: worker processes, each with a sandbox of its own.

Workers are forked after the reference has run, so that it runs once for a whole class, and before
anything in this process starts a thread.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.util
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from grader.batch.discover import HandIn
from grader.errors import InfrastructureError
from grader.report.gradescope import write_results
from grader.report.json_file import write_report
from grader.report.model import Report
from grader.run.grade import Grader
from grader.sandbox.base import Sandbox

OpenSandbox = Callable[[], Sandbox]

_grader: Grader | None = None


def grade_all(
    grader: Grader, open_sandbox: OpenSandbox, hand_ins: Sequence[HandIn], out: Path, jobs: int
) -> Iterator[Report]:
    """Start grading, and return an iterator over the reports in the order in which they are done.

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
    futures = [pool.submit(_grade, hand_in, out) for hand_in in hand_ins]
    return _results(pool, futures)


def _results(pool: ProcessPoolExecutor, futures: Sequence[Future[str]]) -> Iterator[Report]:
    try:
        for future in as_completed(futures):
            yield Report.model_validate_json(future.result())
    except BrokenProcessPool as error:
        raise InfrastructureError(
            "a worker process was killed, probably for want of memory; use a smaller -j. "
            "The reports written so far are complete"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start_worker(grader: Grader, open_sandbox: OpenSandbox) -> None:
    global _grader  # noqa: PLW0603  a worker process has one grader for its whole life
    sandbox = open_sandbox()
    # A forked worker leaves by os._exit, which runs these finalizers and no others.
    multiprocessing.util.Finalize(None, sandbox.close, exitpriority=10)
    _grader = grader.with_sandbox(sandbox)


def _grade(hand_in: HandIn, out: Path) -> str:
    assert _grader is not None
    report = _grader.grade(hand_in.path, hand_in.name)
    write_report(report, out / hand_in.name)
    write_results(report, out / hand_in.name)
    return report.model_dump_json()
