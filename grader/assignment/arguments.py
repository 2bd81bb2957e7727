"""The forms that an argument of a case may take, and how large its tensors come out.

Rules that concern one tensor alone are kept here; what concerns a whole question is in
``grader.assignment.rules``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Union

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator
from typing_extensions import TypeAliasType

from grader.assignment.dims import AssignmentPart, Expression, Size, evaluate, names_in
from grader.assignment.document import DocumentPath
from grader.errors import nearest
from grader.wire.values import ITEMSIZE, MAX_RANK, nbytes

INTEGER_RANGE: dict[str, tuple[int, int]] = {
    "bool": (0, 1),
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
}
"""Least and greatest value of the whole-number dtypes."""
PRECISION = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}
"""Bits of the significand of the floating dtypes; whole numbers up to 2 to that power are exact."""

LARGEST = 2**1023
"""Whole numbers beyond it have no float64."""

RANDOM_FORMS = ("randn", "rand", "integers", "permutation")
FIXED_FORMS = ("tensor", "zeros", "ones", "arange")


def _check_dtype(name: str) -> str:
    if name in INTEGER_RANGE or name in PRECISION:
        return name
    if name in ITEMSIZE:
        raise ValueError(f"{name} cannot be written here; make it in a generate function")
    bare = name.removeprefix("torch.")
    known = (*INTEGER_RANGE, *PRECISION)
    hint = f"; did you mean “{bare}”?" if bare in known else nearest(bare, known)
    raise ValueError(f"unknown dtype “{name}”; expected one of {', '.join(known)}{hint}")


SymbolicShape = Annotated[tuple[Size, ...], Field(max_length=MAX_RANK)]
InputDType = Annotated[
    str,
    AfterValidator(_check_dtype),
    Field(json_schema_extra={"enum": [*INTEGER_RANGE, *PRECISION]}),
]


def _one_form(tensor: AssignmentPart, forms: tuple[str, ...]) -> str:
    found = [form for form in forms if getattr(tensor, form) is not None]
    if len(found) != 1:
        what = " and ".join(f"“{form}”" for form in found) or "none"
        raise ValueError(f"found {what}; expected exactly one of {', '.join(forms)}")
    return found[0]


def exact_range(dtype: str) -> tuple[int, int]:
    """Return the least and greatest whole number up to which a dtype holds every one exactly."""
    if dtype in INTEGER_RANGE:
        return INTEGER_RANGE[dtype]
    # Beyond, a float holds every second number at most: two that were drawn would become one.
    return -(2 ** PRECISION[dtype]), 2 ** PRECISION[dtype]


def _check_range(low: int, high: int, dtype: str) -> None:
    """Refuse a range of whole numbers that is empty, or that a dtype does not hold exactly."""
    if low > high:
        raise ValueError(f"low {low} is greater than high {high}")
    least, greatest = exact_range(dtype)
    if low < least or high > greatest:
        raise ValueError(
            f"low {low} … high {high} is beyond the whole numbers that {dtype} holds exactly,"
            f" {least} … {greatest}"
        )


class RandomTensor(AssignmentPart):
    """A drawn tensor: exactly one of ``randn``, ``rand``, ``integers``, ``permutation``.

    Attributes:
        randn: Shape; standard normal.
        rand: Shape; uniform on [0, 1).
        integers: Shape; uniform on ``low``…``high``, both ends included.
        permutation: Size of a random permutation of 0…n−1.
        low: Least of ``integers``; a number, or arithmetic on dims.
        high: Greatest of ``integers``; likewise, such as ``C-1``.
        scale: Multiplies ``randn`` and ``rand``.
        shift: Added after scaling.
        dtype: Torch's name for the dtype; float32, or int64 for ``integers`` and ``permutation``,
            where absent.
    """

    randn: SymbolicShape | None = None
    rand: SymbolicShape | None = None
    integers: SymbolicShape | None = None
    permutation: Size | None = None
    low: Expression = 0
    high: Expression = 9
    scale: float = Field(default=1.0, allow_inf_nan=False)
    shift: float = Field(default=0.0, allow_inf_nan=False)
    dtype: InputDType | None = None

    @property
    def form(self) -> str:
        """The one form that is given."""
        return next(form for form in RANDOM_FORMS if getattr(self, form) is not None)

    @property
    def drawn_dtype(self) -> str:
        """The dtype, its default filled in."""
        return self.dtype or ("float32" if self.form in ("randn", "rand") else "int64")

    @model_validator(mode="after")
    def _consistent(self) -> RandomTensor:
        form = _one_form(self, RANDOM_FORMS)
        real = form in ("randn", "rand")
        allowed = ("scale", "shift") if real else ("low", "high") if form == "integers" else ()
        for key in ("low", "high", "scale", "shift"):
            if key in self.model_fields_set and key not in allowed:
                raise ValueError(f"“{key}” has no meaning with “{form}”; remove it")
        if real and self.drawn_dtype not in PRECISION:
            raise ValueError(f"{form} draws real numbers, {self.dtype} cannot hold them")
        # What names dims is checked once these have values.
        if form == "integers" and isinstance(self.low, int) and isinstance(self.high, int):
            _check_range(self.low, self.high, self.drawn_dtype)
        return self


class FixedTensor(AssignmentPart):
    """A tensor that is the same in every draw: exactly one of the forms below.

    Attributes:
        tensor: Nested lists of numbers or booleans, or one number.
        zeros: Shape.
        ones: Shape.
        arange: Number of elements, 0…n−1; ``shape`` reshapes them.
        shape: Shape of ``arange``; one row of all elements where absent.
        dtype: Torch's name for the dtype; float32 (int64 for whole numbers in ``tensor`` and for
            ``arange``, bool for booleans) where absent.
    """

    tensor: Any = None
    zeros: SymbolicShape | None = None
    ones: SymbolicShape | None = None
    arange: Size | None = None
    shape: SymbolicShape | None = None
    dtype: InputDType | None = None

    @property
    def form(self) -> str:
        """The one form that is given."""
        return next(form for form in FIXED_FORMS if getattr(self, form) is not None)

    @property
    def drawn_dtype(self) -> str:
        """The dtype, its default filled in."""
        if self.dtype is not None or self.form in ("zeros", "ones"):
            return self.dtype or "float32"
        if self.form == "arange":
            return "int64"
        # By type(), not isinstance(): True is an int, and a mask would become a tensor of int64.
        kinds = {type(value) for value in leaves(self.tensor)}
        return "bool" if kinds == {bool} else "int64" if kinds == {int} else "float32"

    @model_validator(mode="after")
    def _consistent(self) -> FixedTensor:
        form = _one_form(self, FIXED_FORMS)
        if self.shape is not None and form != "arange":
            raise ValueError(f"“shape” has no meaning with “{form}”; remove it")
        if form == "tensor":
            if len(shape_of_lists(self.tensor)) > MAX_RANK:
                raise ValueError(f"more than {MAX_RANK} lists inside one another")
            _check_leaves(leaves(self.tensor), self.drawn_dtype)
        return self


def shape_of_lists(nested: Any) -> tuple[int, ...]:
    """Return the shape of nested lists.

    Raises:
        ValueError: Lists beside one another differ in length or depth.
    """
    if not isinstance(nested, list):
        return ()
    shapes = {shape_of_lists(item) for item in nested}
    if len(shapes) > 1:
        raise ValueError("rows of different lengths; a tensor needs them equal")
    return (len(nested), *(shapes.pop() if shapes else ()))


def leaves(nested: Any) -> list[Any]:
    """Return the numbers in nested lists, in C order."""
    if not isinstance(nested, list):
        return [nested]
    return [leaf for item in nested for leaf in leaves(item)]


def _check_leaves(values: list[Any], dtype: str) -> None:
    kinds = {type(value) for value in values}
    if not kinds <= {bool, int, float} or (bool in kinds and len(kinds) > 1):
        raise ValueError("expected numbers only, or booleans only")
    least, greatest = INTEGER_RANGE.get(dtype, (-LARGEST, LARGEST))
    for value in values:
        if dtype not in INTEGER_RANGE and type(value) is float:
            continue
        if not least <= value <= greatest or value != int(value):
            raise ValueError(f"{value} does not fit into {dtype} ({least} … {greatest})")


FORMS = (*RANDOM_FORMS, *FIXED_FORMS, "value", "tuple")


class Computed(AssignmentPart):
    """A Python int computed from the case's dims, such as ``{value: "2*N"}``.

    Attributes:
        value: A number, or arithmetic on numbers and names of dims.
    """

    value: Expression


class TupleOf(AssignmentPart):
    """A Python tuple; a YAML list is a Python list.

    Attributes:
        tuple: Its items.
    """

    tuple: list[Argument]


def branch(value: Any) -> str | None:
    """Return the tag of the form that a raw argument is meant to have, None where none fits."""
    if isinstance(value, dict):
        # A mistyped form still leads to its branch: the error then names the key, not all the
        # forms.
        words = [str(key) for key in value]
        guesses = [match for word in words for match in get_close_matches(word, FORMS, 1, 0.5)]
        found = next((word for word in (*words, *guesses) if word in FORMS), None)
        return None if found is None else _FORM_TAGS[found]
    if isinstance(value, (RandomTensor, FixedTensor, Computed, TupleOf)):
        return f"<{type(value).__name__}>"
    if isinstance(value, list):
        return "<list>"
    return "<plain>" if value is None or isinstance(value, (bool, int, float, str)) else None


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


MAX_BYTES = 1 << 30
"""Most bytes that the inputs of one call may take together."""
SizedPart = Union[RandomTensor, FixedTensor, Computed]
"""What in an argument depends on dims."""
Symbolic = tuple[DocumentPath, SizedPart]


def symbolic_parts(argument: Argument, path: DocumentPath = ()) -> Iterator[Symbolic]:
    """Yield every tensor and computed number inside an argument, with its path from there."""
    if isinstance(argument, (RandomTensor, FixedTensor, Computed)):
        yield path, argument
    elif isinstance(argument, TupleOf):
        yield from symbolic_parts(argument.tuple, (*path, "tuple"))
    elif isinstance(argument, list):
        for index, item in enumerate(argument):
            yield from symbolic_parts(item, (*path, index))


def shape_of(tensor: RandomTensor | FixedTensor, dims: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape of a tensor.

    Args:
        tensor: As the assignment describes it.
        dims: The size of each name.

    Raises:
        ValueError: A size is negative or cannot be computed, or ``shape`` does not fit ``arange``.
    """
    given = getattr(tensor, tensor.form)
    if tensor.form == "tensor":
        return shape_of_lists(given)
    if tensor.form in ("arange", "permutation"):
        return _reshaped(tensor, _size(given, dims), dims)
    return tuple(_size(size, dims) for size in given)


def bytes_of(part: SizedPart, dims: Mapping[str, int]) -> int:
    """Return the bytes that a tensor takes, 0 for a number; raises as ``shape_of`` does."""
    if isinstance(part, Computed):
        evaluate(part.value, dims)
        return 0
    if isinstance(part, RandomTensor) and part.form == "integers":
        range_of(part, dims)
    return nbytes(part.drawn_dtype, shape_of(part, dims))


def range_of(tensor: RandomTensor, dims: Mapping[str, int]) -> tuple[int, int]:
    """Return the least and the greatest number of ``integers``.

    Raises:
        ValueError: A bound cannot be computed, or there is no such number in the tensor's dtype.
    """
    low, high = evaluate(tensor.low, dims), evaluate(tensor.high, dims)
    try:
        _check_range(low, high, tensor.drawn_dtype)
    except ValueError as error:
        raise ValueError(f"{error}{_with(dims)}") from None
    return low, high


def names_of(part: SizedPart) -> frozenset[str]:
    """Return the dims that a tensor or number refers to."""
    if isinstance(part, Computed):
        return names_in(part.value)
    given = () if part.form == "tensor" else getattr(part, part.form)
    shape = part.shape if isinstance(part, FixedTensor) and part.shape else ()
    sizes = (*(given if isinstance(given, tuple) else (given,)), *shape)
    ends = (part.low, part.high) if isinstance(part, RandomTensor) else ()
    return frozenset(name for size in (*sizes, *ends) for name in names_in(size))


def _reshaped(
    tensor: RandomTensor | FixedTensor, count: int, dims: Mapping[str, int]
) -> tuple[int, ...]:
    if count - 1 > exact_range(tensor.drawn_dtype)[1]:
        raise ValueError(f"0…{count - 1} do not fit into {tensor.drawn_dtype}{_with(dims)}")
    wanted = tensor.shape if isinstance(tensor, FixedTensor) else None
    if wanted is None:
        return (count,)
    shape = tuple(_size(size, dims) for size in wanted)
    if math.prod(shape) != count:
        raise ValueError(f"{count} elements do not fill the shape {list(shape)}{_with(dims)}")
    return shape


def _size(size: int | str, dims: Mapping[str, int]) -> int:
    value = evaluate(size, dims)
    if value < 0:
        raise ValueError(f"the size “{size}” is {value}{_with(dims)}")
    return value


def _with(dims: Mapping[str, int]) -> str:
    sizes = ", ".join(f"{name}={size}" for name, size in sorted(dims.items()))
    return f" where {sizes}" if sizes else ""
