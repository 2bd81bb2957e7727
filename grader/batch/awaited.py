"""Findings of a class that wait for a person: whom they concern, and which lines they are about."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from grader.batch.decisions import (
    KEYS,
    PersonDecision,
    RubricPart,
    awaited,
    check_at,
    decide,
    judged_otherwise,
    met,
    outdated,
    rubric_of,
    same_finding,
)
from grader.batch.discover import ClassSubmission
from grader.batch.ledger import (
    Done,
    decisions_of,
    done_so_far,
    renew_gradebook,
    with_decided,
    write_decided,
)
from grader.batch.schedule import write
from grader.checks.by_hand import BY_HAND, DOCUMENT
from grader.errors import GraderError, UsageError, nearest
from grader.report.build import PLACES
from grader.report.model import CheckResult
from grader.store.journal import JOURNAL_FILE, Journal, open_journal
from grader.submission import read_submission

_COLUMNS = ("student", "question", "points", "why")
_AROUND = 3
"""Lines shown before and after the one that a finding names."""
_MOST_LINES = 40
_MOST_TEXT = 200_000
"""Bytes of a text that a person reads here; the whole of it lies in the file."""
_MOST_READ = 200
"""The same where a person reads the function itself."""
_READ = (BY_HAND, DOCUMENT)
"""Messages on what a person reads from beginning to end."""
_TEXTS = (".md", ".markdown", ".txt", ".rst", ".tex", ".csv")
_TRIPLE = ('"""', "'''")


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person wants to give.

    Attributes:
        student: Name of a submission, or a student's address, number or name.
        where: ``question`` or ``question.check``.
        points: Given.
        why: For the student.
        same: Give it to everybody with the same finding.
        items: Of the rubric, by name; they say the points then.
    """

    student: str
    where: str
    points: float
    why: str
    same: bool = False
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason why checks of a question wait for a person, and the submissions that it concerns.

    Attributes:
        question: Id.
        checks: Those that wait, of the first submission.
        everybody: All submissions.
    """

    question: str
    checks: tuple[CheckResult, ...]
    everybody: tuple[Done, ...]

    @property
    def worth(self) -> float:
        """Points that are open for each of them."""
        return round(sum(check.pending for check in self.checks), PLACES)

    def wishes(self, points: float, why: str) -> Iterator[Wish]:
        """Yield what gives each of them so many points, to one check after the other."""
        for check in self.checks:
            given = min(points, check.max_score)
            points = round(points - given, PLACES)
            for done in self.everybody:
                yield Wish(done.submission.name, f"{self.question}.{check.id}", given, why)

    @property
    def keys(self) -> dict[str, RubricPart]:
        """The items of the rubric by the keys of a review; empty where there is none to go by."""
        rubrics = [rubric_of(check) for check in self.checks]
        return dict(zip(KEYS, rubrics[0], strict=False)) if len(rubrics) == 1 else {}

    def by_keys(self, answer: str) -> tuple[str, ...]:
        """Return the names of the items whose keys an answer consists of; none if it does not."""
        keys = [sign for sign in answer if sign not in ", "]
        known = self.keys
        return tuple(known[key].name for key in keys) if set(keys) <= set(known) else ()

    def with_items(self, items: tuple[str, ...], why: str) -> Iterator[Wish]:
        """Yield what gives each of them the points of these items."""
        place = f"{self.question}.{self.checks[0].id}"
        for done in self.everybody:
            yield Wish(done.submission.name, place, 0.0, why, items=items)


class GradedClass:
    """A graded class that people decide on; a context manager that holds the journal.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self._journal: Journal = open_journal(out / JOURNAL_FILE)
        self._done = {done.submission.name: done for done in done_so_far(self._journal)}

    def __enter__(self) -> GradedClass:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def decide(self, wish: Wish, who: str) -> list[tuple[str, PersonDecision]]:
        """Write down what a person gives; return submission → decision.

        Raises:
            UsageError: There is no such student, question, check or item, or it is worth less.
        """
        first = self._find(wish.student)
        if wish.items:
            by_items = met(first.report, wish.where, wish.items, wish.why)
            wish = replace(wish, where=by_items.place, points=by_items.points, why=by_items.why)
        made = decide(first.report, wish.where, wish.points, wish.why, who)
        found = [(first.submission.name, item) for item in made]
        if wish.same:
            found += [(name, item) for item in made for name in self._alike(first, item)]
        for name, item in found:
            self._journal.decide(name, item.place, item.model_dump_json())
        return found

    def undo(self, student: str, where: str) -> list[str]:
        """Take decisions on a question or a check back; return the checks that were decided."""
        done = self._find(student)
        name = done.submission.name
        ours = [
            item
            for text in self._journal.decided().get(name, ())
            if (item := PersonDecision.model_validate_json(text)).place == where
            or item.question == where
        ]
        for item in ours:
            self._journal.decide(name, item.place, None)
        if not ours:
            raise UsageError(f"{name}: nothing was decided on {where}")
        # Here: nothing is decided on it any more, so that ``write_decided`` may pass it over.
        write(done.report, self.out)
        return [item.place for item in ours]

    def findings(self) -> list[Finding]:
        """Return what waits for a person, the same finding once."""
        groups: dict[tuple[object, ...], Finding] = {}
        for done in with_decided(self._journal, self._done.values()):
            for question, waiting in groupby(awaited(done.report), lambda pair: pair[0].id):
                for said, checks in _by_sentence(check for _, check in waiting).items():
                    names = tuple(check.id for check in checks)
                    new = Finding(question, tuple(checks), ())
                    # What a person reads is each student's own, whatever is said of it alike.
                    by_hand = checks[0].message_id in _READ
                    own = done.submission.name if by_hand else ""
                    found = groups.get((question, said, names, own), new)
                    everybody = (*found.everybody, done)
                    groups[question, said, names, own] = replace(found, everybody=everybody)
        return list(groups.values())

    def _alike(self, first: Done, decision: PersonDecision) -> Iterator[str]:
        mine = check_at(first.report, decision.place)
        for name, done in self._done.items():
            theirs = check_at(done.report, decision.place)
            # The same finding, not only the same check: points for one reason must not go to
            # another.
            if name != first.submission.name and mine and theirs and same_finding(mine, theirs):
                yield name

    def _find(self, student: str) -> Done:
        wanted = student.strip().casefold()
        if wanted in (known := {name.casefold(): done for name, done in self._done.items()}):
            return known[wanted]
        found = [done for done in self._done.values() if wanted in _names(done.submission)]
        # Two students of one name: a decision for the wrong one would change a grade.
        if len(found) != 1:
            what = "several submissions" if found else "no submission"
            raise UsageError(f"{self.out}: {what} of “{student}”{nearest(student, self._done)}")
        return found[0]


def _by_sentence(checks: Iterable[CheckResult]) -> dict[str, list[CheckResult]]:
    found: dict[str, list[CheckResult]] = {}
    for check in checks:
        found.setdefault(check.message, []).append(check)
    return found


@contextmanager
def deciding(out: Path) -> Iterator[GradedClass]:
    """Give a class to decide on; reports and gradebook are written again afterwards.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
        InfrastructureError: The disk is full or broken.
    """
    with GradedClass(out) as course:
        yield course
    write_decided(out)
    renew_gradebook(out)


def read_wishes(path: Path) -> list[Wish]:
    """Return the decisions in a CSV with the columns student, question, points, why.

    Raises:
        UsageError: It cannot be read, lacks a column, or has a number that is none; names the line.
    """
    try:
        rows = list(csv.DictReader(path.read_text("utf-8-sig").splitlines(), strict=True))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: is no CSV in UTF-8: {error}") from error
    return [_wish(path, number, row) for number, row in enumerate(rows, 2)]


def _wish(path: Path, number: int, row: dict[str, str | None]) -> Wish:
    if missing := [name for name in _COLUMNS if row.get(name) is None]:
        raise UsageError(f"{path}:{number}: no column “{missing[0]}”; needs {', '.join(_COLUMNS)}")
    student, where, points, why = (str(row[name]).strip() for name in _COLUMNS)
    try:
        return Wish(student, where, float(points), why)
    except ValueError as error:
        raise UsageError(f"{path}:{number}: points are no number: “{points}”") from error


def lines_of(finding: Finding) -> list[str]:
    """Return the lines that a finding is about, of the first submission; none if it is gone."""
    if finding.checks[0].message_id == DOCUMENT:
        return _document_lines(finding.everybody[0], str(finding.checks[0].params["file"]))
    done = finding.everybody[0]
    wanted = [file.path for file in done.report.submission.files]
    if not wanted:
        # Its code could not be read, so nobody looked for what else there is.
        return list(map(str, done.submission.paths))
    try:
        files = read_submission(done.submission.path, wanted).files
    except GraderError:
        return []
    params = finding.checks[0].params
    named, path = params.get("line"), params.get("file")
    files = tuple(file for file in files if file.path == path) or files
    most = _MOST_READ if finding.checks[0].message_id in _READ else _MOST_LINES
    for file in files:
        lines = file.data.decode(errors="replace").splitlines()
        if isinstance(named, int) and 0 < named <= len(lines):
            first, last = max(1, named - _AROUND), min(len(lines), named + _AROUND)
        elif found := _function(lines, finding.question, most):
            first, last = found
        else:
            continue
        return _numbered(lines, first, last)
    return []


def _document_lines(done: Done, name: str) -> list[str]:
    """Return where a file lies that a person reads, its size, and its beginning if it is text.

    It is read as bytes; nothing else is done with it here.
    """
    where = done.submission.path
    wanted = [file.path for file in done.report.submission.files]
    try:
        (file,) = read_submission(where, wanted, documents=[name]).documents
    except (GraderError, ValueError):
        return [f"{name}: is no longer there as it was handed in"]
    place = where.get(name) if isinstance(where, Mapping) else where
    inside = "" if isinstance(where, Mapping) else f": {file.origin}"
    head = f"{place or name}{inside} ({file.size})"
    if not name.lower().endswith(_TEXTS):
        return [head]
    lines = file.data[:_MOST_TEXT].decode(errors="replace").splitlines()
    more = len(lines) > _MOST_READ or len(file.data) > _MOST_TEXT
    shown = _numbered(lines, 1, min(len(lines), _MOST_READ))
    return [head, *shown, *(["      …"] if more else [])]


def _function(lines: Sequence[str], name: str, most: int) -> tuple[int, int] | None:
    """Return the first and last line of a function or class; the text need not parse."""
    starts = [
        number
        for number, line in enumerate(lines, 1)
        if line.startswith((f"def {name}(", f"class {name}(", f"class {name}:"))
    ]
    if not starts:
        return None
    return starts[-1], min(_end(lines, starts[-1]), starts[-1] + most)


def _end(lines: Sequence[str], start: int) -> int:
    """Return the last line of a function that starts at a line."""
    quoted = False
    for number, line in enumerate(lines[start:], start + 1):
        if line[:1].strip() and not quoted and not line.startswith(("#", ")")):
            return number - 1
        # An essay's text stands in the first column, too, and is no end of its function.
        quoted ^= sum(map(line.count, _TRIPLE)) % 2 == 1
    return len(lines)


def _numbered(lines: Sequence[str], first: int, last: int) -> list[str]:
    return [f"{number:5} {lines[number - 1]}" for number in range(first, last + 1)]


def _names(submission: ClassSubmission) -> set[str]:
    parts: Iterable[str] = (
        text for each in submission.students for text in (each.email, each.id, each.name)
    )
    return {text.casefold() for text in parts if text}


def overtaken(out: Path) -> list[str]:
    """Return a sentence on each decision that the grader has overtaken since.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
    """
    lines = []
    with open_journal(out / JOURNAL_FILE) as journal:
        decisions = decisions_of(journal)
        for done in done_so_far(journal) if decisions else ():
            for item in decisions.get(done.submission.name, ()):
                where = f"{done.submission.name} {item.place}"
                if outdated(done.report, item):
                    lines.append(
                        f"The decision on {where} does not count any more: the check is gone, or "
                        "worth something else. Decide again."
                    )
                elif judged_otherwise(done.report, item):
                    lines.append(
                        f"The grader judges {where} otherwise since it was decided; the decision "
                        f"stands: {item.points:g} points."
                    )
    return lines
