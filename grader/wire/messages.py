"""The messages themselves: each a frozen dataclass whose fields are checked.

Host to student process: ``Load`` (files, then import), ``Call`` (one entry point or scenario).
Student process to host: ``Ready`` (walls are up), ``Loaded``, ``Reply``.
Between a scenario and the submission that it drives, relayed by the host: the stage sends
``Request`` and the actor answers with ``Response``. In between, the actor may send
``CallbackRequest``, which the stage answers with ``Response``: the submission calls a function
whose body is the scenario's.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from grader.wire.codec import MAX_NODES
from grader.wire.frames import Frame, pack, unpack
from grader.wire.values import (
    ActorHandle,
    Buffer,
    FilePath,
    Natural,
    Number,
    ProtocolError,
    Text,
    Value,
    from_record,
    record_forms,
    to_record,
)

Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Fault:
    """An exception, as the student process reports it.

    Attributes:
        type: The exception's class name.
        message: Its text, bounded.
        file: Submitted file of the innermost frame in submitted code, or empty.
        line: 1-based line there, or 0.
        column: 1-based column for syntax errors, or 0.
        trace: The traceback, bounded, for staff.
    """

    type: Text
    message: Text
    file: Text = ""
    line: Natural = 0
    column: Natural = 0
    trace: Text = ""


@dataclass(frozen=True, slots=True)
class Load:
    """Put files into the student process's scratch folder and import the module.

    Attributes:
        files: Path → content, submitted ones.
        support: Path → content, the assignment's read-only ones.
        module: File among ``files`` whose functions are graded.
        gpus: Virtual GPUs that are to be there before anything is imported.
        gpu_memory_mb: Memory of each, in MiB; 0 for as much as the student process has.
        modules: Library's module → file among ``support`` that stands in where it is missing.
        given: Source of the instructor's functions that run beside the submission, or empty.
        stage: Source of the instructor's scenario file, or empty. Without ``files`` the student
            process is the stage; with them it is stage and actor in one.
    """

    files: dict[Text, Buffer]
    module: Text
    support: dict[Text, Buffer] = field(default_factory=dict)
    gpus: Natural = 0
    gpu_memory_mb: Natural = 0
    modules: dict[Text, Text] = field(default_factory=dict)
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

    entry: Text
    args: tuple[Value, ...] = ()
    kwargs: dict[Text, Value] = field(default_factory=dict)
    scenario: bool = False
    probes: tuple[Text, ...] = ()
    block: Natural = 0
    token: Text = ""
    seed: Natural = 0


@dataclass(frozen=True, slots=True)
class Ready:
    """The process is up. ``walls``: what its own attempts to break out met, by name."""

    walls: dict[Text, Text]
    versions: dict[Text, Text]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The module was imported, or was not.

    Attributes:
        names: Callables that the module defines.
        fault: What stopped the import; names defined before it are still there.
        missing: Modules that could not be imported.
    """

    names: tuple[Text, ...]
    fault: Fault | None = None
    missing: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A call ended: it returned ``value``, or raised ``fault``. ``token`` is the call's."""

    value: Value = None
    fault: Fault | None = None
    args_after: tuple[Value, ...] | None = None
    probes: dict[Text, Value] = field(default_factory=dict)
    token: Text = ""


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

WRONG_FILE = "WrongFileError"
"""Type of a fault that is a scenario's sentence on a file: a line in English, one in Korean."""

MODULE = 0
"""Handle of the submission's module."""

LOG = "log"
"""Name of the probe that writes down what a call computes."""

ALONE = "alone"
"""Name of the probe that lets a counted call start no processes."""

Action = Annotated[str, ACTIONS.__contains__]
Batched = tuple[
    Action, Text, Natural, tuple[Value, ...], dict[Text, Value], Natural, Natural,
    dict[Number, Value],
]  # fmt: skip
"""Fields of a ``Request``, from ``action`` to ``stores``."""


@dataclass(frozen=True, slots=True)
class Request:
    """Do one thing in the actor.

    Attributes:
        action: One of ``ACTIONS``.
        name: Of what is called, or of an attribute.
        target: Number of the kept object that the action is about.
        args: Positional arguments. Handles stand for kept objects, below zero for callbacks.
        kwargs: Keyword arguments.
        keep: Number under which the result stays in the actor; 0 to send it.
        most: Of ``collect``: the most items.
        stores: Number → value to keep before anything else; the case's own arguments.
        files: Path → content of files that are new or changed in shared folders; None: it is gone.
        folders: Shared folder → whether its changes are to be sent back.
        waits_for: Callback → different processes that must call before the first is answered.
        case: Drawn by the host for each case: with a new one, what was kept is forgotten.
        layout: Whether tensors are to say how they lie in memory.
        token: Drawn by the host for this request; every answer has to repeat it.
        batched: What is to be done before, in this order; nobody waits for the results. Of each
            the fields from ``action`` to ``stores``.
    """

    action: Action
    name: Text = ""
    target: Natural = MODULE
    args: tuple[Value, ...] = ()
    kwargs: dict[Text, Value] = field(default_factory=dict)
    keep: Natural = 0
    most: Natural = 0
    stores: dict[Number, Value] = field(default_factory=dict)
    files: dict[Text, Buffer | None] = field(default_factory=dict)
    folders: dict[Text, bool] = field(default_factory=dict)
    waits_for: dict[Number, Natural] = field(default_factory=dict)
    case: Text = ""
    layout: bool = False
    token: Text = ""
    batched: tuple[Batched, ...] = ()

    def as_batched(self) -> Batched:
        """Return this as one of ``batched``."""
        return (
            self.action, self.name, self.target, self.args, self.kwargs, self.keep, self.most,
            self.stores,
        )  # fmt: skip

    def each(self) -> Iterator[Request]:
        """Yield what is to be done, this last."""
        for parts in self.batched:
            yield Request(*parts)
        yield self


@dataclass(frozen=True, slots=True)
class Response:
    """An ``Request`` or a ``CallbackRequest`` was done: it gave ``value``, or raised ``fault``.

    Attributes:
        kind: Name of the built-in exception that the one raised derives from.
        early: One of ``batched`` raised it, and what came after was not done.
        files: Path → content of what changed in the folders that were asked for; None: it is gone.
        token: The request's.
    """

    value: Value = None
    fault: Fault | None = None
    kind: Text = ""
    early: bool = False
    files: dict[Text, Buffer | None] = field(default_factory=dict)
    token: Text = ""


@dataclass(frozen=True, slots=True)
class CallbackRequest:
    """The submission calls a function of the stage's.

    Attributes:
        callback: Its number, above zero.
        args: Positional arguments.
        kwargs: Keyword arguments.
        caller: Process that called. Written by the host; what the actor says is dropped.
        token: The ``Request``'s that the actor works on.
    """

    callback: Number
    args: tuple[Value, ...] = ()
    kwargs: dict[Text, Value] = field(default_factory=dict)
    caller: Natural = 0
    token: Text = ""


for _kind in (Load, Call, Ready, Loaded, Reply, Request, Response, CallbackRequest):
    record_forms(_kind)  # before a student process is forked, so that none has to work them out


def to_frame(message: object) -> Frame:
    """Return the frame of a message, or of any other record."""
    return Frame(type(message).__name__, from_record(message))


def from_frame(frame: Frame, *expected: type) -> Any:
    """Return the message of a frame, of one of the expected kinds.

    Raises:
        ProtocolError: Another kind, or a field that is missing, unknown or of the wrong type.
    """
    kind = next((kind for kind in expected if kind.__name__ == frame.type), None)
    if kind is None:
        wanted = " or ".join(kind.__name__ for kind in expected)
        raise ProtocolError(f"a {frame.type[:40]!r} message where {wanted} was due")
    # What is counted fits into 64 bits; longer integers make a float of no judge's arithmetic.
    if "probes" in frame.long:
        raise ProtocolError("a count beyond 64 bits")
    return to_record(kind, dict(frame.fields), "message")


def to_bytes(record: object) -> bytes:
    """Return a record as the bytes of one frame."""
    return b"".join(pack(to_frame(record)))


def from_bytes(data: Buffer, kind: type[Kept], most: int = MAX_NODES) -> Kept:
    """Return the record that ``to_bytes`` wrote.

    Args:
        data: What was written; not to be trusted.
        kind: The record's class.
        most: Values that there may be in all.

    Raises:
        ProtocolError: It is no such record.
    """
    frames = list(unpack(data, most))
    if len(frames) != 1:
        raise ProtocolError(f"{len(frames)} frames in place of one")
    record: Kept = from_frame(frames[0], kind)
    return record


def holds_handle(value: Value) -> bool:
    """Return whether a handle or a path stands anywhere in a value: no actor may send one."""
    # A list and no recursion: a deep value would raise RecursionError, which is no protocol
    # violation.
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, (ActorHandle, FilePath)):
            return True
        if isinstance(part, (tuple, list)):
            left += part
        elif isinstance(part, dict):
            left += part.keys()
            left += part.values()
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
    # From a list: the name comes from the other side, and “vars(builtins)” holds more than
    # exceptions.
    made = vars(builtins)[kind] if kind in EXCEPTIONS else Exception
    try:
        error: Exception = made(message)
    except TypeError:  # UnicodeDecodeError and its like want more than a text
        error = Exception(f"{kind}: {message}")
    return error
