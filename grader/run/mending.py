"""Slips are mended: a submission that one small change makes right earns a share of its points.

A teaching assistant who sees one slip mends it, and grades the rest. So each change of
``grader.static_analysis.mends`` is made in the student's own text and tried on one case that came
out wrong. Of what is right there, the whole question runs anew, rules and all, like any submission.
Which changes are tried follows from the text alone, so a grade does not depend on the machine.

Defends against: what changes as it pleases once it is changed. A mended text earns what it earns as
a submission of its own, and no more than the share of that.
Does not defend against: a right answer that is handed in with a slip on purpose. It is one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from grader.checks.judge import judge_case
from grader.observation import Observation, Outcome
from grader.run.answer_budget import CpuGuard, allowance
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
_DEATHS = 2
"""Student processes that changes may bring down, by an endless loop for one."""
_ALL = 2
"""Times the question's limit that all changes together may compute: a function that only burns time
would else take it for each."""
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

    def accepts(self, seen: Observation) -> bool:
        """Tell whether the case came out right."""
        return _is_right(self.planned, self.case, seen, self.right)

    def is_known(self, seen: Observation) -> bool:
        """Tell whether the case came out as a known mistake with a price has it, not as before."""
        return not same_result(seen, self.before) and any(
            same_result(seen, each) for each in self.priced
        )


class Mender:
    """Tries small changes of submissions.

    Args:
        materials: The assignment and its files.
        sandbox: Where changed submissions run.
        care: What surrounds work on what they answer.
        rerun: Runs one question of a changed submission.
    """

    def __init__(
        self, materials: Materials, sandbox: Sandbox, care: CpuGuard, rerun: Rerun
    ) -> None:
        self._materials = materials
        self._sandbox = sandbox
        self._care = care
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
        with self._care.judging():
            case = _case_to_try(planned, run, right)
        file = planned.question.file or self._materials.assignment.module
        source = files.get(file, b"").decode("utf-8", "replace")
        defined = definition_of(source, run.entry or "")
        if case is None or defined is None or _hands_back(planned, run, right):
            return None
        changes = mends_of(defined, _raised(run.observations[case.key], file))
        if case.case.scenario:
            on_gpus = planned.needs.virtual or planned.needs.cuda
            changes = changes[: _WITH_GPUS if on_gpus else _WITH_SCENARIO]
        priced = known.in_case(planned, case.key, self._sandbox)
        before = run.observations[case.key]
        wrong = _Wrong(planned, case, right, before, priced, files, file, defined)
        share = self._materials.assignment.slip_of(planned.question)
        found: list[Mended] = []
        for change in self._fitting(wrong, changes):
            again = self._rerun(planned, wrong.with_text(change.text))
            if not again.observations:
                continue
            with self._care.judging():
                if not wrong_results(planned, right, again):
                    return Mended(change.line, share, again)
                left = known.paid(planned, again, right, self._sandbox)
            if left is not None:
                says, voids = tuple(sorted(left.says.items())), tuple(sorted(left.voids))
                found.append(Mended(change.line, share, again, left.earns or 0.0, voids, says))
        return max(found, key=lambda each: each.earns, default=None)

    def _fitting(self, wrong: _Wrong, changes: Sequence[Variant]) -> list[Variant]:
        """Return the first changes that make the case right, then those that leave a known mistake.

        One student process tries all.
        """
        question, case = wrong.planned.question, wrong.case
        limits = self._materials.assignment.limits_of(question)
        seconds = limits.seconds / _HASTE
        most = allowance(observations({question.id: wrong.right}), self._care.reading)
        files = wrong.with_switches(changes)
        session = open_session(self._sandbox, self._materials, files, most)
        found: list[Variant] = []
        near: list[Variant] = []
        deaths = 0
        # Of processor time, like each call's limit: a busy machine changes no grade.
        used = 0.0
        try:
            for number, change in enumerate(changes):
                session.prepare(limits, wrong.planned.needs, question.file or "")
                if session.failed_load is not None:
                    break
                before = _computed(session)
                session.call(Call(_switch(number)), seconds)
                if session.alive:
                    call = case.call(wrong.defined.node.name, wrong.planned.probes(case))
                    seen = session.call(call, seconds)
                    with self._care.judging():
                        if wrong.accepts(seen):
                            found.append(change)
                        elif len(near) < _WHOLE and wrong.is_known(seen):
                            near.append(change)
                deaths += not session.alive
                used += _computed(session) - before if session.alive else seconds
                is_over = deaths >= _DEATHS or used >= _ALL * limits.seconds
                if is_over or len(found) >= _WHOLE:
                    break
        finally:
            session.finish()
        return [*found, *near]


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
    if fault is None or not fault.line or fault.file != file:
        return None
    return Raised(fault.line, fault.message)


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
