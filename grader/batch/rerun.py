"""``rejudge``, ``regrade`` and ``replay``: judge a batch again, or run parts of it again.

The journal has what that takes: seed, options, and where each submission lies. A whole class is
graded under one state of its assignment; grading half of it under a changed one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grader.batch.changes import (
    Change,
    Total,
    differences,
    refuse_two_states,
    total,
    what_changed,
    with_questions,
)
from grader.batch.graded import GradedSubmission
from grader.batch.grades import LatePolicy
from grader.batch.ledger import (
    BatchSettings,
    graded_so_far,
    one_of,
    record,
    revise,
    setup_of,
)
from grader.batch.schedule import grade_one, write
from grader.errors import UsageError, nearest
from grader.grading import Grader, Options
from grader.report.model import Report
from grader.run.answers import KeptAnswers, asked_of, key_of
from grader.run.observe import QuestionRun
from grader.store.journal import JOURNAL_FILE, Journal, open_journal

Prepare = Callable[[BatchSettings, Options], AbstractContextManager[Grader]]
"""Gives a grader that has run the reference, for what a batch was begun with."""


@dataclass(frozen=True, slots=True)
class RerunResult:
    """What going over a batch again came to.

    Attributes:
        changes: Every check that ended otherwise.
        reports: All reports as they are now, by name.
        totals: What each has in all, before and now.
        untouched: Submission → why nothing could be judged anew.
    """

    changes: tuple[Change, ...]
    reports: tuple[Report, ...]
    totals: tuple[Total, ...]
    untouched: dict[str, str]


@contextmanager
def reopened(out: Path) -> Iterator[tuple[Journal, BatchSettings]]:
    """Open a batch that was begun earlier.

    Raises:
        UsageError: There is none.
    """
    with open_journal(out / JOURNAL_FILE) as journal:
        yield journal, setup_of(journal, out)


Runs = Mapping[str, QuestionRun]


class KeptRuns:
    """Reads what was observed of a class, with the reference's answers that it was kept against.

    Args:
        journal: Of the batch.
        out: Its folder.
        grader: Has run the reference as it is now.
    """

    def __init__(self, journal: Journal, out: Path, grader: Grader) -> None:
        self._journal, self._out, self._grader = journal, out, grader
        self._known: dict[str, tuple[KeptAnswers, Runs]] = {}

    def of(self, name: str) -> tuple[Runs, Runs] | None:
        """Return what was observed of a submission, and what to compare it with.

        None where nothing of it ran.

        Raises:
            UsageError: It cannot be read as it was meant.
        """
        kept = self._journal.kept(name)
        if kept is None:
            return None
        answers, reference = self._answers(kept)
        return answers.unpack(kept), reference

    def refuse_unanswered(self, names: Iterable[str]) -> None:
        """See that all can be read.

        Raises:
            UsageError: The reference's answers are not kept with one; says what to do.
        """
        for name in names:
            if (kept := self._journal.kept(name)) is not None:
                self._answers(kept)

    def _answers(self, kept: bytes) -> tuple[KeptAnswers, Runs]:
        key = key_of(kept) or ""
        if key not in self._known:
            content = self._journal.answers(key)
            if content is None:
                questions = ",".join(self._grader.reference_runs)
                raise UsageError(
                    f"{self._out}: what the reference answered when this class was graded was not "
                    "kept, as earlier versions did not. Judged anew, right and wrong answers could "
                    f"be taken for each other. `grader regrade {self._out} --questions "
                    f"{questions}` runs everybody again, with the same inputs; what people decided "
                    "stays"
                )
            answers = KeptAnswers(content)
            self._known[key] = answers, answers.steadying(self._grader.reference_runs)
        return self._known[key]


def rejudge(
    out: Path, prepare: Prepare, dry_run: bool = False, late: LatePolicy | None = None
) -> RerunResult:
    """Judge everything that was observed under the assignment as it is now.

    No submission runs; the reference does, for the same inputs as before.

    Args:
        out: ``--out`` of the batch.
        prepare: Makes the grader.
        dry_run: Write nothing.
        late: What lateness is to cost from now on; as the batch remembers where None.

    Raises:
        UsageError: There is no batch; a question is now asked with other calls, of which nothing
            was observed; or an earlier version graded it, and did not keep what that takes.
    """
    with reopened(out) as (journal, setup), prepare(setup, options_of(setup)) as grader:
        everybody = list(graded_so_far(journal))
        observed = KeptRuns(journal, out, grader)
        observed.refuse_unanswered(done.name for done in everybody)
        _refuse_other_calls(out, setup, grader)
        changes: list[Change] = []
        reports: list[Report] = []
        totals: list[Total] = []
        untouched: dict[str, str] = {}
        policies = setup.late, late or setup.late
        for done in everybody:
            seen = observed.of(done.name)
            if seen is None:
                untouched[done.name] = "nothing of it ran, what was said of it stands"
            runs, reference = seen or ({}, None)
            after = done.with_run(grader.judge_again(runs, done.run, reference))
            changes += differences(done.name, done.said, after.said)
            totals.append(total(done, after, policies))
            reports.append(after.said)
            # Report before journal: killed in between, the next run finds the same difference and
            # writes both again.
            if not dry_run and after.run != done.run:
                write(after.report, out)
                revise(journal, after)
        if not dry_run:
            _stands_under(journal, setup, grader)
    return RerunResult(tuple(changes), tuple(reports), tuple(totals), untouched)


def regrade(
    out: Path, prepare: Prepare, names: Sequence[str], questions: Sequence[str]
) -> RerunResult:
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
        everybody = {done.name: done for done in graded_so_far(journal)}
        names = [one_of(out, everybody, name).name for name in names]
        changes: list[Change] = []
        totals: list[Total] = []
        every = setup.questions and (*setup.questions, *questions)
        with prepare(setup, options_of(setup, every)) as grader:
            run = _Run(journal, out, grader, questions, grader.materials.digest != setup.digest)
            if run.anew and names:
                asked = _otherwise_asked(setup, grader)
                changed = what_changed(setup, grader.assignment, asked, everybody[names[0]].said)
                refuse_two_states(out, names, changed, asked)
            if run.anew:
                _refuse_other_calls(out, setup, grader, questions or set(setup.plan))
            run.refuse_unanswered(names or everybody)
            # Before any run: each entry that is written from here on names these.
            journal.keep_answers(grader.answers.key, grader.answers.content)
            for name in names or list(everybody):
                before = everybody[name]
                everybody[name] = after = run.one(before)
                changes += differences(name, before.said, after.said)
                totals.append(total(before, after))
            if run.anew:
                _stands_under(journal, setup, grader)
    reports = tuple(done.said for done in everybody.values())
    return RerunResult(tuple(changes), reports, tuple(totals), {})


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
        self._observed = KeptRuns(journal, out, grader)
        self._journal, self._out = journal, out
        self._whole, self._questions = grader, questions
        self._part = grader.with_questions(questions) if questions else grader
        left = set(grader.reference_runs) - set(questions)
        self._rest_of_questions = left if questions else set[str]()

    def refuse_unanswered(self, names: Iterable[str]) -> None:
        """See that what is not run again can be read, before anything runs."""
        if self._rest_of_questions:
            self._observed.refuse_unanswered(names)

    def one(self, before: GradedSubmission) -> GradedSubmission:
        """Run one submission, and write down what came of it."""
        graded = replace(
            grade_one(self._part, before.submission),
            timed=before.timed,
            decisions=before.decisions,
            comments=before.comments,
        )
        if self._questions:
            others, reference = self._others(before.name)
            rest = self._rest(before.run, others, reference)
            kept, answers = graded.observations, self._whole.answers
            runs = {**others, **(answers.unpack(kept) if kept else {})}
            # What other machines said of a question is about its earlier run.
            graded = replace(
                graded.with_run(with_questions(rest, graded.run, self._questions)),
                machines=before.without_machines(self._questions),
                observations=answers.pack(runs) if runs else None,
            )
        write(graded.report, self._out)
        record(self._journal, graded)
        return graded

    def _others(self, name: str) -> tuple[Runs, Runs | None]:
        """Return what was observed of the questions that are not to be run, as ``KeptRuns.of``."""
        seen = self._observed.of(name) if self._rest_of_questions else None
        if seen is None:
            return {}, None
        runs, reference = seen
        return {key: run for key, run in runs.items() if key in self._rest_of_questions}, reference

    def _rest(self, before: Report, runs: Runs, reference: Runs | None) -> Report:
        return self._whole.judge_again(runs, before, reference) if self.anew else before


def replay(out: Path, name: str, prepare: Prepare) -> tuple[Change, ...]:
    """Run one submission again and return what ended otherwise; nothing is written down.

    Args:
        out: ``--out`` of the batch.
        name: Of the submission.
        prepare: Makes the grader.

    Raises:
        UsageError: There is no such submission, or it is not there any more.
    """
    with reopened(out) as (journal, setup):
        everybody = {done.name: done for done in graded_so_far(journal)}
    if name not in everybody:
        raise UsageError(f"{out}: no submission “{name}” there{nearest(name, everybody)}")
    done = everybody[name]
    with prepare(setup, options_of(setup)) as grader:
        again = grade_one(grader, done.submission)
    # Run on other files, any difference would be the student's change and not the grader's.
    if again.digest != done.digest:
        raise UsageError(
            f"{name}: what was handed in is not what was graded: its files have changed since, or "
            "are gone"
        )
    return tuple(differences(name, done.said, again.said))


def options_of(setup: BatchSettings, questions: Sequence[str] = ()) -> Options:
    """Return the options that a batch was begun with."""
    chosen = tuple(questions) or setup.questions
    return Options(setup.seed, setup.device, chosen, setup.clock, setup.gpu == "none")


def _stands_under(journal: Journal, setup: BatchSettings, grader: Grader) -> None:
    """Write down that the whole class stands under the assignment as it is now."""
    now = {
        "digest": grader.materials.digest,
        "version": grader.assignment.version,
        "plan": setup.plan | asked_of(grader.materials, grader.plan),
    }
    journal.replace_header(setup.model_copy(update=now).model_dump(mode="json"))


def _otherwise_asked(setup: BatchSettings, grader: Grader, run: Collection[str] = ()) -> list[str]:
    now = asked_of(grader.materials, grader.plan)
    return [name for name in now if name not in run and setup.plan.get(name) != now[name]]


def _refuse_other_calls(
    out: Path, setup: BatchSettings, grader: Grader, run: Collection[str] = ()
) -> None:
    if other := _otherwise_asked(setup, grader, run):
        raise UsageError(
            f"{', '.join(other)}: asked with other inputs, probes, scenario or support files than "
            f"when the class was graded, so there is nothing to judge; `grader regrade {out} "
            f"--questions {','.join([*run, *other])}` runs what was changed again, for everybody"
        )
