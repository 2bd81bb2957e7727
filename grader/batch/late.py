"""What lateness costs: a policy file, extensions, the time and number of each hand-in.

A policy never touches a report: a report says what the work is worth, the gradebook what of that
counts. ::

    due: 2026-10-01T23:59:00+09:00
    grace_minutes: 10
    per_day: 0.1          # share of the score that each day begun takes
    most: 0.5             # the most that lateness takes
    closes: 2026-10-08T23:59:00+09:00    # what comes later earns nothing
    attempts: 10          # so many are free; only some platforms tell how many there were
    per_attempt: 0.05     # share of the score that each further one takes
    extensions:           # e-mail address, number or name of the hand-in → due instead
      mina@example.edu: 2026-10-03T23:59:00+09:00
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from grader.batch.discover import HandIn
from grader.errors import UsageError
from grader.report.summary import counted

_DAY = 24 * 3600
_Share = Annotated[float, Field(ge=0, le=1)]


class LatePolicy(BaseModel):
    """When a hand-in is due, and what coming later costs.

    Attributes:
        due: Deadline, with its time zone.
        grace_minutes: How much later is still in time.
        per_day: Share of the score that each day begun takes.
        most: The most that lateness takes, as a share.
        closes: What comes later than this earns nothing; an extension moves it along.
        attempts: How many are free; where the platform does not tell how many there were, all are.
        per_attempt: Share of the score that each further one takes.
        extensions: E-mail address, number or name of a hand-in → due instead.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    due: AwareDatetime
    grace_minutes: Annotated[float, Field(ge=0)] = 0.0
    per_day: _Share = 0.0
    most: _Share = 1.0
    closes: AwareDatetime | None = None
    attempts: Annotated[int, Field(ge=1)] | None = None
    per_attempt: _Share = 0.0
    extensions: dict[str, AwareDatetime] = {}

    @model_validator(mode="after")
    def _in_order(self) -> LatePolicy:
        if self.closes is not None and self.closes < self.due:
            raise ValueError(f"closes {self.closes} is before due {self.due}")
        for name, moment in self.extensions.items():
            if moment < self.due:
                raise ValueError(f"the extension of {name}, {moment}, is before due {self.due}")
        return self

    def __str__(self) -> str:
        parts = [f"due {self.due:%Y-%m-%d %H:%M %z}"]
        if self.per_day:
            parts.append(f"{self.per_day:.0%} a day, {self.most:.0%} at most")
        if self.closes:
            parts.append(f"closed {self.closes:%Y-%m-%d %H:%M %z}")
        if self.extensions:
            parts.append(counted(len(self.extensions), "extension"))
        return ", ".join(parts)

    def lateness(self, hand_in: HandIn) -> Lateness:
        """Return how late a hand-in came, and what that and its attempts take."""
        late = self._lateness(hand_in)
        further = max(0, (hand_in.attempts or 0) - (self.attempts or sys.maxsize))
        if late.penalty is None or not further:
            return late
        return Lateness(late.days, min(1.0, late.penalty + further * self.per_attempt))

    def _lateness(self, hand_in: HandIn) -> Lateness:
        """Return what the time alone takes; the kindest extension counts."""
        if hand_in.created_at is None:
            return Lateness(None, 0.0 if hand_in.late is False else None)
        names = {hand_in.name.casefold()}
        for student in hand_in.students:
            names |= {student.email.casefold(), student.id.casefold()} - {""}
        known = {name.casefold(): moment for name, moment in self.extensions.items()}
        due = max([self.due, *(known[name] for name in names if name in known)])
        late = (hand_in.created_at - due).total_seconds()
        if late <= self.grace_minutes * 60:
            return Lateness(0.0, 0.0)
        if self.closes and hand_in.created_at > max(self.closes, due):
            return Lateness(late / _DAY, 1.0)
        return Lateness(late / _DAY, min(self.most, math.ceil(late / _DAY) * self.per_day))

    def refuse_strangers(self, hand_ins: Sequence[HandIn]) -> None:
        """Refuse extensions of somebody who is not in the class: a name mistyped.

        Raises:
            UsageError: Names them.
        """
        if strangers := self._strangers(hand_ins):
            raise UsageError(
                f"--late: extensions for {', '.join(strangers)}, who handed nothing in here; write "
                "the e-mail address, number or hand-in as the gradebook does"
            )

    def _strangers(self, hand_ins: Sequence[HandIn]) -> list[str]:
        known = {hand_in.name.casefold() for hand_in in hand_ins}
        for hand_in in hand_ins:
            for student in hand_in.students:
                known |= {student.email.casefold(), student.id.casefold()}
        return [name for name in self.extensions if name.casefold() not in known]


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late something came.

    Attributes:
        days: Days after it was due; None where nobody knows when it came.
        penalty: Share of the score that this takes; None where a person has to say.
    """

    days: float | None
    penalty: float | None


def read_policy(path: Path) -> LatePolicy:
    """Return the policy in a file.

    Raises:
        UsageError: It cannot be read, or does not say what a policy says; names the field.
    """
    try:
        content = yaml.safe_load(path.read_text())
        return LatePolicy.model_validate(content)
    except OSError as error:
        raise UsageError(f"--late {path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"--late {path}: is no YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        advice = (
            "; write times with their zone, as 2026-10-01T23:59:00+09:00"
            if "timezone" in first["type"] or "datetime" in first["type"]
            else ""
        )
        raise UsageError(f"--late {path}: {where}: {first['msg']}{advice}") from error
