"""The forms that an argument of a case may take: tensors, sizes, tuples, lists, plain values."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Annotated, Any, Union

from pydantic import Discriminator, Tag
from typing_extensions import TypeAliasType

from grader.assignment.base import Frozen
from grader.assignment.dims import Expression
from grader.assignment.tensors import FIXED_FORMS, RANDOM_FORMS, FixedTensor, RandomTensor

FORMS = (*RANDOM_FORMS, *FIXED_FORMS, "value", "tuple")


class Computed(Frozen):
    """A Python int computed from the case's dims, such as ``{value: "2*N"}``.

    Attributes:
        value: A number, or arithmetic on numbers and names of dims.
    """

    value: Expression


class TupleOf(Frozen):
    """A Python tuple; a YAML list is a Python list.

    Attributes:
        tuple: Its items.
    """

    tuple: list[Argument]


def branch(value: Any) -> str | None:
    """Return the tag of the form that a raw argument is meant to have, None where none fits."""
    if isinstance(value, dict):
        return _branch_of_keys(value)
    if isinstance(value, (RandomTensor, FixedTensor, Computed, TupleOf)):
        return f"<{type(value).__name__}>"
    if isinstance(value, list):
        return "<list>"
    return "<plain>" if value is None or isinstance(value, (bool, int, float, str)) else None


def _branch_of_keys(keys: Iterable[Any]) -> str | None:
    words = [str(key) for key in keys]
    guesses = [match for word in words for match in get_close_matches(word, FORMS, 1, 0.5)]
    found = next((word for word in (*words, *guesses) if word in FORMS), None)
    return None if found is None else _FORM_TAGS[found]


_FORM_TAGS = {
    **dict.fromkeys(RANDOM_FORMS, "<RandomTensor>"),
    **dict.fromkeys(FIXED_FORMS, "<FixedTensor>"),
    "value": "<Computed>",
    "tuple": "<TupleOf>",
}

Argument = TypeAliasType(
    "Argument",
    Annotated[
        Union[
            Annotated[Union[bool, int, float, str, None], Tag("<plain>")],
            Annotated[RandomTensor, Tag("<RandomTensor>")],
            Annotated[FixedTensor, Tag("<FixedTensor>")],
            Annotated[Computed, Tag("<Computed>")],
            Annotated[TupleOf, Tag("<TupleOf>")],
            Annotated["list[Argument]", Tag("<list>")],
        ],
        Discriminator(
            branch,
            custom_error_type="expected",
            custom_error_message=f"a number, text, list, or one of {{{', '.join(FORMS)}: …}}",
        ),
    ],
)
TupleOf.model_rebuild()
