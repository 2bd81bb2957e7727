"""The value tree: what may cross between host and student process, and records of such values.

Python's own ``None bool int float str bytes tuple list dict`` stand for themselves; the classes
below stand for what torch has and Python has not. Neither torch nor numpy is imported here, so
that the host needs neither to read a message. How values are written is in ``grader.wire.codec``.

A record is a dataclass whose annotations say what it may hold: it is written as a dict of values,
and read back only if every field is there and of its annotated type. Messages, plans of walls and
facts about a source are records (``docs/adr/0021-one-codec-for-records.md``).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from enum import Enum
from typing import Annotated, Any, NamedTuple, TypeVar, Union, cast, get_args, get_origin

ITEMSIZE = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "int64": 8, "uint64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1, "float16": 2, "bfloat16": 2,
    "float32": 4, "float64": 8, "complex32": 4, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""Bytes per element, by torch's name for the dtype."""

MAX_RANK = 8
_MAX_BYTES = 2**62


class ProtocolError(Exception):
    """The other side sent something that is not in the protocol; says what."""


@dataclass(frozen=True, slots=True)
class DType:
    """A torch dtype by name, without the ``torch.`` prefix."""

    name: str


@dataclass(frozen=True, slots=True)
class Device:
    """A torch device, such as ``cpu`` or ``cuda:1``."""

    name: str


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a tensor's elements lie. A claim of the student process's.

    Attributes:
        storage: Number of the storage within its message; equal numbers share memory.
        offset: Of the first element, in elements.
        strides: In elements.
        object: Number of the Python object within its message: a view of a whole tensor has the
            tensor's memory, and is another object.
    """

    storage: int
    offset: int
    strides: tuple[int, ...]
    object: int = 0


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor as bytes.

    Attributes:
        dtype: Torch's name, a key of ``ITEMSIZE``.
        shape: Sizes.
        data: Elements in C order, little endian.
        device: Where the student process says that it was.
        requires_grad: As the student process says.
        layout: Strides and storage, if the student process was asked for them.
    """

    dtype: str
    shape: tuple[int, ...]
    data: Buffer
    device: str = "cpu"
    requires_grad: bool = False
    layout: Layout | None = None


@dataclass(frozen=True, slots=True)
class ActorHandle:
    """An object that stays in the actor; ``id`` names it in later requests.

    Below zero it is a function of the stage's, which the actor may call.
    """

    id: int


@dataclass(frozen=True, slots=True)
class FilePath:
    """A path in a folder that stage and actor share, relative to the scratch of each."""

    name: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that cannot cross; its type's name and why.

    Attributes:
        number: Its number, where it is one of numpy's: its value can be judged, whatever its type.
    """

    type: str
    reason: str
    number: bool | int | float | None = None


Value = Union[
    None, bool, int, float, str, bytes, "tuple[Value, ...]", "list[Value]", "dict[Value, Value]",
    DType, Device, Tensor, ActorHandle, FilePath, Opaque,
]  # fmt: skip
Buffer = Union[bytes, bytearray, memoryview]


def nbytes(dtype: str, shape: Sequence[int]) -> int:
    """Return the bytes that a contiguous tensor takes.

    Raises:
        ProtocolError: The dtype is unknown, the rank above 8, a size negative, or the shape one
            that no memory holds (sizes beside a zero count too: numpy refuses them).
    """
    if dtype not in ITEMSIZE:
        raise ProtocolError(f"unknown dtype {dtype[:40]!r}")
    if len(shape) > MAX_RANK:
        raise ProtocolError(f"a tensor of rank {len(shape)}; the most is {MAX_RANK}")
    if any(size < 0 for size in shape):
        raise ProtocolError(f"a negative size in shape {list(shape)}")
    # Python's integers do not overflow. In 64 bits the product of huge sizes could wrap round to a
    # small one, and pass.
    if math.prod(max(size, 1) for size in shape) * ITEMSIZE[dtype] > _MAX_BYTES:
        raise ProtocolError(f"a tensor of shape {list(shape)} is beyond any memory")
    return math.prod(shape) * ITEMSIZE[dtype]


TEXT_CAP = 20_000
"""Characters of any text that a student process says about itself (traces, messages, names)."""

Text = Annotated[str, lambda value: len(value) <= TEXT_CAP]
Natural = Annotated[int, lambda value: 0 <= value < 2**31]
Number = Annotated[int, lambda value: 0 < value < 2**31]
"""Numbers what there is more than one of; 0 stands for none."""

Record = TypeVar("Record")


def from_record(record: object) -> dict[str, Any]:
    """Return a record as a dict of values, by field."""
    forms = record_forms(type(record))
    return {name: form.write(getattr(record, name)) for name, form in forms.items()}


def to_record(kind: type[Record], content: object, what: str = "record") -> Record:
    """Return the record that ``from_record`` wrote.

    Args:
        kind: Its class.
        content: What was written; not to be trusted.
        what: The word for such a record in an error.

    Raises:
        ProtocolError: A field is missing, unknown or of the wrong type.
    """
    forms = record_forms(kind)
    # Exactly these fields: one that is left out would take its default unchecked, and one more
    # would reach the class as an argument.
    if not isinstance(content, dict) or content.keys() != forms.keys():
        raise ProtocolError(f"a {kind.__name__} {what} with other fields than {sorted(forms)}")
    made = {}
    for name, form in forms.items():
        try:
            made[name] = form.read(content[name])
        except ProtocolError:  # noqa: PERF203  the field is to be named
            raise ProtocolError(
                f"field {name!r} of a {kind.__name__} {what} is of the wrong type"
            ) from None
    return kind(**made)


class Form(NamedTuple):
    """How one annotated type is written as a value, and read back from one.

    Attributes:
        write: Returns the value of what is trusted.
        read: Returns what was written, or raises ``ProtocolError``.
    """

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


_ANYTHING = Form(_same, _same)


_FORMS: dict[type, Mapping[str, Form]] = {}


def record_forms(kind: type) -> Mapping[str, Form]:
    """Return field → form of a record's class. Worked out once, before anybody waits for it."""
    if kind not in _FORMS:
        # Annotations are text under ``from __future__ import annotations``; a form needs the
        # classes.
        hints = inspect.get_annotations(kind, eval_str=True)
        _FORMS[kind] = {name: _form(hint) for name, hint in hints.items()}
    return _FORMS[kind]


def _form(hint: Any) -> Form:
    """Return the form of an annotation."""
    if hint == Value or hint is Any:
        return _ANYTHING
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _checked(_form(args[0]), args[1])
    if origin is tuple and args[-1] is not Ellipsis:
        return _row([_form(arg) for arg in args])
    if origin in {tuple, frozenset}:
        return _items(origin, _form(args[0]))
    if origin in {dict, Mapping}:
        return _mapping(_form(args[0]), _form(args[1]))
    # What has arguments by now is a union.
    return _either([_form(arg) for arg in args]) if args else _class_form(hint)


def _class_form(kind: Any) -> Form:
    if issubclass(kind, Enum):
        return Form(lambda member: member.value, lambda value: _member(kind, value))
    if is_dataclass(kind):
        return Form(from_record, lambda value: to_record(cast("type[Any]", kind), value))
    # By exact type: True is no number, and a subclass could answer for itself.
    return _checked(_ANYTHING, lambda value: type(value) is kind)


def _checked(form: Form, holds: Callable[[Any], bool]) -> Form:
    def read(value: Any) -> Any:
        made = form.read(value)
        if not holds(made):
            raise ProtocolError("a value out of bounds, or of another type")
        return made

    return Form(form.write, read)


def _member(kind: type[Enum], value: Any) -> Enum:
    try:
        return kind(value)
    except ValueError:
        raise ProtocolError(f"no {kind.__name__}") from None


def _items(kind: type, form: Form) -> Form:
    items = _checked(_ANYTHING, lambda value: type(value) is tuple)
    if form is _ANYTHING:
        return items
    # A set has no order of its own; equal records are to be written as equal bytes.
    order: Callable[[Iterable[Any]], Iterable[Any]] = sorted if kind is frozenset else iter
    return Form(
        lambda values: tuple(form.write(value) for value in order(values)),
        lambda values: kind(form.read(value) for value in items.read(values)),
    )


def _row(forms: Sequence[Form]) -> Form:
    items = _checked(_ANYTHING, lambda value: type(value) is tuple and len(value) == len(forms))
    return Form(
        lambda values: tuple(form.write(value) for form, value in zip(forms, values, strict=True)),
        lambda values: tuple(
            form.read(value) for form, value in zip(forms, items.read(values), strict=True)
        ),
    )


def _mapping(key: Form, form: Form) -> Form:
    known = _checked(_ANYTHING, lambda value: isinstance(value, dict))
    return Form(
        lambda items: {name: form.write(item) for name, item in items.items()},
        lambda items: {key.read(name): form.read(item) for name, item in known.read(items).items()},
    )


def _either(forms: Sequence[Form]) -> Form:
    def read(value: Any) -> Any:
        for form in forms:
            try:
                return form.read(value)
            except ProtocolError:  # noqa: PERF203  the next one may take it
                continue
        raise ProtocolError("a value of none of the types")

    record = next((form for form in forms if form.write is not _same), _ANYTHING)
    return Form(lambda value: None if value is None else record.write(value), read)
