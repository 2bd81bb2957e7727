"""Slips are mended: a submission that small changes make right earns a share of its points.

A teaching assistant who sees one slip mends it, and grades the rest. So each change of
``grader.static_analysis.mends`` is made in the student's own text and tried on one case that came
out wrong. Of what is right there, the whole question runs anew, rules and all, like any submission.
Where none is, a second change is tried in those texts that came nearest.
Which changes are tried follows from the text alone, so a grade does not depend on the machine.

Defends against: what changes as it pleases once it is changed. A mended text earns what it earns as
a submission of its own, and no more than the share of that.
Does not defend against: a right answer that is handed in with a slip on purpose. It is one.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.checks.base import Check
from grader.checks.compare import likeness
from grader.checks.judge import judge_case
from grader.observation import Observation, Outcome
from grader.run.answer_budget import CpuGuard, budget_beside
from grader.run.judge_submission import judge_question, wrong_results
from grader.run.materials import Materials
from grader.run.mistakes import Explains, same_result
from grader.run.observe import Mended, QuestionRun, observations
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.run.prices import OF_RESULTS, hands_back, is_priced, of_values
from grader.run.scenario_relay import open_session
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import ProcessSpec, Sandbox, activity
from grader.static_analysis.mends import Definition, Raised, definition_of, mends_of
from grader.static_analysis.mutation_operators import Variant
from grader.verdict import Status, Verdict
from grader.wire.messages import Call

Rerun = Callable[[PlannedQuestion, Mapping[str, bytes]], QuestionRun]
"""Runs one question of a submission, and reads and proves it."""

_WITH_SCENARIO = 100
"""Changes that are tried where a scenario is played each time."""
_WITH_GPUS = 12
"""The same where it is played on virtual GPUs, which takes ten times as long."""
_WITH_PROCESSES = 24
"""The same where a submission starts processes."""
_WHOLE = 3
"""Changes that are right in one case, and of which the whole question runs."""
_NEARER = 2
"""Changes after which a second one is tried: those that come nearest to what is right."""
_MOST_AFTER = 120
"""Second changes that are tried of each; a sixth of that with a scenario, none on GPUs."""
_STATEMENTS = 4
"""A function has at least as many where two changes are slips in it, not most of the work."""
_OF_ITS_FORM = 0.1
"""How near a result is that has the right form, and no number of which is right."""
_GAIN = 0.05
"""By how much nearer a change comes after which a second one is tried."""
_OF_OTHER_FORM = 0.05
"""How near a result is of another form. A function that raises is less near, by what is left."""
_DEATHS = 2
"""Student processes that changes may bring down, by an endless loop for one."""
_ALL = 2
"""Times the question's limit that all changes together may compute: a function that only burns time
would else take it for each."""
_LEAST_GAINED = 0.5
"""Share of the lost points of values that a change wins back, where something else stays wrong."""
_HASTE = 4
"""What a changed function may take, of the question's limit: most of those that are right take
milliseconds, and an endless loop all that it may."""


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A question that a submission gets wrong.

    Attributes:
        planned: The question with its inputs.
        case: The case that changes are tried on.
        right: What the reference did, by case.
        before: What the submission did in the case.
        priced: What known mistakes do in the case that have a price.
        files: Of the submission.
        file: The one of the question's function.
        defined: The function.
    """

    planned: PlannedQuestion
    case: PlannedCase
    right: QuestionRun
    before: Observation
    priced: Sequence[Observation]
    files: Mapping[str, bytes]
    file: str
    defined: Definition

    def with_text(self, text: str) -> dict[str, bytes]:
        """Return the files with another text of the function."""
        source = self.files[self.file].decode("utf-8", "replace")
        return {**self.files, self.file: self.defined.replaced(source, text).encode()}

    def with_switches(self, changes: Sequence[Variant]) -> dict[str, bytes]:
        """Return the files with functions that put a changed one into the place of its own."""
        # Each is compiled when it is tried, where it cannot keep the others from being loaded. Its
        # lines are those that it has in the place of the function.
        above = self.defined.first - 1
        added = "".join(
            f"\n\ndef {_switch(number)}():\n    text = {above} * '\\n' + {change.text!r}\n"
            "    exec(compile(text, __file__, 'exec'), globals())\n"
            for number, change in enumerate(changes)
        )
        return {**self.files, self.file: self.files[self.file] + added.encode()}

    def accepts(self, seen: Observation) -> bool:
        """Tell whether the case came out right."""
        return _is_right(self.planned, self.case, seen, self.right)

    def nearness(self, seen: Observation, change: Variant | None = None) -> float:
        """Return how near a result is to the right one, from 0 to 1.

        Args:
            seen: What came of the function.
            change: What was changed in it.
        """
        if (raised := _raised(seen, self.file)) is not None:
            return _OF_OTHER_FORM * self._done(raised.line, change)
        if seen.outcome is not Outcome.COMPLETED:
            return 0.0
        share = likeness(seen.claims.value, self.right.observations[self.case.key].claims.value)
        # Rounded: the last bits are the processor's.
        if share is None:
            return _OF_OTHER_FORM
        return round(_OF_ITS_FORM + (1 - _OF_ITS_FORM) * share, 2)

    def _done(self, line: int, change: Variant | None) -> float:
        """Return which share of a function's statements, or of a changed one's, is above a line."""
        defined = self.defined
        if change is not None:
            text = "\n" * (defined.first - 1) + change.text
            defined = definition_of(text, defined.node.name) or defined
        lines = [each.lineno for each in ast.walk(defined.node) if isinstance(each, ast.stmt)]
        # By what is left: a statement that is added above brings none nearer.
        return 1.0 - sum(each >= line for each in lines) / len(lines) if line else 0.0

    def is_known(self, seen: Observation) -> bool:
        """Tell whether the case came out as a known mistake with a price has it, not as before."""
        return not same_result(seen, self.before) and any(
            same_result(seen, each) for each in self.priced
        )


@dataclass(frozen=True, slots=True)
class _Tried:
    """What came of a number of changes.

    Attributes:
        right: Those with which the case is right, then those that leave a known mistake.
        nearer: Those that come nearer, the nearest first, each with what came of it.
    """

    right: Sequence[Variant]
    nearer: Sequence[tuple[Variant, Observation]]


@dataclass(slots=True)
class _Spent:
    """What all changes of a question have taken.

    Attributes:
        limit: Seconds of processor time that one call may take.
        deaths: Student processes that they brought down.
        seconds: Of processor time, like the limit: a busy machine changes no grade.
    """

    limit: float
    deaths: int = 0
    seconds: float = 0.0

    @property
    def is_enough(self) -> bool:
        """Whether no further change may be tried."""
        return self.deaths >= _DEATHS or self.seconds >= _ALL * self.limit


class Mender:
    """Tries small changes of submissions.

    Args:
        materials: The assignment and its files.
        sandbox: Where changed submissions run.
        guard: What surrounds work on what they answer.
        rerun: Runs one question of a changed submission.
    """

    def __init__(
        self, materials: Materials, sandbox: Sandbox, guard: CpuGuard, rerun: Rerun
    ) -> None:
        self._materials = materials
        self._sandbox = sandbox
        self._guard = guard
        self._rerun = rerun

    def is_due(self, planned: PlannedQuestion, verdicts: Mapping[str, Verdict]) -> bool:
        """Tell whether a slip earns anything in a question, and values are wrong and not priced.

        Args:
            planned: The question.
            verdicts: Of its checks, by id.
        """
        values = [verdicts[each.id] for each in planned.question.listed if of_values(each)]
        return (
            self._materials.assignment.slip_of(planned.question) > 0
            and any(each.status.wrong and each.code in OF_RESULTS for each in values)
            and not is_priced(verdicts)
        )

    def mended(
        self,
        planned: PlannedQuestion,
        files: Mapping[str, bytes],
        run: QuestionRun,
        right: QuestionRun,
        known: Explains,
    ) -> Mended | None:
        """Return a submission's question with a slip mended; None where no change makes it right.

        What a known mistake with a price is left of counts, too.

        Args:
            planned: The question with its inputs.
            files: Of the submission.
            run: What the submission did.
            right: What the reference did.
            known: The known mistakes.
        """
        try:
            return self._mended(planned, files, run, right, known)
        # The machine's doing, a value that takes for ever to judge, or a text that Python reads and
        # cannot write. It costs nobody what the submission earns by itself.
        except Exception:  # noqa: BLE001
            return None

    def _mended(
        self,
        planned: PlannedQuestion,
        files: Mapping[str, bytes],
        run: QuestionRun,
        right: QuestionRun,
        known: Explains,
    ) -> Mended | None:
        with self._guard.judging():
            case = _case_to_try(planned, run, right)
        file = planned.question.file or self._materials.assignment.module
        source = files.get(file, b"").decode("utf-8", "replace")
        defined = definition_of(source, run.entry or "")
        if case is None or defined is None or _hands_back(planned, run, right):
            return None
        changes = mends_of(defined, _raised(run.observations[case.key], file))
        if case.case.scenario:
            changes = changes[: _most_with(planned.process)]
        priced = known.in_case(planned, case.key, self._sandbox)
        before = run.observations[case.key]
        wrong = _Wrong(planned, case, right, before, priced, files, file, defined)
        spent = _Spent(planned.process.seconds)
        tried = self._tried(wrong, changes, spent)
        if found := self._best(wrong, tried.right, run, known):
            return found
        size = sum(isinstance(each, ast.stmt) for each in ast.walk(defined.node))
        if size <= _STATEMENTS or _most_with(planned.process) < _WITH_SCENARIO:
            return None
        for nearer in tried.nearer:
            if found := self._with_a_second(wrong, nearer, run, known, spent):
                return found
        return None

    def _with_a_second(
        self,
        wrong: _Wrong,
        nearer: tuple[Variant, Observation],
        run: QuestionRun,
        known: Explains,
        spent: _Spent,
    ) -> Mended | None:
        """Return what a second change makes right, after one that came nearer."""
        change, seen = nearer
        after = None if spent.is_enough else _changed(wrong, change, seen)
        if after is None:
            return None
        most = _MOST_AFTER // 6 if wrong.case.case.scenario else _MOST_AFTER
        changes = mends_of(after.defined, _raised(after.before, after.file))[:most]
        second = self._tried(after, changes, spent).right
        found = self._best(after, second, run, known)
        if found is None or found.earns or found.others:
            return None
        share, start = found.share**2, change.start_of
        return replace(found, line=change.line, start_of=start, share=share, changes=2)

    def _best(
        self, wrong: _Wrong, changes: Sequence[Variant], run: QuestionRun, known: Explains
    ) -> Mended | None:
        """Run the whole question with each change; return what is best of what is right."""
        planned, right = wrong.planned, wrong.right
        share = self._materials.assignment.slip_of(planned.question)
        found: list[tuple[float, Mended]] = []
        for change in changes:
            again = self._rerun(planned, wrong.with_text(change.text))
            if not again.observations:
                continue
            mended = Mended(
                change.line, share, again, changes=change.places, start_of=change.start_of
            )
            with self._guard.judging():
                if not (lost := wrong_results(planned, right, again)):
                    if (worth := _worth(planned, right, again)) == 1.0:
                        return mended
                    # Before all that leaves something wrong.
                    found.append((1.0 + worth, mended))
                    continue
                if change.places > 1:
                    continue
                left = known.paid(planned, again, right, self._sandbox)
                gained = _gained(lost, wrong_results(planned, right, run))
            if left is not None:
                voids = tuple(sorted(left.voids))
                mended = replace(mended, earns=left.earns or 0.0, voids=voids)
                found.append((mended.earns, mended))
            elif gained:
                found.append((gained, replace(mended, others=True)))
        return max(found, key=lambda each: each[0], default=(0.0, None))[1]

    def _tried(self, wrong: _Wrong, changes: Sequence[Variant], spent: _Spent) -> _Tried:
        """Return what comes of changes in the one case; one student process tries all."""
        question, case = wrong.planned.question, wrong.case
        seconds = wrong.planned.process.seconds / _HASTE
        budget = budget_beside(observations({question.id: wrong.right}), self._guard.reading)
        files = wrong.with_switches(changes)
        session = open_session(self._sandbox, self._materials, files, budget)
        found: list[Variant] = []
        near: list[Variant] = []
        nearer: list[tuple[float, Variant, Observation]] = []
        with self._guard.judging():
            before = wrong.nearness(wrong.before)
        try:
            for number, change in enumerate(changes):
                session.prepare(wrong.planned.process)
                if session.failed_load is not None:
                    break
                used = _computed(session)
                session.call(Call(_switch(number)), seconds)
                if session.alive:
                    call = case.call(wrong.defined.node.name, wrong.planned.probes(case))
                    seen = session.call(call, seconds)
                    with self._guard.judging():
                        if wrong.accepts(seen):
                            found.append(change)
                        elif len(near) < _WHOLE and wrong.is_known(seen):
                            near.append(change)
                        elif _is_nearer(nearness := wrong.nearness(seen, change), before):
                            nearer.append((nearness, change, seen))
                spent.deaths += not session.alive
                spent.seconds += _computed(session) - used if session.alive else seconds
                if spent.is_enough or len(found) >= _WHOLE:
                    break
        finally:
            session.finish()
        nearer.sort(key=lambda each: -each[0])
        return _Tried([*found, *near], [each[1:] for each in nearer[:_NEARER]])


def _most_with(process: ProcessSpec) -> int:
    """Return how many changes are tried where a scenario is played."""
    if process.virtual_gpus or process.cuda:
        return _WITH_GPUS
    return _WITH_PROCESSES if process.processes else _WITH_SCENARIO


def _is_nearer(nearness: float, before: float) -> bool:
    """Tell whether a result is nearer than that before, by enough for a second change."""
    return nearness > before and (nearness <= _OF_OTHER_FORM or nearness >= before + _GAIN)


def _changed(wrong: _Wrong, change: Variant, seen: Observation) -> _Wrong | None:
    """Return the question with a change made, which is wrong yet."""
    files = wrong.with_text(change.text)
    source = files[wrong.file].decode("utf-8", "replace")
    defined = definition_of(source, wrong.defined.node.name)
    if defined is None:
        return None
    return replace(wrong, before=seen, files=files, defined=defined)


def _gained(lost: Sequence[Check], before: Sequence[Check]) -> float:
    """Return the share of the points that a change wins back; 0 where it costs any, or wins few."""
    if not {each.id for each in lost} < {each.id for each in before}:
        return 0.0
    gained = 1 - sum(each.points for each in lost) / (sum(each.points for each in before) or 1.0)
    return gained if gained >= _LEAST_GAINED else 0.0


def _worth(planned: PlannedQuestion, right: QuestionRun, run: QuestionRun) -> float:
    """Return the share of the points that a text earns by itself, of those that need no clock."""
    verdicts = judge_question(planned, right, run)
    graded = [
        each for each in planned.question.listed if each.speed() is None and not each.by_person
    ]
    earned = sum(each.points * verdicts[each.id].credit for each in graded)
    return earned / (sum(each.points for each in graded) or 1.0)


def _computed(session: ProcessSession) -> float:
    """Return the seconds that the student process has computed; of a clock where none shows it."""
    seen = activity(session.process_pid) if session.process_pid else None
    return time.monotonic() if seen is None else seen.seconds


def _switch(number: int) -> str:
    return f"grader_mend_{number}"


def _case_to_try(
    planned: PlannedQuestion, run: QuestionRun, right: QuestionRun
) -> PlannedCase | None:
    """Return a case that came out wrong: one with drawn values, if there is any."""
    cases = [
        case
        for case in planned.cases
        if case.key in run.observations
        and not _is_right(planned, case, run.observations[case.key], right)
    ]
    drawn = [case for case in cases if case.case.varies]
    return next(iter(drawn or cases), None)


def _is_right(
    planned: PlannedQuestion, case: PlannedCase, seen: Observation, right: QuestionRun
) -> bool:
    """Tell whether all checks of values pass in a case."""
    if seen.outcome is not Outcome.COMPLETED:
        return False
    verdicts = (
        judge_case(check, case.inputs, right.observations[case.key], seen)
        for check in planned.question.checks
        if of_values(check) and check.judges(case.case.id)
    )
    return all(verdict.status is Status.PASSED for verdict in verdicts)


def _raised(seen: Observation, file: str) -> Raised | None:
    fault = seen.claims.fault
    if fault is None:
        return None
    # What is raised by others, of what the function returned, has no line of it.
    return Raised(fault.line if fault.file == file else 0, fault.message)


def _hands_back(planned: PlannedQuestion, run: QuestionRun, right: QuestionRun) -> bool:
    """Tell whether what is wrong is an argument as it came, wherever something wrong came back."""
    wrong = [
        (case.inputs.args, seen, right.observations[case.key])
        for case in planned.cases
        # A scenario hands on what it likes of its arguments.
        if case.case.scenario is None
        and (seen := run.observations.get(case.key))
        and seen.outcome is Outcome.COMPLETED
        and not same_result(seen, right.observations[case.key])
    ]
    return bool(wrong) and all(hands_back(*each) for each in wrong)
