"""Which lines of a hand-in run, and how often, in all of its threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any

MAX_EVENTS = 100_000
"""Events after which enough is known; the call is then ended from inside."""

_LIBRARY = ("<frozen", "<__array_function__", "<eval_with_key", "<torch")
_TOOL = 4


class Enough(BaseException):
    """Ends a call that has run more lines than will be counted; not an error."""


class Lines:
    """A context in which lines of the hand-in are counted; so is every entry into its functions.

    Text that a hand-in runs by ``exec`` is its own too: whatever was compiled from no file.

    Args:
        files: Paths of the submitted files.
        printing: Tells whether a tensor is being printed: torch has text of its own for that.

    Attributes:
        events: Lines run and functions entered.
        lines: Numbers of the submitted file's lines that ran.
        others: Threads that ran already and cannot be watched.
    """

    def __init__(self, files: Iterable[str], printing: Callable[[], bool]) -> None:
        self._files = frozenset(files)
        self._printing = printing
        self._own: dict[CodeType, bool] = {}
        self._before: Any = None
        self.events = 0
        self.lines: set[int] = set()
        self.others = 0
        self.capped = False

    def __enter__(self) -> Lines:
        if sys.version_info >= (3, 12):
            self._monitor(sys.monitoring)
        else:
            self.others = threading.active_count() - 1
            self._before = sys.gettrace()
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
            self.lines.add(line)
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
        for event in (events.PY_START, events.PY_RESUME, events.JUMP):
            monitoring.register_callback(_TOOL, event, self._at_offset)
        monitoring.set_events(_TOOL, events.LINE | events.PY_START | events.PY_RESUME | events.JUMP)
        monitoring.restart_events()

    def _at_line(self, code: CodeType, line: int) -> Any:
        return self._note(code, line) if self._is_own(code) else self._disable()

    def _at_offset(self, code: CodeType, *_: Any) -> Any:
        if not self._is_own(code):
            return self._disable()
        return self._note(code, code.co_firstlineno)

    def _disable(self) -> Any:
        return sys.monitoring.DISABLE  # type: ignore[attr-defined, unused-ignore]
