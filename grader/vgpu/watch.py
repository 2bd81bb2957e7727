"""Watching what devices do for a while, virtual ones where they are installed, else real ones."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType

import torch

from grader.vgpu.machine import Machine, installed
from grader.vgpu.recorder import Recorder
from grader.vgpu.summary import summarise
from grader.wire.values import Value


class Watch(AbstractContextManager["Watch"]):
    """A context in which is noted what devices do; one may stand inside another.

    Args:
        machine: Virtual devices to watch; where absent those in force, else the real ones.

    Attributes:
        report: What happened, in plain values (``grader.vgpu.summary``); empty until the end.

    Raises:
        RuntimeError: There is no GPU, neither virtual nor real.
    """

    def __init__(self, machine: Machine | None = None) -> None:
        self.report: dict[Value, Value] = {}
        self._machine = machine or installed()
        if self._machine is None and not torch.cuda.is_available():
            raise RuntimeError("no GPU to watch; does the question say needs: {cuda: 1}?")
        self._recorder = Recorder() if self._machine is None else None
        self._start = 0

    def __enter__(self) -> Watch:
        if self._machine is not None:
            self._start = self._machine.trace.count
        if self._recorder is not None:
            self._recorder.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._machine is not None:
            self.report = self._virtual(self._machine)
        if self._recorder is not None:
            self._recorder.__exit__(kind, error, trace)
            self.report = self._recorder.report()

    def _virtual(self, machine: Machine) -> dict[Value, Value]:
        total = summarise(machine.trace.since(self._start))
        memories = {name: machine.memory(number) for number, name in enumerate(machine.names)}
        held = {
            name: total.held(name, memory.live, memory.limit) for name, memory in memories.items()
        }
        return total.report(held, real=False)


def watching() -> Watch:
    """Watch what devices do inside a ``with`` block; ``.report`` of its target tells afterwards."""
    return Watch()
