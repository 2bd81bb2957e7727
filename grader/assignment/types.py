"""An assignment as its file describes it: frozen, validated, and the source of the JSON Schema.

Nothing here reads a file (``grader.assignment.load``) or draws a number (``grader.run.plan``). The
schema is for editors that complete and check as one types: ``grader schema assignment`` prints it;
``make setup`` writes it where ``assignment.yml`` tells editors to look.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, model_validator

from grader.assignment.arguments import (
    Argument,
    Computed,
    FixedTensor,
    RandomTensor,
    TupleOf,
    symbolic_parts,
)
from grader.assignment.dims import AssignmentPart, Dim
from grader.checks import AnyCheck, Check
from grader.checks.base import AuthorTextField, Identifier, Item
from grader.verdict import Visibility

__all__ = [
    "Argument",
    "Assignment",
    "AssignmentPart",
    "Case",
    "Computed",
    "FixedTensor",
    "Limits",
    "Needs",
    "Question",
    "RandomTensor",
    "TupleOf",
]  # fmt: skip

SCHEMA_ID = "torchgrade/assignment/v1"


def _relative_file(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or "\\" in path or ".." in parts:
        raise ValueError(f"“{path}” is not a path inside the folder")
    return str(PurePosixPath(path))


PointValue = Annotated[float, Field(ge=0, allow_inf_nan=False)]
ModuleName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$")]
FileName = Annotated[str, Field(min_length=1, max_length=128), AfterValidator(_relative_file)]


class Limits(AssignmentPart):
    """What one question may use, for all of its cases together where not said otherwise.

    Attributes:
        seconds: Processor time of one case, and how long it may sleep.
        import_seconds: The same for importing the submission.
        memory_mb: Memory of the student process above what it holds before the submission arrives,
            in MiB.
        output_kb: Printed characters that are kept, in KiB; the rest is dropped silently.
        processes: Processes and threads that a student process may have at once.
        scratch_mb: Size of the student process's writable folder, in MiB.
    """

    seconds: float = Field(default=10.0, gt=0, le=3600)
    import_seconds: float = Field(default=20.0, gt=0, le=600)
    memory_mb: int = Field(default=1024, ge=64, le=1_000_000)
    output_kb: int = Field(default=256, ge=1, le=65_536)
    processes: int = Field(default=64, ge=1, le=4096)
    scratch_mb: int = Field(default=64, ge=1, le=65_536)


class Needs(AssignmentPart):
    """What a question needs from the machine; without it the question is deferred.

    Attributes:
        cuda: GPUs, virtual ones where the machine has too few.
        cuda_memory_mb: Memory of each virtual GPU, in MiB; unlimited where absent.
        timeline: The GPUs are virtual wherever it is graded, for time is told on a timeline.
        processes: The submission may start processes.
        loopback: The submission may talk to itself over 127.0.0.1.
        packages: Modules that must be importable beside the submission, such as ``h5py``.
    """

    cuda: int = Field(default=0, ge=0, le=64)
    cuda_memory_mb: int | None = Field(default=None, ge=1, le=1_000_000)
    timeline: bool = False
    processes: int = Field(default=0, ge=0, le=256)
    loopback: bool = False
    packages: tuple[ModuleName, ...] = ()


class Case(AssignmentPart):
    """Inputs for one question.

    Attributes:
        id: Unique within the question.
        args: Positional arguments in order; the names serve messages only.
        kwargs: Keyword arguments.
        dims: Sizes that shapes may name: a number, ``[low, high]`` or ``{choice: […]}``.
        generate: Function of the reference file that returns the arguments as a tuple, called
            with ``seed`` and the dims as keywords; instead of ``args``.
        scenario: Function of ``scenario.py`` to run instead of calling the entry point.
        repeats: Times that the case is drawn and run.
        visibility: ``hidden`` keeps values and texts from students.
        real_gpu: Left out on virtual GPUs, whose arithmetic is the CPU's: too large for that.
    """

    id: Identifier
    args: dict[Identifier, Argument] = Field(default_factory=dict)
    kwargs: dict[Identifier, Argument] = Field(default_factory=dict)
    dims: dict[Identifier, Dim] = Field(default_factory=dict)
    generate: Identifier | None = None
    scenario: Identifier | None = None
    repeats: int = Field(default=1, ge=1, le=1000)
    visibility: Visibility = Visibility.VISIBLE
    real_gpu: bool = False

    @model_validator(mode="after")
    def _one_source(self) -> Case:
        if self.generate is not None and (self.args or self.kwargs):
            given = "args" if self.args else "kwargs"
            raise ValueError(f"found both “generate” and “{given}”; keep the one that is meant")
        return self

    @property
    def varies(self) -> bool:
        """Whether its inputs, or their sizes, can be drawn anew; a scenario draws its own."""
        if self.generate is not None or self.scenario is not None:
            return True
        arguments = (*self.args.values(), *self.kwargs.values())
        parts = (part for item in arguments for _, part in symbolic_parts(item))
        sizes = any(not isinstance(size, int) for size in self.dims.values())
        return sizes or any(isinstance(part, RandomTensor) for part in parts)


class TimingSettings(AssignmentPart):
    """How a function's speed is measured: for kind ``vectorised``, and as a witness on loops.

    Attributes:
        case: Whose inputs are drawn anew for every call; its tensors are ``randn``, ``rand`` or
            ``integers``, or it has a generator.
        loop: Function of the reference file that does the same with a loop, under any name.
        dims: Sizes that replace the case's: large enough for the loop to take far longer.
        values: Id of the check whose rule the values of timed calls must pass.
        rtol: Without ``values``: tolerance of these values, relative to the reference's.
        atol: Tolerance in the value's own unit.
    """

    case: Identifier
    loop: Identifier
    dims: dict[Identifier, Annotated[int, Field(ge=1, le=2**20)]] = Field(default_factory=dict)
    values: Identifier | None = None
    rtol: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    atol: float = Field(default=0.0, ge=0, allow_inf_nan=False)


Share = Annotated[float, Field(ge=0, lt=1)]


class Question(AssignmentPart):
    """One function or class to write.

    Attributes:
        id: Name of the function or class.
        title: A line for tables and pages.
        points: The sum of the points of its checks, those of a bonus left out.
        bonus: Its points count above the assignment's.
        file: The file of ``hand_in`` that its function stands in; the first one where absent. One
            that does not end in ``.py`` is beside them, and a person reads it.
        entry: Names to look for, first found is called; the id where absent. Variants between
            course years live here.
        needs: What the machine must have; without it the question is deferred.
        limits: What the question may use; the assignment's where absent.
        visibility: Who sees its results and when, in Gradescope's words.
        cases: Inputs that it is called with; none where a person reads its file.
        checks: Rules worth points.
        timed: How its speed is measured, where anything asks for that.
        slip: Share of its points that are earned where one small change makes a submission right;
            the assignment's where absent, 0 for none.
        right_cases: Share of its points for right results in some cases alone; the assignment's
            where absent, 0 for none.
        called: Part of a result → what sentences for students call it: a key of a dict that a
            scenario returned, a place in a tuple, or ``log.steps``.
    """

    id: Identifier
    title: str = Field(min_length=1, max_length=120)
    points: PointValue
    bonus: bool = False
    file: FileName | None = None
    entry: tuple[Identifier, ...] = ()
    needs: Needs = Needs()
    limits: Limits | None = None
    visibility: Visibility = Visibility.VISIBLE
    cases: tuple[Case, ...] = ()
    checks: tuple[AnyCheck, ...] = Field(min_length=1)
    timed: TimingSettings | None = None
    slip: Share | None = None
    right_cases: Share | None = None
    called: dict[Item, AuthorTextField] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _called_items(self) -> Question:
        items = [check.item for check in self.checks]
        first = {item.split(".")[0] for item in items if item}
        for name in self.called:
            if None not in items and name.split(".")[0] not in first:
                raise ValueError(f"“called” names “{name}”, and no check has such an item")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Names under which the entry point may be found, best first."""
        return self.entry or (self.id,)

    @property
    def listed(self) -> tuple[Check, ...]:
        """Checks that a report lists: all but the diagnostic ones."""
        return tuple(check for check in self.checks if not check.diagnostic)

    @property
    def document(self) -> bool:
        """Whether it asks for a file that a person reads, and not for a function."""
        return self.file is not None and not self.file.endswith(".py")


class Assignment(AssignmentPart):
    """A whole assignment.

    Attributes:
        schema_: Version of this format, ``torchgrade/assignment/v1``.
        id: Name of its folders under ``assignments/``, ``reference/`` and ``starter/``.
        version: Changes whenever grades could; free text.
        title: A line for tables and pages.
        hand_in: Files that students hand in; the first holds the questions that name no ``file``.
        support: Read-only files beside them, from ``assignments/<id>/``.
        modules: Module of a library → support file that answers to its name in the student process
            where the library is not installed.
        given: Functions that the starter gives and nobody is graded on.
        limits: What one question may use, where it does not say otherwise.
        partial: Known mistakes and slips earn the prices that they have; else results are right or
            wrong.
        slip: Share of a question's points that are earned where one small change makes it right;
            none where absent.
        right_cases: Share of a question's points, times that of the cases with drawn values that
            are right, where others are wrong; none where absent.
        questions: What is asked.
    """

    schema_: Literal["torchgrade/assignment/v1"] = Field(alias="schema")
    id: Identifier
    version: str = Field(min_length=1, max_length=40)
    title: str = Field(min_length=1, max_length=120)
    hand_in: tuple[FileName, ...] = Field(min_length=1)
    support: tuple[FileName, ...] = ()
    modules: dict[str, FileName] = Field(default_factory=dict)
    given: tuple[Identifier, ...] = ()
    limits: Limits = Limits()
    partial: bool = True
    slip: Share | None = None
    right_cases: Share | None = None
    questions: tuple[Question, ...] = Field(min_length=1)

    def slip_of(self, question: Question) -> float:
        """Share of a question's points that are earned where one small change makes it right."""
        share = self.slip if question.slip is None else question.slip
        return share or 0.0 if self.partial else 0.0

    def right_cases_of(self, question: Question) -> float:
        """Share of a question's points for right results in all cases of which some are wrong."""
        share = self.right_cases if question.right_cases is None else question.right_cases
        return share or 0.0 if self.partial else 0.0

    @property
    def module(self) -> str:
        """The handed-in file that holds the questions which name no other."""
        return self.hand_in[0]

    def file_of(self, question: Question) -> str:
        """The handed-in file that a question's function stands in."""
        return question.file or self.module

    def module_of(self, question: Question) -> str:
        """The name by which the file of a question is imported."""
        return self.file_of(question).removesuffix(".py")

    def place_of(self, question: Question) -> str:
        """The file that a question's function stands in, where there are several; else empty."""
        several = len(self.asked) > 1 or question.document
        return self.file_of(question) if several else ""

    @property
    def asked(self) -> Mapping[str, frozenset[str]]:
        """File with questions → names under which what it is asked for may be found.

        In the order of ``hand_in``, the files of which that hold no question are not among them.
        """
        found: dict[str, frozenset[str]] = {}
        for file in self.hand_in:
            names = [q.names for q in self.questions if self.file_of(q) == file]
            if names:
                found[file] = frozenset().union(*names)
        return found

    @property
    def functions(self) -> frozenset[str]:
        """Names under which anything that is asked for may be found."""
        return frozenset(name for question in self.coded for name in question.names)

    @property
    def coded(self) -> tuple[Question, ...]:
        """The questions that ask for a function."""
        return tuple(question for question in self.questions if not question.document)

    @property
    def documents(self) -> tuple[str, ...]:
        """Files that a person reads; they stand at their questions, not in ``hand_in``."""
        files = (question.file for question in self.questions if question.document)
        return tuple(dict.fromkeys(file for file in files if file))

    @property
    def points(self) -> float:
        """Points of all questions, those of a bonus left out."""
        return sum(question.points for question in self.questions if not question.bonus)

    def limits_of(self, question: Question) -> Limits:
        """The limits that hold for a question."""
        return question.limits or self.limits


Schema = dict[str, Any]
# Authors read the docstrings above: the schema carries them, and editors show each beside its key.
_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n     .*)*)", re.MULTILINE)


def assignment_schema() -> Schema:
    """Return the schema: draft 2020-12, with a description for every key that has one.

    It knows names, types and ranges. What only shows when parts are compared (points that do not
    add up, names that nothing has) is left to ``grader lint`` and to loading.
    """
    return described_schema(Assignment, SCHEMA_ID, "torchgrade assignment")


def described_schema(model: type[BaseModel], schema_id: str, title: str) -> Schema:
    """Return the schema of a document, with what docstrings say of its keys."""
    schema = model.model_json_schema(by_alias=True)
    for part in (schema, *schema["$defs"].values()):
        _describe(part)
        if "const" in part.get("properties", {}).get("kind", {}):
            # What all checks share is described there; “kind” has a default only in Python.
            _describe_fields(part, inspect.getdoc(Check) or "")
            part["required"] = sorted({*part.get("required", ()), "kind"})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{schema_id.replace('/', ':')}",
        **_mended(schema),
        "title": title,
    }


def _describe(part: Schema) -> None:
    """Move what a docstring says of an attribute to that attribute, where editors show it."""
    text, _, attributes = part.get("description", "").partition("\n\nAttributes:\n")
    if text:
        part["description"] = " ".join(text.split())
    _describe_fields(part, attributes)


def _describe_fields(part: Schema, attributes: str) -> None:
    for name, said in _ATTRIBUTE.findall(attributes):
        field = part["properties"][name.rstrip("_")]
        field["description"] = " ".join(said.replace("``", "`").split())


def _mended(node: Any) -> Any:
    """Mend what pydantic writes: ``oneOf`` refuses 1, which is integer and number; names leak."""
    if isinstance(node, list):
        return [_mended(item) for item in node]
    if not isinstance(node, dict):
        return node
    result = {key: _mended(value) for key, value in node.items()}
    if "oneOf" in result and "discriminator" not in result:
        result["anyOf"] = result.pop("oneOf")
    if "patternProperties" in result:
        result["additionalProperties"] = False
    return result
