"""Processes of a training, forked beside the submission: one for each rank."""

from __future__ import annotations

import builtins
import multiprocessing
import traceback
from collections.abc import Callable
from functools import partial
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

_Failed = tuple[str, str, int]
"""Class, text and line of what a rank raised."""


def in_ranks(number: int, work: Callable[[int], Any], file: str) -> list[Any]:
    """Run ``work(0)`` … ``work(number - 1)`` in processes of their own; return what they return.

    A process that fails ends the others, and what it raised is raised here as if in its line.

    Args:
        number: How many.
        work: Gets the rank. What it returns is pickled.
        file: The submission's: its lines are told.
    """
    context = multiprocessing.get_context("fork")
    pipes: list[Connection] = []
    children = []
    for rank in range(number):
        receiving, sending = context.Pipe(duplex=False)
        child = context.Process(target=_child, args=(partial(work, rank), sending, file))
        child.start()
        sending.close()
        pipes.append(receiving)
        children.append(child)
    results: dict[int, Any] = {}
    try:
        while len(results) < number:
            waiting = [pipe for rank, pipe in enumerate(pipes) if rank not in results]
            for pipe in connection.wait(waiting):
                rank = pipes.index(pipe)  # type: ignore[arg-type]
                results[rank] = _received(pipes[rank], rank, file)
    finally:
        for child in children:
            child.kill()
            child.join()
    return [results[rank] for rank in range(number)]


def _keep_wrappers() -> None:
    """Let every DistributedDataParallel of this process live until its end.

    Torch's reducer may own the process group last, and ends it while it holds the interpreter's
    lock, for which the group's own thread may be waiting: now and then an honest worker would
    never return (seen with torch 2.13).
    """
    make, kept = DistributedDataParallel.__init__, []

    def make_and_keep(self: DistributedDataParallel, *args: Any, **kwargs: Any) -> None:
        kept.append(self)
        make(self, *args, **kwargs)

    DistributedDataParallel.__init__ = make_and_keep  # type: ignore[method-assign]


def _child(work: Callable[[], Any], sending: Connection, file: str) -> None:
    # A process that was split off while other threads ran must not start torch's own.
    torch.set_num_threads(1)
    _keep_wrappers()
    try:
        sending.send((work(), None))
    except BaseException as error:  # noqa: BLE001  whatever it is, the parent is to hear of it
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno or 0 for frame in frames if frame.filename == file]
        sending.send((None, (type(error).__name__, str(error), lines[-1] if lines else 0)))


def _received(pipe: Connection, rank: int, file: str) -> Any:
    failed: _Failed | None
    try:
        result, failed = pipe.recv()
    except EOFError:
        raise RuntimeError(f"process {rank} ended before its work was done") from None
    if failed is None:
        return result
    name, text, line = failed
    kind = getattr(builtins, name, RuntimeError)
    text = text if kind.__name__ == name else f"{name}: {text}"
    code = compile("\n" * (line - 1) + "raise error", file if line else __file__, "exec")
    exec(code, {"error": kind(f"{text} (in process {rank})")})  # noqa: S102  for file and line
    return None
