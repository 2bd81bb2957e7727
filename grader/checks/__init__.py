"""Check kinds: one file a family, one class a kind, each with a pure judge.

A class in one of these files that fixes its ``kind`` is a check kind; nothing else lists it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from inspect import isclass
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, Union

from pydantic import Field

from grader.checks.base import CaseInputs, Check, CompanionNeeds, Probe


def _find_kinds() -> dict[str, type[Check]]:
    """Import every file beside this one, and return its check kinds, in the order of their names.

    Raises:
        TypeError: Two classes bear one kind.
    """
    found: dict[str, type[Check]] = {}
    for file in iter_modules(__path__):
        module = import_module(f"{__name__}.{file.name}")
        for cls in vars(module).values():
            # One that is imported here is met in its own file.
            if not isclass(cls) or not issubclass(cls, Check) or cls.__module__ != module.__name__:
                continue
            field = cls.model_fields.get("kind")
            if field is not None and found.setdefault(field.default, cls) is not cls:
                raise TypeError(
                    f"check kind “{field.default}” is both {found[field.default]} and {cls}"
                )
    return dict(sorted(found.items()))


KINDS: Mapping[str, type[Check]] = _find_kinds()
"""Check kinds by the word that chooses them in an assignment file."""

if TYPE_CHECKING:
    AnyCheck = Check
else:
    AnyCheck = Annotated[Union[tuple(KINDS.values())], Field(discriminator="kind")]

__all__ = ["KINDS", "AnyCheck", "CaseInputs", "Check", "CompanionNeeds", "Probe"]
