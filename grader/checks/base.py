"""What every check is: a rule worth points, with a pure judge.

A check kind is one file: its parameters (fields), what it ``needs()`` from the closed list of
probes, and ``judge()``. Judging reads no clock, file, random number or global state, so that saved
observations can be judged again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from grader.observation import Observation
from grader.verdict import Verdict, Visibility
from grader.wire.values import Value

GROWTH_FACTOR = 4
"""What a size is multiplied by to see whether counts grow with it."""

Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")]


class Probe(str, Enum):
    """What a guest can be asked to observe beside the returned value. A closed list."""

    ARGS_AFTER = "args_after"
    LAYOUT = "layout"
    SOURCE = "source"
    COUNTING = "counting"
    GROWTH = "growth"
    DEVICES = "devices"

    @property
    def in_the_call(self) -> bool:
        """Whether the guest observes it in the very call whose value is judged.

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
    """The host's own copy of what was sent into the guests.

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
        item: Judge only this item of the dict that a scenario returns.
        claim: What is judged is the guest's word about itself (a count of steps, say), not what
            the hand-in computed; the report says so.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    conditional: ClassVar[bool] = False
    numbers: ClassVar[bool] = True
    """Whether the numbers in what the reference returned matter, or only their form: a self-check
    carries those that matter with it."""

    id: Identifier
    points: float = Field(ge=0)
    cases: tuple[Identifier, ...] | None = None
    requires: tuple[Identifier, ...] | None = None
    visibility: Visibility | None = None
    item: Identifier | None = None
    claim: bool = False

    def needs(self) -> frozenset[Probe]:
        """Return the probes that the guest must run for this check."""
        return frozenset()

    def companions(self) -> CompanionNeeds | None:
        """Return the further runs of the reference that this check is judged against."""
        return None

    def arguments(self) -> tuple[int | str, ...]:
        """Return the case's arguments that this check refers to, by name or position."""
        return ()

    @abstractmethod
    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare two completed observations of the same case.

        Args:
            case: The host's inputs.
            reference: What the reference did; its outcome is ``completed``.
            submission: What the submission did; its outcome is ``completed``.
        """
