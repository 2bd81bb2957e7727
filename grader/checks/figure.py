"""Kind ``figure``: credit by a number that the work reached, an accuracy or a loss."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import Self

from grader.checks.arrays import to_numpy
from grader.checks.base import CaseInputs, Check
from grader.checks.trees import describe
from grader.clock.credit import Share
from grader.observation import Observation
from grader.verdict import Code, Param, Verdict, earned, finding
from grader.wire.values import Opaque, Tensor, Value


class Bar(BaseModel):
    """What one figure, or a better one, earns: exactly one of the two bounds is given.

    Attributes:
        at_least: Least figure that earns it, where more is better.
        at_most: Greatest figure that earns it, where less is better.
        credit: Share of the points.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    at_least: float | None = Field(default=None, allow_inf_nan=False)
    at_most: float | None = Field(default=None, allow_inf_nan=False)
    credit: Share

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("give one of at_least and at_most")
        return self

    @property
    def bound(self) -> float:
        """The one bound that is given."""
        bound = self.at_most if self.at_least is None else self.at_least
        assert bound is not None  # _one_bound saw to it
        return bound

    def reached(self, figure: float) -> bool:
        """Return whether a figure earns it; what is not a number earns nothing."""
        return figure <= self.bound if self.at_least is None else figure >= self.bound


class Figure(Check):
    """Credit by a number: the result itself, or with ``item`` a part of it.

    The bars are the author's: what the reference reaches does not move them.

    Attributes:
        steps: Bars, best first, that all look the same way; below the last there is no credit.
    """

    numbers: ClassVar[bool] = False
    kind: Literal["figure"] = "figure"
    steps: tuple[Bar, ...] = Field(min_length=1, max_length=20)

    @model_validator(mode="after")
    def _falls(self) -> Self:
        if len({step.at_least is None for step in self.steps}) > 1:
            raise ValueError("found at_least and at_most; keep the one that is meant")
        if self.steps[0].credit != 1:
            raise ValueError(f"the first step earns {self.steps[0].credit}; the best must earn 1")
        for best, next_one in zip(self.steps, self.steps[1:], strict=False):
            if best.reached(next_one.bound) or best.credit <= next_one.credit:
                raise ValueError("each step must be easier than the one before, and earn less")
        return self

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Find the best bar that the figure reaches."""
        value = submission.claims.value
        figure = _number(value)
        if figure is None:
            params: dict[str, Param] = {
                "actual": describe(value), "expected": "number", "where": "result",
            }  # fmt: skip
            return finding(Code.WRONG_TYPE, "wrong_type", params)
        credit = next((step.credit for step in self.steps if step.reached(figure)), 0.0)
        message = "figure_too_high" if self.steps[0].at_least is None else "figure_too_low"
        return earned(credit, Code.WRONG_VALUE, message, self._params(figure, credit))

    def _params(self, figure: float, credit: float) -> dict[str, Param]:
        """Return what a message says of a figure that does not earn all points."""
        ahead = [step for step in self.steps if step.credit > credit]
        params: dict[str, Param] = {
            "where": "result",
            "figure": _shown(figure),
            "full": _shown(self.steps[0].bound),
            "percent": round(100 * credit),
        }
        # Best first: the last of those ahead is the one to reach next.
        if len(ahead) > 1:
            params |= {"next": _shown(ahead[-1].bound), "gain": round(100 * ahead[-1].credit)}
        return params


def _number(value: Value) -> float | None:
    """Return a lone number, or None: a bool is none."""
    if isinstance(value, Tensor):
        real = value.dtype != "bool" and not value.dtype.startswith("complex")
        return float(to_numpy(value).reshape(())) if real and math.prod(value.shape) == 1 else None
    value = value.number if isinstance(value, Opaque) else value
    return float(value) if isinstance(value, (int, float)) and value.__class__ is not bool else None


def _shown(figure: float) -> str:
    return f"{figure:.4g}"
