"""What a person is shown of a batch: how far it is, and the lines that a finding is about.

How far it is comes from the journal alone: while it runs, or after it was stopped or killed. The
lines are for the person who decides on a finding.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.batch.decisions import awaited
from grader.batch.graded import GradedSubmission
from grader.batch.ledger import GRADED_AT, BatchSettings, graded_so_far, setup_of
from grader.batch.review_queue import READ, Finding
from grader.checks.by_hand import DOCUMENT
from grader.progress import span
from grader.report.excerpts import function_in
from grader.report.model import ReportStatus
from grader.report.summary import counted, few
from grader.store.journal import JOURNAL_FILE, watched
from grader.submission import SubmittedFile, read_again
from grader.submission.notebook import NEWLINE

_SUBMISSION = "submission"


@dataclass(frozen=True, slots=True)
class BatchStatus:
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


class Tally:
    """How far a class is while its results come in.

    Args:
        total: How many submissions it has.

    Attributes:
        total: How many results will come, as far as is known: what waits for the clock comes once
            more, at the end, and so does what is tried again as its sandbox failed.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._standing: dict[str, str] = {}
        self._untimed: set[str] = set()

    def add(self, graded: GradedSubmission) -> bool:
        """Count a result; tell whether it is its submission's first one."""
        name, known = graded.name, self._standing.get(graded.name)
        again = known == ReportStatus.INCOMPLETE.value
        if known is None or again:
            self._standing[name] = graded.report.standing
        if not graded.timed:
            self._untimed.add(name)
        self.total += (not graded.timed) + (again and name not in self._untimed)
        return known is None

    def __str__(self) -> str:
        """Return how the class fared so far: ``12 final · 3 pending``."""
        counts = Counter(self._standing.values()).most_common()
        return " · ".join(f"{count} {word}" for word, count in counts)


def read_standing(out: Path) -> BatchStatus:
    """Return how far a batch is.

    Raises:
        UsageError: No batch was begun there, or its journal is damaged.
    """
    with watched(out / JOURNAL_FILE) as (journal, working):
        setup = setup_of(journal, out)
        done = list(graded_so_far(journal))
        moments = [each.about.get(GRADED_AT) for each in journal.entries()]
    untimed = sum(not each.timed for each in done) if setup.clock else 0
    left = max(0, setup.total - len(done))
    return BatchStatus(
        setup.assignment,
        setup.total,
        len(done),
        tuple(each.name for each in done if each.report.status is ReportStatus.INCOMPLETE),
        tuple(each.name for each in done if any(awaited(each.report))),
        untimed,
        working,
        seconds_left(setup, [dt.datetime.fromisoformat(text) for text in moments if text], left),
        setup.watched,
    )


def seconds_left(setup: BatchSettings, moments: list[dt.datetime], left: int) -> float | None:
    """Return how long what is left takes at the pace since the batch was begun or gone on with."""
    begun = setup.begun_at
    ours = [moment for moment in moments if begun and moment >= begun]
    # Of a watched folder nobody knows what is still to come, nor when.
    if not begun or not ours or not left or setup.watched:
        return None
    return (max(ours) - begun).total_seconds() / len(ours) * left


_AROUND = 3
"""Lines shown before and after the one that a finding names."""
_MOST_LINES = 40
_MOST_TEXT = 200_000
"""Bytes of a text that a person reads here; the whole of it lies in the file."""
_MOST_READ = 200
"""The same where a person reads the function itself."""
_TEXTS = (".md", ".markdown", ".txt", ".rst", ".tex", ".csv")


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a submitted file.

    Attributes:
        file: The file.
        first: Number of the first line here.
        lines: All here.
    """

    file: SubmittedFile
    first: int
    lines: tuple[str, ...]


def lines_of(finding: Finding) -> list[str]:
    """Return the lines that a finding is about, of the first submission; none if it is gone."""
    done = finding.everybody[0]
    if finding.checks[0].message_id == DOCUMENT:
        return _document_lines(done, str(finding.checks[0].params["file"]))
    if not done.report.submission.files:
        # Its code could not be read, so nobody looked for what else there is.
        return list(map(str, done.submission.paths))
    passage = passage_of(finding)
    return _numbered(passage.lines, passage.first) if passage else []


def passage_of(finding: Finding) -> Passage | None:
    """Return the lines of code that a finding is about; None where there are none, or no more."""
    done, check = finding.everybody[0], finding.checks[0]
    wanted = [file.path for file in done.report.submission.files]
    if check.message_id == DOCUMENT or not wanted:
        return None
    submission = read_again(done.submission.path, wanted)
    if submission is None:
        return None
    named, path = check.params.get("line"), check.params.get("file")
    most = _MOST_READ if check.message_id in READ else _MOST_LINES
    for file in tuple(file for file in submission.files if file.path == path) or submission.files:
        # As Python counts lines, and as they are counted for comments.
        lines = NEWLINE.split(file.data.decode(errors="replace").removesuffix("\n"))
        if isinstance(named, int) and 0 < named <= len(lines):
            first, last = max(1, named - _AROUND), min(len(lines), named + _AROUND)
        elif found := function_in(lines, finding.question):
            first, last = found[0], min(found[1], found[0] + most)
        else:
            continue
        return Passage(file, first, tuple(lines[first - 1 : last]))
    return None


def _document_lines(done: GradedSubmission, name: str) -> list[str]:
    """Return where a file lies that a person reads, its size, and its beginning if it is text.

    It is read as bytes; nothing else is done with it here.
    """
    where = done.submission.path
    wanted = [file.path for file in done.report.submission.files]
    submission = read_again(where, wanted, documents=[name])
    if submission is None or not submission.documents:
        return [f"{name}: is no longer there as it was handed in"]
    (file,) = submission.documents
    place = where.get(name) if isinstance(where, Mapping) else where
    inside = "" if isinstance(where, Mapping) else f": {file.origin}"
    head = f"{place or name}{inside} ({file.size})"
    if not name.lower().endswith(_TEXTS):
        return [head]
    lines = file.data[:_MOST_TEXT].decode(errors="replace").splitlines()
    more = len(lines) > _MOST_READ or len(file.data) > _MOST_TEXT
    shown = _numbered(lines[:_MOST_READ], 1)
    return [head, *shown, *(["      …"] if more else [])]


def _numbered(lines: Sequence[str], first: int) -> list[str]:
    return [f"{number:5} {line}" for number, line in enumerate(lines, first)]
