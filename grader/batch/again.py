"""``rejudge``, ``regrade`` and ``replay``: judge a batch again, or run parts of it again.

The journal has what that takes: seed, options, and where each submission lies. A whole class is
graded under one state of its assignment; grading half of it under a changed one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.assignment.types import Assignment
from grader.batch.decisions import carry
from grader.batch.ledger import Done, Setup, done_so_far, one_of, record, setup_of
from grader.batch.schedule import WorkItem, WorkKind, perform, write
from grader.errors import UsageError, nearest
from grader.grading import Grader, Options
from grader.report.merge import with_results
from grader.report.model import CheckResult, MergedInfo, QuestionResult, Report
from grader.report.summary import amount, worth
from grader.run.kept import pack_runs, unpack_runs
from grader.run.observe import QuestionRun
from grader.run.plan import plan_digests
from grader.store.journal import JOURNAL_FILE, Journal, open_journal


def what_changed(
    setup: Setup, now: Assignment, asked: Sequence[str], report: Report
) -> tuple[str, ...]:
    """Return what is not as it was when a class was graded.

    Args:
        setup: What the class stands under.
        now: The assignment as it is.
        asked: Questions that are asked with other calls now.
        report: Any of the class.
    """
    return tuple(_changed(setup, now, asked, report)) or ("its files",)


def refuse_two_states(
    out: Path, names: Sequence[str], changed: Sequence[str], asked: Sequence[str]
) -> None:
    """Refuse to run some of a class under another state of the assignment than the others.

    Args:
        out: ``--out`` of the batch.
        names: The submissions that were to run.
        changed: As ``what_changed`` says.
        asked: Questions that are asked with other calls now.

    Raises:
        UsageError: Always.
    """
    first = (
        f"`grader regrade {out} --questions {','.join(asked)}` runs what is asked otherwise again "
        "for everybody, and judges the rest anew"
        if asked
        else f"`grader rejudge {out}` judges the whole class anew, and runs nothing"
    )
    raise UsageError(
        f"{out}: the assignment has changed since this class was graded: {'; '.join(changed)}. "
        f"{', '.join(names)} alone would stand under it beside rows of another scale. First bring "
        f"the class to one state: {first}. Then run {', '.join(names)} again; or grade the class "
        "anew with `grader batch`"
    )


def _changed(setup: Setup, now: Assignment, asked: Sequence[str], report: Report) -> Iterator[str]:
    if setup.version != now.version:
        yield f"version {setup.version} then, {now.version} now"
    then = {question.id: worth(question) for question in report.questions}
    for question in now.questions:
        points = amount(question.points) + (" bonus" if question.bonus else "")
        earlier = then.pop(question.id, None)
        if earlier is None:
            yield f"{question.id} is new"
        elif earlier != points:
            yield f"{question.id} is worth {points}, was {earlier}"
    if then:
        yield f"{', '.join(then)}: not asked any more"
    if asked:
        yield f"{', '.join(asked)}: asked with other inputs or probes"


@dataclass(frozen=True, slots=True)
class Change:
    """A check whose outcome is another than before.

    Attributes:
        submission: Name.
        question: Id.
        check: Id.
        before: Absent where the check is new.
        after: Absent where it is gone.
    """

    submission: str
    question: str
    check: str
    before: CheckResult | None
    after: CheckResult | None


def differences(name: str, before: Report, after: Report) -> list[Change]:
    """Return the checks that ended otherwise: another status, code or score."""
    old, new = _checks(before), _checks(after)
    return [
        Change(name, *key, old.get(key), new.get(key))
        for key in dict.fromkeys([*old, *new])
        if _outcome(old.get(key)) != _outcome(new.get(key))
    ]


def with_questions(before: Report, after: Report, questions: Sequence[str]) -> Report:
    """Return a report with the results of some questions from a later one."""
    new = {question.id: question for question in after.questions}
    results = [new[q.id] if q.id in questions else q for q in before.questions]
    return with_results(before, results, merged=without_merged(before, questions))


def without_merged(report: Report, questions: Sequence[str]) -> tuple[MergedInfo, ...]:
    """Return what was merged into a report, but for the checks of some questions."""
    gone = tuple(f"{name}." for name in questions)
    left = (
        info.model_copy(
            update={"checks": tuple(name for name in info.checks if not name.startswith(gone))}
        )
        for info in report.merged
    )
    return tuple(info for info in left if info.checks)


def _checks(report: Report) -> dict[tuple[str, str], CheckResult]:
    questions: Sequence[QuestionResult] = report.questions
    return {(q.id, check.id): check for q in questions for check in q.checks}


def _outcome(check: CheckResult | None) -> tuple[object, ...] | None:
    if check is None:
        return None
    return check.status, check.code, check.score, check.pending, check.max_score


Prepare = Callable[[Setup, Options], AbstractContextManager[Grader]]
"""Gives a grader that has run the reference, for what a batch was begun with."""


@dataclass(frozen=True, slots=True)
class Again:
    """What going over a batch again came to.

    Attributes:
        changes: Every check that ended otherwise.
        reports: All reports as they are now, by name.
        untouched: Submission → why nothing could be judged anew.
    """

    changes: tuple[Change, ...]
    reports: tuple[Report, ...]
    untouched: dict[str, str]


@contextmanager
def reopened(out: Path) -> Iterator[tuple[Journal, Setup]]:
    """Open a batch that was begun earlier.

    Raises:
        UsageError: There is none.
    """
    with open_journal(out / JOURNAL_FILE) as journal:
        yield journal, setup_of(journal, out)


def rejudge(out: Path, prepare: Prepare, dry_run: bool = False) -> Again:
    """Judge everything that was observed under the assignment as it is now.

    No submission runs; the reference does, for the same inputs as before.

    Raises:
        UsageError: There is no batch, or a question is now asked with other calls, of which
            nothing was observed.
    """
    with reopened(out) as (journal, setup), prepare(setup, options_of(setup)) as grader:
        _refuse_other_calls(setup, grader)
        changes: list[Change] = []
        reports: list[Report] = []
        untouched: dict[str, str] = {}
        for done in list(done_so_far(journal)):
            name, kept = done.submission.name, journal.kept(done.submission.name)
            if kept is None:
                untouched[name] = "nothing of it ran, what was said of it stands"
            runs = unpack_runs(kept, grader.reference_runs) if kept else {}
            after = carry(done.report, grader.judge_again(runs, done.report))
            changes += differences(name, done.report, after)
            reports.append(after)
            # Report before journal: killed in between, the next run finds the same difference and
            # writes both again.
            if not dry_run and after != done.report:
                write(after, out)
                record(journal, Done(done.submission, after, done.digest, done.timed), kept)
        if not dry_run:
            _stands_under(journal, setup, grader)
    return Again(tuple(changes), tuple(reports), untouched)


def regrade(out: Path, prepare: Prepare, names: Sequence[str], questions: Sequence[str]) -> Again:
    """Run submissions again, or some questions of them, with the batch's own seed.

    Where the assignment has changed since, this is for the whole class or for nobody: its other
    questions are judged anew from what was observed, so that all stand under one assignment.

    Args:
        out: ``--out`` of the batch.
        prepare: Makes the grader.
        names: Submissions; all where empty.
        questions: Ids; all that the batch has where empty. The others' results stay.

    Raises:
        UsageError: There is no batch or no such submission; or the assignment has changed since,
            and only some submissions were to run, or another question has other calls now.
    """
    with reopened(out) as (journal, setup):
        everybody = {done.submission.name: done for done in done_so_far(journal)}
        names = [one_of(out, everybody, name).submission.name for name in names]
        changes: list[Change] = []
        every = setup.questions and (*setup.questions, *questions)
        with prepare(setup, options_of(setup, every)) as grader:
            run = _Run(journal, out, grader, questions, grader.materials.digest != setup.digest)
            if run.anew and names:
                asked = _otherwise_asked(setup, grader)
                changed = what_changed(setup, grader.assignment, asked, everybody[names[0]].report)
                refuse_two_states(out, names, changed, asked)
            if run.anew:
                _refuse_other_calls(setup, grader, questions or set(setup.plan))
            for name in names or list(everybody):
                before = everybody[name]
                everybody[name] = run.one(before)
                changes += differences(name, before.report, everybody[name].report)
            if run.anew:
                _stands_under(journal, setup, grader)
    return Again(tuple(changes), tuple(done.report for done in everybody.values()), {})


class _Run:
    """Runs submissions again, whole or in part.

    Args:
        grader: For all questions of the batch.
        questions: To be run; all where empty.
        anew: Judge what is not run anew: the assignment has changed.

    Raises:
        UsageError: There is no such question.
    """

    def __init__(
        self, journal: Journal, out: Path, grader: Grader, questions: Sequence[str], anew: bool
    ) -> None:
        Options(0, questions=tuple(questions)).selected(grader.assignment)
        self.anew = anew
        self._journal, self._out = journal, out
        self._whole, self._questions = grader, questions
        self._part = grader.with_questions(questions) if questions else grader

    def one(self, before: Done) -> Done:
        """Run one submission, and write down what came of it."""
        answer = perform(
            self._part, WorkItem(WorkKind.GRADE, before.submission, clock=True), self._out
        )
        report, kept = Report.model_validate_json(answer.report), answer.kept
        if self._questions:
            others = self._others(before.submission.name)
            report = with_questions(self._rest(before.report, others), report, self._questions)
            reference = self._whole.reference_runs
            runs = others | (unpack_runs(kept, reference) if kept else {})
            kept = pack_runs(runs, reference) if runs else None
            write(report, self._out)
        done = Done(before.submission, report, answer.digest, before.timed)
        record(self._journal, done, kept)
        return done

    def _others(self, name: str) -> dict[str, QuestionRun]:
        """Return what was observed of the questions that are not to be run."""
        kept = self._journal.kept(name)
        known = self._whole.reference_runs
        base = {key: run for key, run in known.items() if key not in self._questions}
        runs = unpack_runs(kept, base) if kept else {}
        return {key: run for key, run in runs.items() if key in base}

    def _rest(self, before: Report, runs: dict[str, QuestionRun]) -> Report:
        if not self.anew:
            return before
        before = before.model_copy(update={"merged": without_merged(before, self._questions)})
        return carry(before, self._whole.judge_again(runs, before))


def replay(out: Path, name: str, prepare: Prepare, scratch: Path) -> tuple[Change, ...]:
    """Run one submission again and return what ended otherwise; nothing is written down.

    Args:
        out: ``--out`` of the batch.
        name: Of the submission.
        prepare: Makes the grader.
        scratch: An empty folder for the second report.

    Raises:
        UsageError: There is no such submission, or it is not there any more.
    """
    with reopened(out) as (journal, setup):
        everybody = {done.submission.name: done for done in done_so_far(journal)}
    if name not in everybody:
        raise UsageError(f"{out}: no submission “{name}” there{nearest(name, everybody)}")
    done = everybody[name]
    with prepare(setup, options_of(setup)) as grader:
        answer = perform(grader, WorkItem(WorkKind.GRADE, done.submission, clock=True), scratch)
    # Run on other files, any difference would be the student's change and not the grader's.
    if answer.digest != done.digest:
        raise UsageError(
            f"{name}: what was handed in is not what was graded: its files have changed since, or "
            "are gone"
        )
    return tuple(differences(name, done.report, Report.model_validate_json(answer.report)))


def options_of(setup: Setup, questions: Sequence[str] = ()) -> Options:
    """Return the options that a batch was begun with."""
    return Options(setup.seed, setup.device, tuple(questions) or setup.questions, setup.clock)


def _stands_under(journal: Journal, setup: Setup, grader: Grader) -> None:
    """Write down that the whole class stands under the assignment as it is now."""
    now = {
        "digest": grader.materials.digest,
        "version": grader.assignment.version,
        "plan": setup.plan | plan_digests(grader.plan),
    }
    journal.replace_header(setup.model_copy(update=now).model_dump(mode="json"))


def _otherwise_asked(setup: Setup, grader: Grader, run: Collection[str] = ()) -> list[str]:
    now = plan_digests(grader.plan)
    return [name for name in now if name not in run and setup.plan.get(name) != now[name]]


def _refuse_other_calls(setup: Setup, grader: Grader, run: Collection[str] = ()) -> None:
    if other := _otherwise_asked(setup, grader, run):
        raise UsageError(
            f"{', '.join(other)}: asked with other inputs or probes than when the class was "
            "graded, so there is nothing to judge; `grader regrade "
            f"--questions {','.join([*run, *other])}` runs what was changed again, for everybody"
        )
