"""The base of every check: a rule worth points, with a pure judge.

A check kind is one class: its parameters (fields), what it ``needs()`` from the closed list of
probes, how it is timed, and ``judge()``. Judging reads no clock, file, random number or global
state, so that saved observations can be judged again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Annotated, ClassVar, Union

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)
from typing_extensions import Self

from grader.checks.arrays import Array
from grader.observation import Observation
from grader.speed_statistics.credit import Credit
from grader.static_analysis.facts import EntryFacts
from grader.verdict import Param, Verdict, Visibility
from grader.wire.values import Value

GROWTH_FACTOR = 4
"""What a size is multiplied by to see whether counts grow with it."""

Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")]


def _as_text(place: object) -> object:
    # By type: a bool is an int, too, and would become a key “True”.
    return str(place) if type(place) is int and place >= 0 else place


Item = Annotated[
    str,
    BeforeValidator(_as_text),
    Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$"),
    WithJsonSchema(
        {
            "type": ["string", "integer"],
            "pattern": r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$",
            "minimum": 0,
        }
    ),
]
"""A way into a result: a key of a dict, a place in a tuple or list from 0, ``log.0`` both."""
NamePattern = Annotated[str, Field(pattern=r"^[A-Za-z_*?][A-Za-z0-9_.*?]{0,79}$")]
"""A name, or part of one with ``*`` and ``?``."""

_MOST_ARGUMENTS = 100
_MAX_AUTHOR_TEXT = 400


def _reference(found: object) -> int | str:
    # One validator instead of pydantic's union, which tells of each of its branches what it lacks.
    if type(found) is int and 0 <= found < _MOST_ARGUMENTS:
        return found
    if isinstance(found, str) and found:
        return found
    raise ValueError(f"found {found!r}; expected the name of an argument, or its position from 0")


ArgumentRef = Annotated[
    Union[int, str],
    PlainValidator(_reference),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "integer", "minimum": 0, "maximum": _MOST_ARGUMENTS - 1},
            ]
        }
    ),
]
"""A positional argument by name, or by 0-based position (as a case with a generator needs)."""


class AuthorText(BaseModel):
    """A sentence of the author's for students; plain text is English.

    Attributes:
        en: In English.
        ko: In Korean. A reader whose language is missing gets the other.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    en: str = Field(default="", max_length=_MAX_AUTHOR_TEXT)
    ko: str = Field(default="", max_length=_MAX_AUTHOR_TEXT)

    @model_validator(mode="before")
    @classmethod
    def _english(cls, found: object) -> object:
        return {"en": found} if isinstance(found, str) else found

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not (self.en.strip() or self.ko.strip()):
            raise ValueError("is empty; write a sentence, or {en: …, ko: …}")
        return self

    def params(self, name: str) -> dict[str, Param]:
        """Return it as parameters of a message, ``name_en`` and ``name_ko``."""
        return {f"{name}_en": self.en, f"{name}_ko": self.ko}


_SENTENCE = {"type": "string", "minLength": 1, "maxLength": _MAX_AUTHOR_TEXT}
AuthorTextField = Annotated[
    AuthorText,
    WithJsonSchema(
        {
            "anyOf": [
                _SENTENCE,
                {
                    "type": "object",
                    "properties": {"en": _SENTENCE, "ko": _SENTENCE},
                    "minProperties": 1,
                    "additionalProperties": False,
                },
            ]
        }
    ),
]


class UnfitCaseError(ValueError):
    """A case does not have what a check is meant to work on; the instructor's to mend."""


class Probe(str, Enum):
    """What a student process can be asked to observe beside the returned value. A closed list."""

    ARGS_AFTER = "args_after"
    LAYOUT = "layout"
    SOURCE = "source"
    COUNTING = "counting"
    GROWTH = "growth"
    DEVICES = "devices"

    @property
    def in_the_call(self) -> bool:
        """Tell whether the student process observes it in the very call whose value is judged.

        ``source`` is read by the host; counting disturbs what it counts, so it has calls of its
        own: on the case's inputs, and with ``growth`` on larger ones too.
        """
        return self in (Probe.ARGS_AFTER, Probe.LAYOUT, Probe.DEVICES)


@dataclass(frozen=True, slots=True)
class CompanionNeeds:
    """Further runs of the reference that a check is judged against.

    The reference runs once more on the case's inputs in float64, then on inputs of which every
    floating number is moved by one rounding of its own dtype, up or down at random.

    Attributes:
        perturbed: Number of runs on moved inputs.
    """

    perturbed: int


@dataclass(frozen=True, slots=True)
class CaseInputs:
    """The host's own copy of what was sent into the student processes.

    Attributes:
        id: The case's id in the assignment.
        names: Names of the positional arguments, for messages.
        args: The arguments as drawn.
        hidden: Results on this case are not for students.
        dims: Size of each name, as drawn.
    """

    id: str
    names: tuple[str, ...]
    args: tuple[Value, ...]
    hidden: bool = False
    dims: Mapping[str, int] = field(default_factory=dict)

    def position(self, which: ArgumentRef) -> int:
        """Return where an argument stands.

        Raises:
            UnfitCaseError: The case has no such argument.
        """
        if isinstance(which, str) and which not in self.names:
            known = ", ".join(self.names)
            raise UnfitCaseError(f"case “{self.id}” has no argument “{which}”; it has {known}")
        position = self.names.index(which) if isinstance(which, str) else which
        if position >= len(self.args):
            raise UnfitCaseError(f"case “{self.id}” has only {len(self.args)} arguments")
        return position


def unnamed(position: int) -> str:
    """Return what an argument is called that nobody gave a name."""
    return f"argument {position + 1}"


@dataclass(frozen=True, slots=True)
class SpeedTest:
    """How a check has the function of its question timed.

    Attributes:
        scale: What which measure of speed earns.
        on_device: On a real GPU. Otherwise on the CPU, as the question's ``timed`` says.
        case: On a device: id of the case whose sizes it is timed at.
        cpu: On a device: function of the reference file that does the same on the CPU.
        values: On a device: id of the check whose rule every timed output has to pass.
    """

    scale: Credit
    on_device: bool = False
    case: str = ""
    cpu: str = ""
    values: str = ""


class Check(BaseModel, ABC):
    """One rule worth points.

    Attributes:
        id: Unique within the question.
        points: What full credit is worth; 0 for a check that only informs.
        cases: Ids of the cases that it judges; all of the question's where absent.
        requires: Ids of checks that must pass (or pass in part) before this one counts. A
            conditional kind that names none requires every unconditional check of its question,
            so that doing nothing never earns “input left unchanged”.
        visibility: Who sees the result; the question's where absent.
        item: Judge only this item of the result: a key of a dict, or a place in a tuple from 0.
        claim: What is judged is the student process's word about itself (a count of steps, say),
            not what the submission computed; the report says so.
        bonus: Its points count above the question's.
        diagnostic: It earns nothing and no report lists it. Where it fails beside another check of
            its question, that check says its message.
        message: What the student reads first where this check finds something wrong.
        hint: What the student reads last there.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    conditional: ClassVar[bool] = False
    numbers: ClassVar[bool] = True
    """Whether the numbers in what the reference returned matter, or only their form: a self-check
    carries those that matter with it."""
    results_alone: ClassVar[bool] = False
    """Whether it compares two results and looks at nothing else: it may judge timed outputs."""
    entry_by_entry: ClassVar[bool] = False
    """Whether it judges each number by itself, so that results of many calls can be judged as one
    tensor."""
    by_person: ClassVar[bool] = False
    """Whether a person judges it: whatever was written is read, also where it fails."""
    of_a_timeline: ClassVar[bool] = False
    """Whether it judges when devices worked: only virtual ones tell that."""

    id: Identifier
    points: float = Field(ge=0)
    cases: tuple[Identifier, ...] | None = None
    requires: tuple[Identifier, ...] | None = None
    visibility: Visibility | None = None
    item: Item | None = None
    claim: bool = False
    bonus: bool = False
    diagnostic: bool = False
    message: AuthorTextField | None = None
    hint: AuthorTextField | None = None
    if TYPE_CHECKING:  # Each kind has its own field. One here would move it in committed files.
        kind: str

    def judges(self, case: str) -> bool:
        """Tell whether this check judges the case with this id."""
        return self.cases is None or case in self.cases

    def needs(self) -> frozenset[Probe]:
        """Return the probes that the student process must run for this check."""
        return frozenset()

    def companions(self) -> CompanionNeeds | None:
        """Return the further runs of the reference that this check is judged against."""
        return None

    def arguments(self) -> tuple[ArgumentRef, ...]:
        """Return the case's arguments that this check refers to, by name or position."""
        return ()

    def operations(self) -> tuple[str, ...]:
        """Return patterns of the operations that this check tells apart in a device trace."""
        return ()

    def speed(self) -> SpeedTest | None:
        """Return how the question's function is timed for this check, if it judges speed."""
        return None

    def hears_time(self) -> bool:
        """Tell whether time settles what its own witnesses leave in doubt."""
        return False

    @abstractmethod
    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare two completed observations of the same case.

        Args:
            case: The host's inputs.
            reference: What the reference did; its outcome is ``completed``.
            submission: What the submission did; its outcome is ``completed``.

        Raises:
            UnfitCaseError: The case or the reference is not fit for this check.
        """

    def hears_log(self) -> bool:
        """Tell whether the log of a counted call can show that the rule is kept."""
        return False

    def waits_unproved(self) -> bool:
        """Tell whether points wait where a log is not proved though the reference's is.

        Not where a rule is worth little to whoever lies, or no log holds its names.
        """
        return True

    def shown(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> Mapping[str, Param] | None:
        """Return the numbers by which logs that were run again show that the rule is kept, or None.

        Such logs acquit and never convict: None says nothing.
        """
        return None

    def shown_in_part(self, reference: Observation) -> bool:
        """Tell whether the reference's logs show as much as a log can, of a rule that asks more."""
        return False

    def contradicted(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> bool:
        """Tell whether logs that were run again, but show no kept rule, contradict the counts.

        Asked only where the counts speak for the submission.
        """
        return True

    def read(self, source: EntryFacts) -> Verdict | None:
        """Return what the text of the function alone shows to be wrong, or None.

        For a self-check that has no case to judge: what grading will find is not to be promised.

        Args:
            source: Of the function of the question.
        """
        return None

    def margin(
        self, case: CaseInputs, reference: Observation, where: str
    ) -> tuple[Array, Array] | None:
        """Return the right numbers at one place of the result, and by how much each may differ.

        For pictures of wrong numbers; None for a kind that compares none.

        Raises:
            UnfitCaseError: The case or the reference is not fit for this check.
        """

    def devices_in(self, seen: Observation) -> object | None:
        """Return what devices did in a call, as this kind reads it; None for most kinds."""
