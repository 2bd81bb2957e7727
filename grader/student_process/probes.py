"""What is counted while a submission's function runs, in calls made for nothing else.

All of it is said by the process that runs the submission: claims, which hostile code could forge.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import CodeType, FrameType
from typing import Any

import torch

from grader.student_process.operations import ESCAPES, FunctionCalls, Operations, memories
from grader.wire.values import Value

MAX_EVENTS = 100_000
"""Events after which enough is known; the call is then ended from inside."""

# Text that libraries compile from no file: counted, it would be a loop that no student wrote.
_LIBRARY = ("<frozen", "<__array_function__", "<eval_with_key", "<torch")
# Python gives 0, 1, 2 and 5 to debuggers, coverage, profilers and optimizers.
_TOOL = 4


class Enough(BaseException):
    """Ends a call that has run more lines than will be counted; not an error."""


class Lines:
    """A context in which lines of the submission are counted; so is every entry into its functions.

    Text that a submission runs by ``exec`` is its own too: whatever was compiled from no file.

    Args:
        files: Path of a submitted file → what to call it.
        printing: Tells whether a tensor is being printed: torch has text of its own for that.

    Attributes:
        events: Lines run and functions entered.
        lines: File, as it is called → numbers of its lines that ran.
    """

    def __init__(self, files: Mapping[str, str], printing: Callable[[], bool]) -> None:
        self._files = files
        self._printing = printing
        self._own: dict[CodeType, bool] = {}
        self._before: Any = None
        self.events = 0
        self.lines: dict[str, set[int]] = {name: set() for name in ("", *files.values())}
        self.capped = False

    def __enter__(self) -> Lines:
        if sys.version_info >= (3, 12):
            self._monitor(sys.monitoring)
        else:
            self._before = sys.gettrace()
            # Both: this one is for threads that are yet to start, the other for the thread that
            # calls.
            threading.settrace(self._trace)
            sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        if sys.version_info >= (3, 12):
            sys.monitoring.set_events(_TOOL, 0)
            sys.monitoring.free_tool_id(_TOOL)
        else:
            sys.settrace(self._before)
            threading.settrace(None)

    def _is_own(self, code: CodeType) -> bool:
        known = self._own.get(code)
        if known is None:
            name = code.co_filename
            known = name in self._files or (name.startswith("<") and not name.startswith(_LIBRARY))
            self._own[code] = known
        return known

    def _note(self, code: CodeType, line: int) -> None:
        if code.co_filename.startswith("<") and self._printing():
            return
        self.events += 1
        if not code.co_filename.startswith("<"):
            self.lines[self._files[code.co_filename]].add(line)
        # Once: raised at every further line, it would break the submission's own clean-up.
        if self.events > MAX_EVENTS and not self.capped:
            self.capped = True
            raise Enough

    # -- 3.10 and 3.11 ------------------------------------------------------------------------

    def _trace(self, frame: FrameType, _: str, __: Any) -> Any:
        if not self._is_own(frame.f_code):
            return None
        self._note(frame.f_code, frame.f_lineno)
        return self._line

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            self._note(frame.f_code, frame.f_lineno)
        return self._line

    # -- 3.12 and later -----------------------------------------------------------------------

    def _monitor(self, monitoring: Any) -> None:
        events = monitoring.events
        monitoring.use_tool_id(_TOOL, "lines")
        monitoring.register_callback(_TOOL, events.LINE, self._at_line)
        # JUMP too: a loop on a single line causes no further LINE event, however often it turns.
        for event in (events.PY_START, events.PY_RESUME, events.JUMP):
            monitoring.register_callback(_TOOL, event, self._at_offset)
        monitoring.set_events(_TOOL, events.LINE | events.PY_START | events.PY_RESUME | events.JUMP)
        # An earlier count may have disabled events of the same code objects; without this they
        # would stay silent and every later count be too low.
        monitoring.restart_events()

    def _at_line(self, code: CodeType, line: int) -> Any:
        return self._note(code, line) if self._is_own(code) else self._disable()

    def _at_offset(self, code: CodeType, *_: Any) -> Any:
        if not self._is_own(code):
            return self._disable()
        return self._note(code, code.co_firstlineno)

    def _disable(self) -> Any:
        return sys.monitoring.DISABLE  # type: ignore[attr-defined, unused-ignore]


_MOST_NAMES = 500
_MOST_LINES = 5_000


class Counting:
    """A context manager around one call.

    ``files`` says what to call each submitted file: nothing, for the one that is called.
    """

    def __init__(self, files: Mapping[str, str], inputs: Iterable[torch.Tensor]) -> None:
        self._calls = FunctionCalls(inputs)
        self._operations = Operations(self._calls)
        self._lines = Lines(files, lambda: self._calls.quiet)
        self._stack = ExitStack()
        self._in_threads: list[Operations] = []

    def __enter__(self) -> Counting:
        self._stack.enter_context(self._threads_watched())
        # Lines last: what the modes themselves do in Python is no line of the submission.
        for context in (self._operations, self._calls, self._lines):
            self._stack.enter_context(context)
        return self

    @contextmanager
    def _threads_watched(self) -> Iterator[None]:
        """Count in threads that are started meanwhile, too: a mode holds for one thread alone."""
        start = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

        def watched(thread: threading.Thread) -> None:
            # Counters are shared; what is being called just now is not the same in two threads.
            calls = FunctionCalls(())
            calls.calls, calls.escapes = self._calls.calls, self._calls.escapes
            calls.log = self._calls.log
            operations = Operations(calls)
            operations.ops, operations.under = self._operations.ops, self._operations.under
            self._in_threads.append(operations)
            with operations, calls:
                start(thread)

        threading.Thread._bootstrap_inner = watched  # type: ignore[attr-defined]
        try:
            yield
        finally:
            threading.Thread._bootstrap_inner = start  # type: ignore[attr-defined]

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self._stack.close()
        # A BaseException, which no “except Exception” in a submission stops. Swallowed here alone.
        return kind is Enough

    def descended(self, result: Any, leaves: frozenset[str] = frozenset()) -> Counter[str]:
        """Return the work from which a result descends: operation and work of one → of all such.

        By memory, backwards. Memory that an operation took for its result held another's before.

        Args:
            result: What was returned.
            leaves: What counts as part of the result, too: ways out of torch.
        """
        works: Counter[str] = Counter()
        alive = memories(result)
        for name, work, read, made in reversed(self._calls.log):
            if name in leaves or alive & made:
                alive = alive - (made - read) | read
                works[f"{name} {work}"] += work
        return works

    def report(self, result: Any = None) -> dict[Value, Value]:
        """Return what was counted, and what of it the result of the call descends from."""
        lines = self._lines.lines.items()
        ran: dict[Value, Value] = {
            name: list[Value](sorted(at)[:_MOST_LINES]) for name, at in lines
        }
        counted = [self._operations, *self._in_threads]
        return {
            "events": self._lines.events,
            "lines": ran.pop(""),
            "beside": ran,
            "capped": self._lines.capped,
            "calls": _counts(self._calls.calls),
            "escapes": _counts(self._calls.escapes),
            "ops": _counts(self._operations.ops),
            "under": {
                name: list[Value](sorted(under))
                for name, under in list(self._operations.under.items())[:_MOST_NAMES]
            },
            "bare": sum(item.bare for item in counted),
            "greatest": max(item.greatest for item in counted),
            "descended": _counts(self.descended(result)),
            "left": _counts(self.descended(result, ESCAPES | {"_local_scalar_dense"})),
        }


def _counts(counter: Counter[str]) -> dict[Value, Value]:
    return dict(counter.most_common(_MOST_NAMES))
