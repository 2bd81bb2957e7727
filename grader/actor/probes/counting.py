"""All counts of one call, taken together and told as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from functools import cache

import torch

from grader.actor.probes.lines import Enough, Lines
from grader.actor.probes.operations import FunctionCalls, Operations
from grader.wire.values import Value

COUNTING = "counting"
"""The probe's name on the wire."""

_MOST_NAMES = 500
_MOST_LINES = 5_000


class Counting:
    """A context manager around one call.

    Args:
        files: Paths of the submitted files.
        inputs: Tensors that the call gets.
    """

    def __init__(self, files: Iterable[str], inputs: Iterable[torch.Tensor]) -> None:
        self._calls = FunctionCalls(inputs)
        self._operations = Operations(self._calls)
        self._lines = Lines(files, lambda: self._calls.quiet)
        self._stack = ExitStack()

    def __enter__(self) -> Counting:
        # Lines last: what the modes themselves do in Python is no line of the hand-in, but slower.
        for context in (self._operations, self._calls, self._lines):
            self._stack.enter_context(context)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self._stack.close()
        return kind is Enough

    def report(self) -> dict[Value, Value]:
        """Return what was counted."""
        return {
            "events": self._lines.events,
            "lines": list[Value](sorted(self._lines.lines)[:_MOST_LINES]),
            "capped": self._lines.capped,
            "threads": self._lines.others,
            "calls": _counts(self._calls.calls),
            "escapes": _counts(self._calls.escapes),
            "ops": _counts(self._operations.ops),
            "under": {
                name: list[Value](sorted(under))
                for name, under in list(self._operations.under.items())[:_MOST_NAMES]
            },
            "bare": self._operations.bare,
            "work": self._operations.work,
            "greatest": self._operations.greatest,
        }


@cache
def warm() -> None:
    """Count something, once, so that what torch imports for its modes is imported by then."""
    with Counting((), ()):
        torch.zeros(1) + 1


def _counts(counter: Counter[str]) -> dict[Value, Value]:
    return dict(counter.most_common(_MOST_NAMES))
