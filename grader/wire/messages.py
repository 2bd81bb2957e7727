"""The messages themselves: each a frozen dataclass whose fields are checked.

Host to guest: ``Load`` (files, then import), ``Call`` (one entry point or scenario).
Guest to host: ``Ready`` (walls are up), ``Loaded``, ``Reply``.
Between a scenario and the submission that it drives, relayed by the host: the stage sends ``Ask``
and the actor answers with ``Did``. In between, the actor may send ``Back``, which the stage answers
with ``Did``: the submission calls a function whose body is the scenario's.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Union

from grader.wire.fields import (
    FAULT,
    Check,
    anything,
    data,
    flag,
    is_fault,
    items,
    mapping,
    natural,
    optional,
    source,
    text,
    texts,
)
from grader.wire.frames import Frame
from grader.wire.values import Buffer, FilePath, Handle, ProtocolError, Value


@dataclass(frozen=True, slots=True)
class Fault:
    """An exception, as told by the guest.

    Attributes:
        type: The exception's class name.
        message: Its text, bounded.
        file: Submitted file of the innermost frame in submitted code, or empty.
        line: 1-based line there, or 0.
        column: 1-based column for syntax errors, or 0.
        trace: The traceback, bounded, for staff.
    """

    type: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    trace: str = ""


@dataclass(frozen=True, slots=True)
class Load:
    """Put files into the guest's scratch folder and import the module.

    Attributes:
        files: Path → content, submitted ones.
        support: Path → content, the assignment's read-only ones.
        module: File among ``files`` whose functions are graded.
        gpus: Virtual GPUs that are to be there before anything is imported.
        gpu_memory_mb: Memory of each, in MiB; 0 for as much as the guest has.
        modules: Library's module → file among ``support`` that stands in where it is missing.
        given: Source of the instructor's functions that run beside the submission, or empty.
        stage: Source of the instructor's scenario file, or empty. Without ``files`` the guest is
            the stage; with them it is stage and actor in one.
    """

    files: dict[str, Buffer]
    module: str
    support: dict[str, Buffer] = field(default_factory=dict)
    gpus: int = 0
    gpu_memory_mb: int = 0
    modules: dict[str, str] = field(default_factory=dict)
    given: str = ""
    stage: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """Call an entry point, or play a scenario.

    Attributes:
        entry: Name of the function.
        args: Positional arguments.
        kwargs: Keyword arguments.
        scenario: ``entry`` names a function of the scenario file.
        probes: Names of the probes that the checks need.
        block: Above 0, make so many calls: each tensor argument holds those of all calls, one
            after the other along its first axis. The reply's value holds all results likewise.
        token: Drawn by the host for this call alone; the reply has to repeat it.
        seed: Of a stage's random numbers.
    """

    entry: str
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = field(default_factory=dict)
    scenario: bool = False
    probes: tuple[str, ...] = ()
    block: int = 0
    token: str = ""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Ready:
    """The guest is up. ``walls`` tells what its own attempts to break out met, by name."""

    walls: dict[str, str]
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The module was imported, or was not.

    Attributes:
        names: Callables that the module defines.
        fault: What stopped the import; names defined before it are still there.
        missing: Modules that could not be imported.
    """

    names: tuple[str, ...]
    fault: Fault | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A call ended: it returned ``value``, or raised ``fault``. ``token`` is the call's."""

    value: Value = None
    fault: Fault | None = None
    args_after: tuple[Value, ...] | None = None
    probes: dict[str, Value] = field(default_factory=dict)
    token: str = ""


Message = Union[Load, Call, Ready, Loaded, Reply]
_SCHEMA: dict[type, dict[str, Check]] = {
    Load: {
        "files": mapping(data), "module": text, "support": mapping(data),
        "gpus": natural, "gpu_memory_mb": natural, "modules": mapping(text),
        "given": source, "stage": source,
    },
    Call: {
        "entry": text, "args": items, "kwargs": mapping(anything),
        "scenario": flag, "probes": texts, "block": natural, "token": text,
        "seed": natural,
    },
    Ready: {"walls": mapping(text), "versions": mapping(text)},
    Loaded: {"names": texts, "fault": optional(is_fault), "missing": texts},
    Reply: {
        "value": anything, "fault": optional(is_fault), "args_after": optional(items),
        "probes": mapping(anything), "token": text,
    },
}  # fmt: skip


def declare(schema: dict[type, dict[str, Check]]) -> None:
    """Add kinds of messages: dataclass → field → check."""
    _SCHEMA.update(schema)


def to_frame(message: Any) -> Frame:
    """Return the frame of a message."""
    content: dict[str, Value] = {}
    for item in fields(message):
        value = getattr(message, item.name)
        content[item.name] = _fault_fields(value) if isinstance(value, Fault) else value
    return Frame(type(message).__name__, content)


def _fault_fields(fault: Fault) -> dict[Value, Value]:
    return {name: getattr(fault, name) for name in FAULT}


def from_frame(frame: Frame, *expected: type) -> Any:
    """Return the message of a frame, of one of the expected kinds.

    Raises:
        ProtocolError: Another kind, or a field that is missing, unknown or of the wrong type.
    """
    cls = next((kind for kind in expected if kind.__name__ == frame.type), None)
    if cls is None:
        wanted = " or ".join(kind.__name__ for kind in expected)
        raise ProtocolError(f"a {frame.type[:40]!r} message where {wanted} was due")
    schema = _SCHEMA[cls]
    if set(frame.fields) != set(schema):
        raise ProtocolError(f"a {frame.type} message with other fields than {sorted(schema)}")
    # What is counted fits into 64 bits; longer integers make a float of no judge's arithmetic.
    if "probes" in frame.long:
        raise ProtocolError("a count beyond 64 bits")
    for name, check in schema.items():
        if not check(frame.fields[name]):
            raise ProtocolError(f"field {name!r} of a {frame.type} message is of the wrong type")
    content = dict(frame.fields)
    if isinstance(content.get("fault"), dict):
        content["fault"] = Fault(**content["fault"])  # type: ignore[arg-type, assignment]
    return cls(**content)


ACTIONS = frozenset({
    "call", "method", "item", "attr", "set_attr", "collect", "put", "value", "drop", "given",
    "read", "listen",
})  # fmt: skip
"""What the actor does. ``read`` the host gives to a process of its own. ``listen`` is asked by the
host: the answer comes with a socket to which processes of the submission connect."""

EXCEPTIONS = frozenset(
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
)
"""Names by which an exception may cross."""

MODULE = 0
"""Handle of the submission's module."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Do one thing in the actor.

    Attributes:
        action: One of ``ACTIONS``.
        name: Of what is called, or of an attribute.
        target: Number of the kept object that the action is about.
        args: Positional arguments. Handles stand for kept objects, below zero for callbacks.
        kwargs: Keyword arguments.
        keep: Number under which the result stays in the actor; 0 to send it.
        most: Of ``collect``: the most items.
        puts: Number → value to keep before anything else; the case's own arguments.
        files: Path → content of files that are new or changed in shared folders; None: it is gone.
        folders: Shared folder → whether its changes are to be sent back.
        gathers: Callback → different processes that must call before the first is answered.
        case: Drawn by the host for each case: with a new one, what was kept is forgotten.
        layout: Whether tensors are to say how they lie in memory.
        token: Drawn by the host for this request; every answer has to repeat it.
        earlier: What is to be done before, in this order; nobody waits for the results. Of each
            the fields from ``action`` to ``puts``.
    """

    action: str
    name: str = ""
    target: int = MODULE
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = field(default_factory=dict)
    keep: int = 0
    most: int = 0
    puts: dict[int, Value] = field(default_factory=dict)
    files: dict[str, Buffer | None] = field(default_factory=dict)
    folders: dict[str, bool] = field(default_factory=dict)
    gathers: dict[int, int] = field(default_factory=dict)
    case: str = ""
    layout: bool = False
    token: str = ""
    earlier: tuple[Value, ...] = ()

    def as_earlier(self) -> tuple[Value, ...]:
        """Return this as one of ``earlier``."""
        kwargs = dict[Value, Value](self.kwargs.items())
        puts = dict[Value, Value](self.puts.items())
        return (
            self.action, self.name, self.target, self.args, kwargs, self.keep, self.most, puts,
        )  # fmt: skip

    def each(self) -> Iterator[Ask]:
        """Yield what is to be done, this last."""
        for parts in self.earlier:
            assert isinstance(parts, tuple)
            yield Ask(*parts)  # type: ignore[arg-type]
        yield self


@dataclass(frozen=True, slots=True)
class Did:
    """An ``Ask`` or a ``Back`` was done: it gave ``value``, or raised ``fault``.

    Attributes:
        kind: Name of the built-in exception that the one raised derives from.
        early: One of ``earlier`` raised it, and what came after was not done.
        files: Path → content of what changed in the folders that were asked for; None: it is gone.
        token: The request's.
    """

    value: Value = None
    fault: Fault | None = None
    kind: str = ""
    early: bool = False
    files: dict[str, Buffer | None] = field(default_factory=dict)
    token: str = ""


@dataclass(frozen=True, slots=True)
class Back:
    """The submission calls a function of the stage's.

    Attributes:
        callback: Its number, above zero.
        args: Positional arguments.
        kwargs: Keyword arguments.
        caller: Process that called. Written by the host; what the actor says is dropped.
        token: The ``Ask``'s that the actor works on.
    """

    callback: int
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = field(default_factory=dict)
    caller: int = 0
    token: str = ""


def _action(value: Value) -> bool:
    return isinstance(value, str) and value in ACTIONS


def _numbered(value: Value) -> bool:
    return isinstance(value, dict) and all(natural(key) and key != MODULE for key in value)


def _processes(value: Value) -> bool:
    return isinstance(value, dict) and _numbered(value) and all(map(natural, value.values()))


def _earlier(value: Value) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(parts, tuple)
        and len(parts) == len(_EARLIER)
        and all(check(part) for check, part in zip(_EARLIER, parts, strict=True))
        for parts in value
    )


_FILES: Check = mapping(optional(data))

_EARLIER: tuple[Check, ...] = (
    _action, text, natural, items, mapping(anything), natural, natural, _numbered,
)  # fmt: skip

declare({
    Ask: {
        "action": _action,
        "name": text, "target": natural, "args": items, "kwargs": mapping(anything),
        "keep": natural, "most": natural, "puts": _numbered, "files": _FILES,
        "folders": mapping(flag), "case": text, "layout": flag, "token": text,
        "gathers": _processes, "earlier": _earlier,
    },
    Did: {
        "value": anything, "fault": optional(is_fault), "kind": text, "early": flag,
        "files": _FILES, "token": text,
    },
    Back: {
        "callback": lambda value: natural(value) and value != 0, "args": items,
        "kwargs": mapping(anything), "caller": natural, "token": text,
    },
})  # fmt: skip


def holds_handle(value: Value) -> bool:
    """Return whether a handle or a path stands anywhere in a value: no actor may send one."""
    left = [value]
    while left:
        found = left.pop()
        if isinstance(found, (Handle, FilePath)):
            return True
        if isinstance(found, (tuple, list)):
            left += found
        elif isinstance(found, dict):
            left += found.keys()
            left += found.values()
    return False


def nearest_builtin(error: BaseException) -> str:
    """Return the name of the first built-in exception that an exception's class derives from."""
    # The base class's own attributes: a metaclass may have put code in front of them.
    for kind in type.__dict__["__mro__"].__get__(type(error)):
        name = type.__dict__["__name__"].__get__(kind)
        if vars(builtins).get(name) is kind and name in EXCEPTIONS:
            return str(name)
    return "Exception"


def built_in(kind: str, message: str) -> Exception:
    """Return an exception of a built-in class."""
    made = vars(builtins)[kind] if kind in EXCEPTIONS else Exception
    try:
        error: Exception = made(message)
    except TypeError:  # UnicodeDecodeError and its like want more than a text
        error = Exception(f"{kind}: {message}")
    return error
