"""The messages themselves: five kinds, each a frozen dataclass whose fields are checked.

Host to guest: ``Load`` (files, then import), ``Call`` (one entry point or scenario).
Guest to host: ``Ready`` (walls are up), ``Loaded``, ``Reply``.
"""

from __future__ import annotations

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
from grader.wire.values import Buffer, ProtocolError, Value


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
