"""What the fields of messages may hold."""

from __future__ import annotations

from collections.abc import Callable

from grader.wire.values import Value

TEXT_CAP = 20_000
"""Characters of any text that a guest says about itself (traces, messages, names)."""

Check = Callable[[Value], bool]


def text(value: Value) -> bool:
    """A string of bounded length."""
    return isinstance(value, str) and len(value) <= TEXT_CAP


def source(value: Value) -> bool:
    """A string of any length."""
    return isinstance(value, str)


def texts(value: Value) -> bool:
    """A tuple of texts."""
    return isinstance(value, tuple) and all(text(item) for item in value)


def mapping(check: Check) -> Check:
    """A dict with texts as keys."""
    return lambda value: (
        isinstance(value, dict) and all(text(key) and check(item) for key, item in value.items())
    )


def flag(value: Value) -> bool:
    """True or false."""
    return isinstance(value, bool)


def natural(value: Value) -> bool:
    """A number from 0 up to 2³¹."""
    return type(value) is int and 0 <= value < 2**31


def data(value: Value) -> bool:
    """Bytes."""
    return isinstance(value, (bytes, bytearray, memoryview))


def anything(_: Value) -> bool:
    """Any value."""
    return True


def items(value: Value) -> bool:
    """A tuple of values."""
    return isinstance(value, tuple)


def optional(check: Check) -> Check:
    """None, or what another check takes."""
    return lambda value: value is None or check(value)


FAULT: dict[str, Check] = {
    "type": text, "message": text, "file": text, "line": natural, "column": natural,
    "trace": text,
}  # fmt: skip
"""Fields of an exception."""


def is_fault(value: Value) -> bool:
    """The fields of an exception."""
    return (
        isinstance(value, dict)
        and set(value) == set(FAULT)
        and all(check(value[name]) for name, check in FAULT.items())
    )
