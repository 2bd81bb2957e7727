"""Changing torch, and putting it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from typing import Any

_ABSENT = object()


class Patches:
    """Attributes that were set in place of torch's own."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a module or class; remember what ``owner`` itself had there."""
        self._before.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> Any:
        """Set ``make(original)`` under the original's name and text, and return it.

        The name matters: a function mode, which counts calls, is told the attribute that is there.
        """
        original = getattr(owner, name)
        made = update_wrapper(make(original), original)
        self.set(owner, name, made)
        return made

    @property
    def changed(self) -> list[tuple[Any, str]]:
        """Owner and name of all that is set, in order."""
        return [(owner, name) for owner, name, _ in self._before]

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Put back what was there for the length of a ``with``."""
        changed = list(self._before)
        now = [vars(owner)[name] for owner, name, _ in changed]
        for owner, name, before in reversed(changed):
            _put(owner, name, before)
        try:
            yield
        finally:
            for (owner, name, _), value in zip(changed, now, strict=True):
                setattr(owner, name, value)

    def undo(self) -> None:
        """Put back what was there, the last change first."""
        while self._before:
            _put(*self._before.pop())


def _put(owner: Any, name: str, value: Any) -> None:
    if value is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, value)
