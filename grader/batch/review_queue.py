"""Findings of a class that wait for a person: whom they concern, and which lines they are about."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from grader.batch.comments import CommentRequest, comment_at, comment_on
from grader.batch.decisions import (
    KEYS,
    RubricPart,
    awaited,
    check_at,
    decide,
    judged_otherwise,
    met,
    rubric_of,
    same_finding,
)
from grader.batch.graded import GradedSubmission
from grader.batch.ledger import (
    graded_so_far,
    one_of,
    renew_gradebook,
    write_decided,
)
from grader.batch.schedule import write
from grader.checks.by_hand import BY_HAND, DOCUMENT
from grader.errors import UsageError
from grader.report.build import PLACES
from grader.report.layers import PersonDecision, outdated
from grader.report.model import CheckResult, LineComment, Report
from grader.store.journal import JOURNAL_FILE, Word, leave, open_journal
from grader.verdict import Basis, Code

_COLUMNS = ("student", "question", "points", "why")
READ = (BY_HAND, DOCUMENT)
"""Messages on what a person reads from beginning to end."""


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """What a person wants to give.

    Attributes:
        student: Name of a submission, or a student's address, number or name.
        where: ``question`` or ``question.check``.
        points: Given.
        why: For the student.
        same: Give it to everybody with the same finding.
        items: Of the rubric, by name; they say the points then.
        source: File and line that ask for it; empty for a person at the terminal.
    """

    student: str
    where: str
    points: float
    why: str
    same: bool = False
    items: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class DecisionOutcome:
    """What was written down.

    Attributes:
        made: Submission and decision.
        kept: Submissions with the same finding, of which somebody had decided otherwise.
    """

    made: list[tuple[str, PersonDecision]]
    kept: list[str]


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
    everybody: tuple[GradedSubmission, ...]

    @property
    def worth(self) -> float:
        """Points that are open for each of them."""
        return round(sum(check.pending for check in self.checks), PLACES)

    def wishes(self, points: float, why: str) -> Iterator[DecisionRequest]:
        """Yield what gives each of them so many points, to one check after the other."""
        for check in self.checks:
            given = min(points, check.max_score)
            points = round(points - given, PLACES)
            for done in self.everybody:
                yield DecisionRequest(done.name, f"{self.question}.{check.id}", given, why)

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

    def with_items(self, items: tuple[str, ...], why: str) -> Iterator[DecisionRequest]:
        """Yield what gives each of them the points of these items."""
        place = f"{self.question}.{self.checks[0].id}"
        for done in self.everybody:
            yield DecisionRequest(done.name, place, 0.0, why, items=items)


def apart(done: GradedSubmission, check: CheckResult) -> str:
    """Return what tells a submission's finding from the same one of others, if anything does.

    A doubt about the word of its process is about all of its bytes: what an honest file and one
    with forged counts have in common tells nothing.
    """
    doubted = check.code is Code.NEEDS_REVIEW and check.basis is Basis.CLAIM
    return done.digest or done.name if doubted else ""


class ReviewQueue:
    """A graded class that people decide on; a context manager that holds the journal.

    Args:
        out: ``--out`` of the batch.
        known: Everybody by name, as read a moment ago; read from the journal where None.
        beside: Leave the journal to a batch at work, which takes up what is decided here. Takes
            everybody as read a moment ago.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
    """

    def __init__(
        self,
        out: Path,
        known: Mapping[str, GradedSubmission] | None = None,
        beside: bool = False,
    ) -> None:
        self.out = out
        self._journal = None if beside else open_journal(out / JOURNAL_FILE)
        if known is None:
            everybody = graded_so_far(self._journal) if self._journal else ()
            known = {done.name: done for done in everybody}
        self._done = dict(known)

    def __enter__(self) -> ReviewQueue:
        return self

    def __exit__(self, *_: object) -> None:
        if self._journal is not None:
            self._journal.close()

    def take_up(self) -> dict[str, GradedSubmission]:
        """Return the submissions of which others have said something meanwhile."""
        if self._journal is None:
            return {}
        concerned = graded_so_far(self._journal, self._journal.take_up())
        changed = {each.name: each for each in concerned}
        self._done |= changed
        return changed

    def decide(self, wishes: Iterable[DecisionRequest], who: str) -> DecisionOutcome:
        """Write down what a person gives: all of it, or nothing where some of it is not possible.

        Raises:
            UsageError: There is no such student, question, check or item, it is worth less, or
                it is decided twice; names the line of the table.
        """
        found, kept, seen = [], [], dict[tuple[str, str], str]()
        for wish in wishes:
            with _told_where(wish.source):
                first, made = self._made(wish, who)
                for item in made:
                    at = (first.name, item.place)
                    # Which of the two lines is meant, nobody but a person can tell.
                    if wish.source and at in seen:
                        raise UsageError(f"{' '.join(at)} is decided already by {seen[at]}")
                    seen[at] = wish.source
                    found.append((first.name, item))
                    for name, own in self._alike(first, item) if wish.same else ():
                        if own:
                            kept.append(name)
                        else:
                            found.append((name, item))
        self._write((name, item.place, item) for name, item in found)
        return DecisionOutcome(found, kept)

    def _write(self, made: Iterable[tuple[str, str, PersonDecision | None]]) -> None:
        every = list(made)
        self._say(("decided", name, place, item) for name, place, item in every)
        for name, place, item in every:
            graded = self._done[name]
            others = [each for each in graded.decisions if each.place != place]
            self._done[name] = graded.with_decisions(others if item is None else [*others, item])

    def _say(
        self, words: Iterable[tuple[str, str, str, PersonDecision | LineComment | None]]
    ) -> None:
        rows: list[Word] = [
            (table, name, place, None if item is None else item.model_dump_json())
            for table, name, place, item in words
        ]
        if self._journal is not None:
            self._journal.say(rows)
        else:
            leave(self.out / JOURNAL_FILE, rows)

    def undo(self, student: str, where: str, same: bool = False) -> list[str]:
        """Take decisions on a question or a check back.

        Args:
            student: As in a wish.
            where: ``question`` or ``question.check``.
            same: From everybody who was given the same for the same finding, too.

        Returns:
            Submission and check of each.
        """
        first = one_of(self.out, self._done, student)
        name = first.name
        ours = [
            item for item in self._decided_on(name).values() if where in (item.place, item.question)
        ]
        if not ours:
            raise UsageError(f"{name}: nothing was decided on {where}")
        undone = [(name, item.place) for item in ours]
        for item in ours if same else ():
            undone += [
                (other, item.place)
                for other, own in self._alike(first, item)
                if not own and item.place in self._decided_on(other)
            ]
        self._write((other, place, None) for other, place in undone)
        for other in {other for other, _ in undone} if self._journal is not None else ():
            # Here: nothing may be decided on it any more, so that ``write_decided`` passes it over.
            write(self._done[other].report, self.out)
        return [f"{other} {place}" for other, place in undone]

    def submission(self, student: str) -> GradedSubmission:
        """Return a submission by its name, or by a student's address, number or name.

        Raises:
            UsageError: There is none, or several students share that name.
        """
        return one_of(self.out, self._done, student)

    def comment(
        self, done: GradedSubmission, request: CommentRequest, who: str
    ) -> LineComment | None:
        """Write down what a person says of a line; without a text the comment there is taken away.

        Args:
            done: The submission, with the comments that stand.
            request: What is said.
            who: Says it.

        Returns:
            What stands there now.

        Raises:
            UsageError: There is no such line, or no comment to take away.
        """
        earlier = comment_at(done, request)
        if request.text.strip() or earlier is None:
            made = comment_on(done, request, who)
            self._say([("commented", done.name, made.place, made)])
            return made
        self._say([("commented", done.name, earlier.place, None)])
        left = done.with_comments(each for each in done.comments if each != earlier)
        if self._journal is not None:
            # Here: it may have been the last one, so that ``write_decided`` passes it over.
            write(left.report, self.out)
        return None

    def findings(self) -> list[Finding]:
        """Return what waits for a person, the same finding once."""
        groups: dict[tuple[object, ...], Finding] = {}
        for done in self._done.values():
            for question, waiting in groupby(awaited(done.report), lambda pair: pair[0].id):
                for said, checks in _by_sentence(check for _, check in waiting).items():
                    names = tuple(check.id for check in checks)
                    new = Finding(question, tuple(checks), ())
                    # What a person reads is each student's own, whatever is said of it alike.
                    by_hand = checks[0].message_id in READ
                    own = done.name if by_hand else apart(done, checks[0])
                    found = groups.get((question, said, names, own), new)
                    everybody = (*found.everybody, done)
                    groups[question, said, names, own] = replace(found, everybody=everybody)
        return list(groups.values())

    def _made(
        self, wish: DecisionRequest, who: str
    ) -> tuple[GradedSubmission, list[PersonDecision]]:
        first = one_of(self.out, self._done, wish.student)
        if wish.items:
            by_items = met(first.counted, wish.where, wish.items, wish.why)
            wish = replace(wish, where=by_items.place, points=by_items.points, why=by_items.why)
        # As it counts: nobody gives points for what is out of the maximum.
        return first, decide(first.counted, wish.where, wish.points, wish.why, who)

    def _decided_on(self, name: str) -> dict[str, PersonDecision]:
        return {item.place: item for item in self._done[name].decisions}

    def _alike(
        self, first: GradedSubmission, decision: PersonDecision
    ) -> Iterator[tuple[str, bool]]:
        """Yield the others with the same finding, and whether theirs was decided otherwise."""
        place = decision.place
        mine, ours = check_at(first.counted, place), self._decided_on(first.name)
        for name, done in self._done.items():
            theirs = check_at(done.counted, place)
            # The same finding, not only the same check: points for one reason must not go to
            # another.
            if name == first.name or not (mine and theirs):
                continue
            alike = same_finding(mine, theirs)
            if alike and apart(done, theirs) == apart(first, mine):
                own = self._decided_on(name).get(place)
                # What was given to all alike may be changed for all alike; what a person gave to
                # one of them was for that one.
                yield name, own is not None and _gift(own) != _gift(ours.get(place))


@contextmanager
def _told_where(source: str) -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{source}: {error}" if source else str(error)) from error


def _gift(decision: PersonDecision | None) -> tuple[float, str] | None:
    return None if decision is None else (decision.points, decision.why)


def _by_sentence(checks: Iterable[CheckResult]) -> dict[str, list[CheckResult]]:
    found: dict[str, list[CheckResult]] = {}
    for check in checks:
        found.setdefault(check.message, []).append(check)
    return found


@contextmanager
def deciding(out: Path) -> Iterator[ReviewQueue]:
    """Give a class to decide on; reports and gradebook are written again afterwards.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
        InfrastructureError: The disk is full or broken.
    """
    try:
        with ReviewQueue(out) as course:
            yield course
    finally:
        # What was decided before somebody stopped, or asked for what is not possible, counts.
        write_decided(out)
        renew_gradebook(out)


def read_wishes(path: Path) -> list[DecisionRequest]:
    """Return the decisions in a CSV with the columns student, question, points, why.

    Raises:
        UsageError: It cannot be read, lacks a column, or has a number that is none; names the line.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
        table = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        rows = [(table.line_num, row) for row in table]
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: is no CSV in UTF-8: {error}") from error
    return [_wish(path, number, row) for number, row in rows]


def _wish(path: Path, number: int, row: dict[str, str | None]) -> DecisionRequest:
    if missing := [name for name in _COLUMNS if row.get(name) is None]:
        raise UsageError(f"{path}:{number}: no column “{missing[0]}”; needs {', '.join(_COLUMNS)}")
    student, where, points, why = (str(row[name]).strip() for name in _COLUMNS)
    try:
        return DecisionRequest(student, where, float(points), why, source=f"{path}:{number}")
    except ValueError as error:
        raise UsageError(f"{path}:{number}: points are no number: “{points}”") from error


def overtaken(out: Path, reports: Sequence[Report] = ()) -> list[str]:
    """Return a sentence on each decision that the grader has overtaken since.

    Args:
        out: ``--out`` of the batch.
        reports: What the grader would say of everybody, in order; what it has said if left out.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
    """
    lines = []
    with open_journal(out / JOURNAL_FILE) as journal:
        for number, done in enumerate(graded_so_far(journal)):
            for item in done.decisions:
                report = reports[number] if reports else done.said
                where = f"{done.name} {item.place}"
                if outdated(report, item):
                    lines.append(
                        f"The decision on {where} does not count any more: the check is gone, or "
                        "worth something else. Decide again."
                    )
                elif judged_otherwise(report, item):
                    lines.append(
                        f"The grader judges {where} otherwise since it was decided; the decision "
                        f"stands: {item.points:g} points."
                    )
    return lines
