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
from grader.run.judge_submission import wrong_results
from grader.run.materials import Materials
from grader.run.mistakes import Explains, same_result
from grader.run.observe import Mended, QuestionRun, observations
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.run.prices import OF_RESULTS, hands_back, is_priced, of_values
from grader.run.scenario_relay import open_session
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import Sandbox, activity
from grader.static_analysis.mends import Definition, Raised, definition_of, mends_of
from grader.static_analysis.mutation_operators import Variant
from grader.verdict import Status, Verdict
from grader.wire.messages import Call

Rerun = Callable[[PlannedQuestion, Mapping[str, bytes]], QuestionRun]
"""Runs one question of a submission, and reads and proves it."""

_WITH_SCENARIO = 60
"""Changes that are tried where a scenario is played each time."""
_WITH_GPUS = 10
"""The same where it is played on virtual GPUs, which takes ten times as long."""
_WHOLE = 3
"""Changes that are right in one case, and of which the whole question runs."""
_NEARER = 2
"""Changes after which a second one is tried: those that come nearest to what is right."""
_MOST_AFTER = 120
"""Second changes that are tried of each; a sixth of that with a scenario."""
_STATEMENTS = 4
"""A function has at least as many where two changes are slips in it, not most of the work."""
_OF_ITS_FORM = 0.1
"""How near a result is that has the right form, and no number of which is right."""
_GAIN = 0.05
"""By how much nearer a change comes after which a second one is tried."""
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
        # Each is compiled when it is tried, where it cannot keep the others from being loaded.
        added = "".join(
            f"\n\ndef {_switch(number)}():\n    exec({change.text!r}, globals())\n"
            for number, change in enumerate(changes)
        )
        return {**self.files, self.file: self.files[self.file] + added.encode()}

    def nearness(self, seen: Observation) -> float:
        """Return how near a result is to the right one, from 0 to 1."""
        if seen.outcome is not Outcome.COMPLETED or seen.claims.fault is not None:
            return 0.0
        share = likeness(seen.claims.value, self.right.observations[self.case.key].claims.value)
        # Rounded: the last bits are the processor's.
        return 0.0 if share is None else round(_OF_ITS_FORM + (1 - _OF_ITS_FORM) * share, 2)

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
            on_gpus = planned.process.virtual_gpus or planned.process.cuda
            changes = changes[: _WITH_GPUS if on_gpus else _WITH_SCENARIO]
        priced = known.in_case(planned, case.key, self._sandbox)
        before = run.observations[case.key]
        wrong = _Wrong(planned, case, right, before, priced, files, file, defined)
        tried = self._tried(wrong, changes)
        if mended := self._best(wrong, tried.right, run, known):
            return mended
        if sum(isinstance(each, ast.stmt) for each in ast.walk(defined.node)) <= _STATEMENTS:
            return None
        for change, observation in tried.nearer:
            if after := _changed(wrong, change, observation):
                most = _MOST_AFTER // 6 if case.case.scenario else _MOST_AFTER
                second = self._tried(after, mends_of(after.defined)[:most]).right
                mended = self._best(after, second, run, known)
                if mended and not mended.earns and not mended.others:
                    return replace(mended, line=change.line, share=mended.share**2, changes=2)
        return None

    def _best(
        self, wrong: _Wrong, changes: Sequence[Variant], run: QuestionRun, known: Explains
    ) -> Mended | None:
        """Run the whole question with each change; return what is best of what is right."""
        planned, right = wrong.planned, wrong.right
        share = self._materials.assignment.slip_of(planned.question)
        candidates: list[tuple[float, Mended]] = []
        for change in changes:
            again = self._rerun(planned, wrong.with_text(change.text))
            if not again.observations:
                continue
            mended = Mended(change.line, share, again)
            with self._guard.judging():
                if not (lost := wrong_results(planned, right, again)):
                    return mended
                left = known.paid(planned, again, right, self._sandbox)
                gained = _gained(lost, wrong_results(planned, right, run))
            if left is not None:
                says, voids = tuple(sorted(left.says.items())), tuple(sorted(left.voids))
                mended = replace(mended, earns=left.earns or 0.0, voids=voids, says=says)
                candidates.append((mended.earns, mended))
            elif gained:
                candidates.append((gained, replace(mended, others=True)))
        return max(candidates, key=lambda each: each[0], default=(0.0, None))[1]

    def _tried(self, wrong: _Wrong, changes: Sequence[Variant]) -> _Tried:
        """Return what comes of changes in the one case; one student process tries all."""
        question, case = wrong.planned.question, wrong.case
        seconds = wrong.planned.process.seconds / _HASTE
        budget = budget_beside(observations({question.id: wrong.right}), self._guard.reading)
        files = wrong.with_switches(changes)
        session = open_session(self._sandbox, self._materials, files, budget)
        right: list[Variant] = []
        near: list[Variant] = []
        nearer: list[tuple[float, Variant, Observation]] = []
        with self._guard.judging():
            enough = wrong.nearness(wrong.before) + _GAIN
        deaths = 0
        # Of processor time, like each call's limit: a busy machine changes no grade.
        used = 0.0
        try:
            for number, change in enumerate(changes):
                session.prepare(wrong.planned.process)
                if session.failed_load is not None:
                    break
                before = _computed(session)
                session.call(Call(_switch(number)), seconds)
                if session.alive:
                    call = case.call(wrong.defined.node.name, wrong.planned.probes(case))
                    observation = session.call(call, seconds)
                    with self._guard.judging():
                        if _is_right(wrong.planned, case, observation, wrong.right):
                            right.append(change)
                        elif len(near) < _WHOLE and wrong.is_known(observation):
                            near.append(change)
                        elif (nearness := wrong.nearness(observation)) >= enough:
                            nearer.append((nearness, change, observation))
                deaths += not session.alive
                used += _computed(session) - before if session.alive else seconds
                is_over = deaths >= _DEATHS or used >= _ALL * wrong.planned.process.seconds
                if is_over or len(right) >= _WHOLE:
                    break
        finally:
            session.finish()
        nearer.sort(key=lambda each: -each[0])
        return _Tried([*right, *near], [each[1:] for each in nearer[:_NEARER]])


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


def _computed(session: ProcessSession) -> float:
    """Return the seconds that the student process has computed; of a clock where none shows it."""
    activity_now = activity(session.process_pid) if session.process_pid else None
    return time.monotonic() if activity_now is None else activity_now.seconds


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
    if fault is None or not fault.line or fault.file != file:
        return None
    return Raised(fault.line, fault.message)


def _hands_back(planned: PlannedQuestion, run: QuestionRun, right: QuestionRun) -> bool:
    """Tell whether what is wrong is an argument as it came, wherever something wrong came back."""
    wrong = [
        (case.inputs.args, observation, right.observations[case.key])
        for case in planned.cases
        # A scenario hands on what it likes of its arguments.
        if case.case.scenario is None
        and (observation := run.observations.get(case.key))
        and observation.outcome is Outcome.COMPLETED
        and not same_result(observation, right.observations[case.key])
    ]
    return bool(wrong) and all(hands_back(*each) for each in wrong)
