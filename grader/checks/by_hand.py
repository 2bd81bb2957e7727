"""Kind ``by_hand``: points that a person gives, who has read what was handed in."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import Self

from grader.checks.base import CaseInputs, Check, Identifier
from grader.observation import Observation
from grader.verdict import Basis, Message, Param, Verdict, review

BY_HAND = "by_hand"
"""The kind, and the message where a function is read."""
DOCUMENT = "by_hand_file"
"""The message where a file is read."""


class RubricItem(BaseModel):
    """One thing to look for.

    Attributes:
        text: What, in a few words that students read too.
        points: What it is worth.
        id: Its name in ``grader decide --item``; its number from 1 where absent.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=120)]
    points: float = Field(gt=0, allow_inf_nan=False)
    id: Identifier | None = None


class ByHand(Check):
    """Points that wait until a person has read the function, whether it is right or not.

    Attributes:
        rubric: What to look for; adds up to the points.
    """

    # Nothing rests on what a person has not said yet, and this rests on nothing.
    conditional: ClassVar[bool] = True
    numbers: ClassVar[bool] = False
    by_person: ClassVar[bool] = True
    kind: Literal["by_hand"] = "by_hand"
    requires: tuple[Identifier, ...] | None = ()
    rubric: tuple[RubricItem, ...] = Field(default=(), max_length=20)

    @property
    def items(self) -> dict[str, RubricItem]:
        """The rubric by the names of its items."""
        return {item.id or str(number): item for number, item in enumerate(self.rubric, 1)}

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        total = math.fsum(item.points for item in self.rubric)
        if self.rubric and not math.isclose(total, self.points, abs_tol=1e-6):
            raise ValueError(f"the rubric adds up to {total:g}, and the points are {self.points:g}")
        if len(self.items) < len(self.rubric):
            raise ValueError("two items of the rubric have the same id")
        return self

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Leave it to a person."""
        return self.received()

    def received(self, file: str | None = None, size: str | None = None) -> Verdict:
        """Leave it to a person.

        Args:
            file: What was handed in for them to read, where it is no function.
            size: Of that, in words.
        """
        items = "; ".join(f"{item.text} ({item.points:g})" for item in self.rubric)
        params: dict[str, Param] = {"rubric": items} if items else {}
        if file is not None:
            params |= {"file": file, "size": size}
        rubric: list[Param] = [[name, item.text, item.points] for name, item in self.items.items()]
        verdict = review(Message(DOCUMENT if file else BY_HAND, params), Basis.FACT)
        return replace(verdict, evidence={"rubric": rubric} if rubric else {})


def received(
    checks: Iterable[Check], file: str | None = None, size: str | None = None
) -> dict[str, Verdict]:
    """Return the verdicts, by their ids, of the checks that wait for a person; see ``ByHand``."""
    by_person = (check for check in checks if isinstance(check, ByHand))
    return {check.id: check.received(file, size) for check in by_person}
