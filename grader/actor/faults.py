"""An exception in words, whatever the exception's own code does when asked for them."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType

from grader.wire.messages import Fault
from grader.wire.values import TEXT_CAP

_MESSAGE_CAP = 2_000
_FRAMES = 30
_MAX_POSITION = 2**31

_name_of = type.__dict__["__name__"].__get__
"""The name that a class was made with: a metaclass may have put code behind ``__name__``."""


def describe(error: BaseException, scratch: Path) -> Fault:
    """Return a bounded description; ``file`` and ``line`` point into the submitted code.

    Args:
        error: What was raised. Its ``__str__`` may raise, recurse or return gigabytes.
        scratch: Folder of the submitted files.
    """
    try:
        file, line, column = _position(error, scratch)
    except BaseException:  # noqa: BLE001  its attributes are the hand-in's own code
        file, line, column = "", 0, 0
    return Fault(
        type=_plain(_name_of(type(error)))[:200],
        message=_guarded(lambda: _message(error))[:_MESSAGE_CAP],
        file=file,
        line=line,
        column=column,
        trace=_guarded(lambda: _trace(error))[:TEXT_CAP],
    )


def _guarded(make: object) -> str:
    try:
        text = make()  # type: ignore[operator]
    except BaseException as second:  # noqa: BLE001  the exception is the hand-in's own code
        return f"<no text: {_plain(_name_of(type(second)))} while making it>"
    return _plain(text)


def _plain(text: str) -> str:
    # Lone surrogates travel through JSON escapes, but not into every file that text ends up in.
    # The base class's method: a subclass of str may have its own.
    return str.encode(text, "utf-8", "backslashreplace").decode("utf-8")


def _message(error: BaseException) -> str:
    # A syntax error's text repeats file and line, which have fields of their own.
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _trace(error: BaseException) -> str:
    return "".join(
        traceback.TracebackException(
            type(error), error, error.__traceback__, limit=-_FRAMES, compact=True
        ).format()
    )


def _position(error: BaseException, scratch: Path) -> tuple[str, int, int]:
    if isinstance(error, SyntaxError):
        file = Path(str(error.filename or "")).name[:200]
        return file, _natural(error.lineno), _natural(error.offset)
    found = ("", 0)
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if path.parent == scratch:
            found = (path.name[:200], trace.tb_lineno)
        trace = trace.tb_next
    return found[0], found[1], 0


def _natural(number: object) -> int:
    return number if type(number) is int and 0 < number < _MAX_POSITION else 0
