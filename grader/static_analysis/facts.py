"""What the text of a submission says, as plain values and as bytes: no analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from grader.verdict import Param
from grader.wire.messages import from_bytes, to_bytes
from grader.wire.values import ProtocolError

INDEXES = "x[…]"
ASSIGNS = "x[…] = …"
ASSIGNS_NUMBER = "x[…] = number"
"""Names of mentions of an index, and of an assignment to one."""

_MOST_VALUES = 10**7
"""More than the longest answer that is read holds."""


class Role(str, Enum):
    """What a construct is to a rule about loops."""

    LOOP = "loop"
    EXEMPT = "exempt"  # builds a tuple of dimensions and nothing else
    ITERATES = "iterates"  # a builtin that goes through its argument and is no loop by the rules


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """Where something stands: 1-based line and column, and the last line of it.

    Attributes:
        file: Path of another file than the one that was asked about; else empty.
    """

    line: int
    column: int
    last_line: int
    file: str = ""

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}" if self.file else f"line {self.line}"

    @property
    def params(self) -> dict[str, Param]:
        """Parameters of a message about it."""
        return {"line": self.line, "file": self.file} if self.file else {"line": self.line}


@dataclass(frozen=True, slots=True)
class Construct:
    """Something that repeats work, or might.

    Attributes:
        kind: Such as ``for``, ``list comprehension``, ``map``, ``recursion``.
        depth: How many loops deep it is where the entry point is 0, itself included.
        function: Name of the function that it stands in.
        repeated: Lines whose running shows that it ran, first and last; (0, 0) where none does.
    """

    kind: str
    role: Role
    place: SourcePlace
    depth: int
    function: str
    repeated: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name or operator that is used.

    Attributes:
        name: Dotted and resolved through imports (``torch.mm``); ``.mean`` for an attribute of
            something unknown; ``@`` and the like for operators.
        called: It is called right there.
    """

    name: str
    place: SourcePlace
    called: bool

    @property
    def last(self) -> str:
        """The last part of the name."""
        return self.name.rsplit(".", 1)[-1]


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """What can be reached from one function or class of the file.

    Attributes:
        functions: Names of all functions that it may come to, itself first.
        constructs: Loops and what resembles them, in the order of their lines.
        depth: Greatest nesting of loops, calls of own functions included.
        mentions: Names and operators used.
        opaque: Uses of what hides from a reader, such as ``exec`` of text made at run time.
        indexings: Number of ``x[...]`` that are read.
        slice_assignments: Number of statements that assign to ``x[...]``.
    """

    functions: tuple[str, ...] = ()
    constructs: tuple[Construct, ...] = ()
    depth: int = 0
    mentions: tuple[Mention, ...] = ()
    opaque: tuple[Mention, ...] = ()
    indexings: int = 0
    slice_assignments: int = 0

    @property
    def loops(self) -> tuple[Construct, ...]:
        """The constructs that are loops."""
        return tuple(item for item in self.constructs if item.role is Role.LOOP)


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What a file says; either facts by entry point, or why it could not be read.

    Attributes:
        entries: Function, ``Class`` or ``Class.method`` → facts.
        unreadable: Why there are none, or empty.
        reach: Where the file reaches for what its process says about itself (``reach``).
    """

    entries: Mapping[str, EntryFacts] = field(default_factory=dict)
    unreadable: str = ""
    reach: tuple[Mention, ...] = ()


def pack(facts: SourceFacts) -> bytes:
    """Return facts as bytes."""
    return to_bytes(facts)


def unpack(data: bytes) -> SourceFacts:
    """Return the facts in what a worker wrote.

    Raises:
        ValueError: It is no such thing; the worker read hostile text and is not trusted with more.
    """
    try:
        return from_bytes(data, SourceFacts, _MOST_VALUES)
    except ProtocolError as error:
        raise ValueError(f"not what the analysis writes: {error}") from error
