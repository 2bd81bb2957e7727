"""What the text of a submission says, as plain values and as bytes: no analysis.

Each file is read by itself, in a disposable process. Here the plain values of several files are put
together: what an entry point comes to in the files that it imports.

Does not see: names that a file passes on without defining them, and those of ``import *``. What
such a function does shows in its behaviour alone, and a rule that rests on both witnesses leaves
it to a person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
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
    EXEMPT = "exempt"  # makes numbers of dimensions and nothing else
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
        branch: These lines run without it, too, where its branch is not taken.
        over_dims: It goes through dimensions, as far as the text tells, or through what is written
            out there: a fixed number of turns.
    """

    kind: str
    role: Role
    place: SourcePlace
    depth: int
    function: str
    repeated: tuple[int, int] = (0, 0)
    branch: bool = False
    over_dims: bool = False


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
class Written:
    """Whether a function or class is written.

    Attributes:
        line: Where it begins; of several of its name, the last.
        stub: It does nothing, or only says that it is not written; see ``stubs.is_stub``.
        returns: Its text returns a value somewhere; True for a class.
        hides: It is a stub, and stands below one of its name that is written.
        whole: It is a function: a class may lack a method, such as ``forward``.
    """

    line: int
    stub: bool = False
    returns: bool = True
    hides: bool = False
    whole: bool = True


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
        written: Whether it is written; None where its name is bound to something else.
    """

    functions: tuple[str, ...] = ()
    constructs: tuple[Construct, ...] = ()
    depth: int = 0
    mentions: tuple[Mention, ...] = ()
    opaque: tuple[Mention, ...] = ()
    indexings: int = 0
    slice_assignments: int = 0
    written: Written | None = None

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
        syntax_error: There are none because it is no Python: nothing of it can run either.
    """

    entries: Mapping[str, EntryFacts] = field(default_factory=dict)
    unreadable: str = ""
    syntax_error: bool = False


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


MOST = 2_000
"""Facts of one sort that are kept for an entry point."""


def reachable(read: Mapping[str, SourceFacts], home: str, entry: str) -> EntryFacts | None:
    """Return the facts on an entry point, with those on what it uses of the other files.

    Args:
        read: File → what it says.
        home: The file of the entry point. Places in the others name their file.
        entry: The entry point; None is returned where the file has none of that name.
    """
    own = read[home].entries.get(entry) if home in read else None
    if own is None or len(read) == 1:
        return own
    return _Walk(read, home).facts(entry, own)


@dataclass(frozen=True, slots=True)
class _Visit:
    """An entry point of a file, and how many loops deep it is used."""

    path: str
    entry: str
    depth: int


class _Walk:
    def __init__(self, read: Mapping[str, SourceFacts], home: str) -> None:
        self._read = read
        self._home = home
        self._modules = {path.removesuffix(".py").replace("/", "."): path for path in read}

    def facts(self, entry: str, own: EntryFacts) -> EntryFacts:
        parts = [own]
        seen = {(self._home, entry)}
        waiting = [*self._used(own, self._home, 0)]
        while waiting:
            visit = waiting.pop()
            found = self._read[visit.path].entries.get(visit.entry)
            # Once, however many ways lead there; a circle ends here too.
            if found is None or (visit.path, visit.entry) in seen:
                continue
            seen.add((visit.path, visit.entry))
            parts.append(self._placed(found, visit))
            waiting += self._used(found, visit.path, visit.depth)
        return EntryFacts(
            tuple(dict.fromkeys(name for part in parts for name in part.functions)),
            tuple(item for part in parts for item in part.constructs)[:MOST],
            max(part.depth for part in parts),
            tuple(item for part in parts for item in part.mentions)[:MOST],
            tuple(item for part in parts for item in part.opaque)[:MOST],
            sum(part.indexings for part in parts),
            sum(part.slice_assignments for part in parts),
            own.written,
        )

    def _used(self, facts: EntryFacts, path: str, depth: int) -> Iterator[_Visit]:
        """Yield what of other files is used, by name."""
        for mention in facts.mentions:
            module, file = self._module_of(mention.name)
            if file and file != path:
                name = mention.name[len(module) + 1 :].partition(".")[0]
                yield _Visit(file, name, depth + _around(facts.constructs, mention))

    def _module_of(self, name: str) -> tuple[str, str]:
        parts = name.split(".")
        prefixes = (".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))
        module = next((prefix for prefix in prefixes if prefix in self._modules), "")
        return module, self._modules.get(module, "")

    def _placed(self, facts: EntryFacts, visit: _Visit) -> EntryFacts:
        def there(place: SourcePlace) -> SourcePlace:
            return place if visit.path == self._home else replace(place, file=visit.path)

        return replace(
            facts,
            constructs=tuple(
                replace(item, place=there(item.place), depth=item.depth + visit.depth)
                for item in facts.constructs
            ),
            depth=facts.depth + visit.depth,
            mentions=tuple(replace(item, place=there(item.place)) for item in facts.mentions),
            opaque=tuple(replace(item, place=there(item.place)) for item in facts.opaque),
        )


def _around(constructs: tuple[Construct, ...], mention: Mention) -> int:
    """Return how many loops deep a name is used."""
    line = mention.place.line
    return max(
        (item.depth for item in constructs if item.repeated[0] <= line <= item.repeated[1]),
        default=0,
    )
