"""How far a batch is, from its journal alone: while it runs, or after it was stopped or killed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.batch.decisions import awaited
from grader.batch.ledger import GRADED_AT, Setup, done_so_far, setup_of, with_decided
from grader.progress import span
from grader.report.model import ReportStatus
from grader.report.summary import counted, few
from grader.store.journal import JOURNAL_FILE, watched

_SUBMISSION = "submission"


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a batch is.

    Attributes:
        assignment: Id.
        total: Submissions of the class; 0 where the journal is of an earlier version.
        done: How many are graded, those included at which the grader failed.
        failed: Submissions at which the grader itself failed.
        person: Submissions that wait for a person.
        untimed: How many are still to be timed, or were not because the batch was stopped.
        working: A batch is at work.
        seconds_left: About how long it will take; None where nobody can say yet.
        watched: The folder that is or was watched; empty where none is.
    """

    assignment: str
    total: int
    done: int
    failed: tuple[str, ...]
    person: tuple[str, ...]
    untimed: int
    working: bool
    seconds_left: float | None
    watched: str = ""

    def sentences(self, folder: Path) -> Iterator[str]:
        """Yield what a person wants to know, and what to do."""
        to_go = max(0, self.total - self.done)
        of_all = f" of {self.total}" if self.total else ""
        yield f"{self.assignment}: {self.done}{of_all} graded. {self._state(to_go)}"
        if to_go:
            yield f"To go: {counted(to_go, _SUBMISSION)}."
        if self.untimed:
            yield f"To be timed, one at a time: {counted(self.untimed, _SUBMISSION)}."
        if self.failed:
            names = few(self.failed)
            yield f"The grader failed at: {names}. --resume runs them again; no points are lost."
        if self.person:
            names = few(self.person)
            yield f"Waiting for a person: {names}. `grader review {folder}` goes through them."

    def _state(self, to_go: int) -> str:
        if self.watched:
            if self.working:
                return f"{self.watched} is watched."
            return f"Nobody watches {self.watched}: run the same `grader batch` to go on."
        if self.working:
            if self.seconds_left is None:
                return "A batch is at work."
            return f"A batch is at work; about {span(self.seconds_left)} left."
        if to_go or self.untimed or self.failed:
            return "No batch is at work: run the same `grader batch` with --resume to go on."
        return "It is finished."


def read_standing(out: Path) -> Standing:
    """Return how far a batch is.

    Raises:
        UsageError: No batch was begun there, or its journal is damaged.
    """
    with watched(out / JOURNAL_FILE) as (journal, working):
        setup = setup_of(journal, out)
        done = list(with_decided(journal, done_so_far(journal)))
        moments = [each.about.get(GRADED_AT) for each in journal.entries()]
    untimed = sum(not each.timed for each in done) if setup.clock else 0
    left = max(0, setup.total - len(done))
    return Standing(
        setup.assignment,
        setup.total,
        len(done),
        tuple(
            each.submission.name for each in done if each.report.status is ReportStatus.INCOMPLETE
        ),
        tuple(each.submission.name for each in done if any(awaited(each.report))),
        untimed,
        working,
        _seconds_left(setup, [dt.datetime.fromisoformat(text) for text in moments if text], left),
        setup.watched,
    )


def _seconds_left(setup: Setup, moments: list[dt.datetime], left: int) -> float | None:
    """Return how long what is left takes at the pace since the batch was begun or gone on with."""
    begun = setup.begun_at
    ours = [moment for moment in moments if begun and moment >= begun]
    # Of a watched folder nobody knows what is still to come, nor when.
    if not begun or not ours or not left or setup.watched:
        return None
    return (max(ours) - begun).total_seconds() / len(ours) * left
