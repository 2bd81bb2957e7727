"""Symbolic sizes: numbers, names and arithmetic, and the ranges that names are drawn from."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Union

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag


class AssignmentPart(BaseModel):
    """Base of all spec types: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


MAX_EXPRESSION = 80
# No power: ``9**9**9`` is short enough to be read, and would never be done.
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}

_NonNegative = Annotated[int, Field(ge=0)]


class SizeChoice(AssignmentPart):
    """One of the listed sizes, drawn with equal chance.

    Attributes:
        choice: The sizes.
    """

    choice: tuple[_NonNegative, ...] = Field(min_length=1)


def _ordered(pair: tuple[int, int]) -> tuple[int, int]:
    low, high = pair
    if low > high:
        raise ValueError(f"low {low} is greater than high {high}; write [{high}, {low}]")
    return pair


Range = Annotated[
    tuple[_NonNegative, _NonNegative],
    AfterValidator(_ordered),
    Field(description="low and high, both included"),
]


def _form(value: Any) -> str | None:
    if isinstance(value, (dict, SizeChoice)):
        return "<choice>"
    if isinstance(value, (list, tuple)):
        return "<range>"
    return "<number>" if isinstance(value, int) else None


Dim = Annotated[
    Union[
        Annotated[_NonNegative, Tag("<number>")],
        Annotated[Range, Tag("<range>")],
        Annotated[SizeChoice, Tag("<choice>")],
    ],
    Discriminator(
        _form,
        custom_error_type="expected",
        custom_error_message="a number, [low, high], or {choice: [2, 3, 5]}",
    ),
]


def bounds(dim: int | tuple[int, int] | SizeChoice) -> tuple[int, int]:
    """Return the least and the greatest size that a dim may take."""
    if isinstance(dim, SizeChoice):
        return min(dim.choice), max(dim.choice)
    return (dim, dim) if isinstance(dim, int) else dim


def names_in(expression: int | str) -> frozenset[str]:
    """Return the names that an expression refers to."""
    if isinstance(expression, int):
        return frozenset()
    tree = ast.parse(expression, mode="eval")
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def check_expression(expression: int | str) -> int | str:
    """Return the expression if it is arithmetic on whole numbers and names.

    Raises:
        ValueError: It is not; says what is allowed.
    """
    if isinstance(expression, str):
        _check_node(_parse(expression), expression)
    return expression


def check_size(expression: int | str) -> int | str:
    """Return the expression if it may be a size: as above, and no negative number.

    Raises:
        ValueError: It may not; says why.
    """
    if isinstance(expression, int) and expression < 0:
        raise ValueError(f"found the size {expression}; a size is 0 or more")
    return check_expression(expression)


def _parse(expression: str) -> ast.expr:
    # The length is bounded because the compiler's recursion is not.
    if len(expression) <= MAX_EXPRESSION:
        try:
            return ast.parse(expression, mode="eval").body
        except (SyntaxError, ValueError):
            pass
    raise _not_a_size(expression)


def _not_a_size(text: str) -> ValueError:
    return ValueError(f"“{text[:MAX_EXPRESSION]}” is not a size such as 4, N or 2*N+1")


def _check_node(node: ast.expr, expression: str) -> None:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        _check_node(node.left, expression)
        _check_node(node.right, expression)
    elif not isinstance(node, ast.Name) and not _is_number(node):
        raise _not_a_size(expression)


def _is_number(node: ast.expr) -> bool:
    # By type(), not isinstance(): “True” would be the size 1.
    return isinstance(node, ast.Constant) and type(node.value) is int


def evaluate(expression: int | str, dims: Mapping[str, int]) -> int:
    """Return the value of an expression.

    Args:
        expression: A number, a name, or ``+ - * // %`` of them.
        dims: The value of each name.

    Raises:
        ValueError: It holds something else, a name without a value, or a division by zero.
    """
    if isinstance(expression, int):
        return expression
    try:
        return _value(_parse(expression), dims)
    except ZeroDivisionError:
        sizes = ", ".join(f"{name}={size}" for name, size in sorted(dims.items()))
        raise ValueError(f"“{expression}” divides by zero where {sizes}") from None


def _value(node: ast.expr, dims: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        try:
            return dims[node.id]
        except KeyError:
            raise ValueError(f"“{node.id}” has no size under dims") from None
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left, dims), _value(node.right, dims))
    raise _not_a_size(ast.unparse(node))


_IntOrText = Annotated[
    Union[Annotated[int, Tag("<number>")], Annotated[str, Tag("<text>")]],
    Discriminator(lambda value: "<text>" if isinstance(value, str) else "<number>"),
]
Expression = Annotated[_IntOrText, AfterValidator(check_expression)]
"""A whole number, or arithmetic on numbers and names of dims."""
Size = Annotated[_IntOrText, AfterValidator(check_size)]
"""An expression that is no negative number."""
