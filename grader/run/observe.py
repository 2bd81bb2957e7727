"""Running a plan: every case of every question, observed; a death costs its question only.

All visible cases of all questions run before the first hidden one. What a hand-in says about a
visible case is shown to its author in full: were hidden inputs known to it by then, it could tell.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from grader.observation import Observation, Outcome
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.run.session import Session
from grader.sandbox.base import GuestNeeds
from grader.spec.types import Limits, Question
from grader.wire.messages import Loaded

_DEADLY = {
    Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.OUT_OF_MEMORY, Outcome.PROTOCOL_VIOLATION,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class QuestionRun:
    """What came of one question.

    Attributes:
        entry: The name under which the entry point was found, or None.
        loaded: What the guest said about the import, or None if it died of it.
        failed_load: How it died.
        observations: Case key → observation. Empty when nothing could be called.
        seconds: Wall time of the question.
    """

    entry: str | None
    loaded: Loaded | None
    failed_load: Observation | None
    observations: dict[str, Observation] = field(default_factory=dict)
    seconds: float = 0.0


def guest_needs(question: Question) -> GuestNeeds:
    """What a question's guest must be granted."""
    needs = question.needs
    return GuestNeeds(needs.cuda, needs.processes, needs.loopback)


def observe(
    session: Session,
    plan: Sequence[PlannedQuestion],
    limits_of: Callable[[Question], Limits],
    progress: Callable[[str], None],
) -> dict[str, QuestionRun]:
    """Run every question of a plan.

    Args:
        session: Holds the program.
        plan: What to call.
        limits_of: The limits of a question.
        progress: Told the id of each question as it begins.

    Raises:
        InfrastructureError: No guest can be started.
    """
    runs: dict[str, QuestionRun] = {}
    for hidden in (False, True):
        for planned in plan:
            cases = [case for case in planned.cases if case.inputs.hidden is hidden]
            before = runs.get(planned.question.id)
            if before is None:
                progress(planned.question.id)
            elif not cases:
                continue
            start = time.monotonic()
            run = _observe_cases(session, planned, cases, (limits_of(planned.question), before))
            spent = time.monotonic() - start + (before.seconds if before else 0.0)
            runs[planned.question.id] = replace(run, seconds=round(spent, 4))
    session.close()
    return runs


def _observe_cases(
    session: Session,
    planned: PlannedQuestion,
    cases: Sequence[PlannedCase],
    context: tuple[Limits, QuestionRun | None],
) -> QuestionRun:
    question = planned.question
    limits, before = context
    observations = dict(before.observations) if before else {}
    death = next((item for item in observations.values() if item.outcome in _DEADLY), None)
    if death is None:
        session.prepare(limits, guest_needs(question))
    loaded = session.loaded
    if loaded is None or (session.failed_load is not None and not observations):
        return QuestionRun(None, None, session.failed_load)
    entry = next((name for name in question.names if name in loaded.names), None)
    if entry is None:
        return QuestionRun(None, loaded, None)
    for case in cases:
        if death is None:
            death = session.failed_load
        if death is None:
            call = case.call(entry, planned.probes(case))
            observation = session.call(call, limits.seconds)
            death = observation if observation.outcome in _DEADLY else None
        else:
            # The guest is gone; a new one for each remaining case would let one endless loop
            # cost a class its afternoon.
            observation = death
        observations[case.key] = observation
    return QuestionRun(entry, loaded, None, observations)
