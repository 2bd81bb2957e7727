"""Grading on a Ray cluster (extra ``ray``): Ray places work, repeats it, survives lost nodes.

What is shared with the local engine stays so: the inputs and the reference's observations are made
once, here, and sent along; the journal and the reports are written here. A node needs torchgrade,
and has to see the submissions and the assignment under the same paths, as a shared disk gives them.

Defends against: workers and nodes that die, also with work in hand; work that takes its worker down
with it again and again, which becomes a fault of the machine and costs nobody points.
Does not defend against: whoever can reach the cluster. Ray runs what it is sent; it belongs into a
network of its own.
"""

from __future__ import annotations

import atexit
import copyreg
import importlib
import logging
import os
import tempfile
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any

from grader.batch.schedule import Answer, WorkItem, WorkKind, perform, without_run, write
from grader.errors import InfrastructureError, UsageError
from grader.grading import Grader
from grader.sandbox.host.processes import Sandbox

_RETRIES = 3
_SYSTEM = "This work took its Ray worker down, {retries} times again: {error}"
_graders: dict[str, Grader] = {}

OpenSandbox = Callable[[], Sandbox]


class RayWorkers:
    """Tasks on a cluster: that of ``RAY_ADDRESS``, one that runs on this machine, or one made here.

    Args:
        grader: Prepared; its own sandbox may be closed by now.
        open_sandbox: Makes a sandbox for each worker process.
        out: Reports go to ``out/<name>/``.
        jobs: The most tasks at a time.

    Raises:
        UsageError: Ray is not installed, or the cluster does not answer.
    """

    def __init__(self, grader: Grader, open_sandbox: OpenSandbox, out: Path, jobs: int) -> None:
        self._ray = _ray()
        self._ours = _connect(self._ray)
        self._grader, self._out, self._free = grader, out, jobs
        self._lock = RLock()
        self._waiting: deque[tuple[WorkItem, Future[Answer]]] = deque()
        self._under_way: dict[Future[Answer], Any] = {}
        alone = grader.with_sandbox(None)  # type: ignore[arg-type]  # each worker has its own
        self._batch = os.urandom(8).hex()
        self._shared = self._ray.put((alone, open_sandbox))
        self._task = self._ray.remote(max_retries=_RETRIES)(_perform)
        self._gpus = max((planned.process.cuda for planned in grader.plan), default=0)

    def submit(self, work: WorkItem) -> Future[Answer]:
        """See ``Workers.submit``."""
        future: Future[Answer] = Future()
        with self._lock:
            self._waiting.append((work, future))
            self._begin()
        return future

    def close(self, finished: bool) -> None:
        """See ``Workers.close``."""
        with self._lock:
            self._waiting.clear()
            under_way = list(self._under_way.values())
        if not finished:
            for reference in under_way:
                self._ray.cancel(reference, force=True)
        if self._ours:
            self._ray.shutdown()

    def _begin(self) -> None:
        while self._waiting and self._free:
            self._free -= 1
            work, future = self._waiting.popleft()
            gpus = self._gpus if work.kind is WorkKind.GRADE else 0
            task = self._task.options(name=work.submission.name, num_cpus=1, num_gpus=gpus)
            reference = task.remote(self._shared, self._batch, work)
            self._under_way[future] = reference
            reference.future().add_done_callback(partial(self._ended, work, future))

    def _ended(self, work: WorkItem, future: Future[Answer], done: Future[Answer]) -> None:
        """Hand an answer on; Ray calls this, in a thread of its own."""
        try:
            answer = self._answer(done, work)
            if not isinstance(answer, str):
                write(answer.report, self._out)
        except Exception as error:  # noqa: BLE001  it is raised where the answer is waited for
            future.set_exception(error)
        else:
            future.set_result(answer)
        with self._lock:
            self._free += 1
            del self._under_way[future]
            self._begin()

    def _answer(self, done: Future[Answer], work: WorkItem) -> Answer:
        error = done.exception()
        if error is None:
            return done.result()
        if isinstance(error, self._ray.exceptions.RayTaskError):
            # The grader's own exception on a node, and no sign of the submission: it stops the
            # class and costs nobody points.
            raise InfrastructureError(f"a Ray worker failed: {error.cause}") from error
        if work.kind is WorkKind.READ:
            return ""
        reason = _SYSTEM.format(retries=_RETRIES, error=str(error).partition("\n")[0])
        report = self._grader.not_read(work.submission.name, reason).report
        return without_run(self._grader, work, report, self._out)


def _ray() -> Any:
    """Return Ray's module, which takes a second to import."""
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise UsageError(
            "--engine ray needs Ray: pip install 'ray>=2.10'; or leave --engine out"
        ) from None


def _connect(ray: Any) -> bool:
    """Reach a cluster; return whether it has to be left again."""
    # Tensors of kept observations are views of bytes, which pickles do not know.
    copyreg.pickle(memoryview, lambda view: (memoryview, (bytes(view),)))
    if ray.is_initialized():
        return False
    # Nothing about a class goes out to whoever makes Ray.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(log_to_driver=False, include_dashboard=False, logging_level=logging.WARNING)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise UsageError(f"--engine ray: no cluster can be reached: {error}") from error
    return True


def _perform(shared: tuple[Grader, OpenSandbox], batch: str, work: WorkItem) -> Answer:
    """Do work on a node; the first of a batch in a worker process opens its sandbox."""
    if batch not in _graders:
        grader, open_sandbox = shared
        sandbox = open_sandbox()
        atexit.register(sandbox.close)
        _graders[batch] = grader.with_sandbox(sandbox)
    with tempfile.TemporaryDirectory() as scratch:
        # The reports are written where the batch was begun.
        return perform(_graders[batch], work, Path(scratch))
