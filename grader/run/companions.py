"""Further runs of the reference: in float64, and on inputs moved by one rounding.

They tell how far rounding may take an honest answer, case by case. They belong to the reference's
observations and are kept with them: a submission is never run on anything but its own inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from grader.assignment.types import Limits, Question
from grader.checks.arrays import Array, to_numpy
from grader.observation import Companions, Observation, Outcome
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.run.session import Session
from grader.sandbox.host.guests import GuestNeeds
from grader.wire.messages import Call
from grader.wire.values import Tensor, Value

_FLOATING = {"float64", "float32", "float16", "bfloat16"}
_ULP = {"float64": 2.0**-52, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Relative step to the moved input; in float64 itself half a spacing would round back."""

Change = Callable[[Array, str], Array]


def add_companions(
    session: Session,
    plan: Sequence[PlannedQuestion],
    runs: dict[str, QuestionRun],
    limits_of: Callable[[Question], Limits],
) -> dict[str, QuestionRun]:
    """Run what the checks ask for beside the reference, and keep it with its observations.

    Args:
        session: Holds the reference.
        plan: What was called.
        runs: What came of it, by question id.
        limits_of: The limits of a question.

    Raises:
        InfrastructureError: No guest can be started.
    """
    done = dict(runs)
    for planned in plan:
        run = runs[planned.question.id]
        observations = dict(run.observations)
        for case in planned.cases:
            number = perturbed_runs(planned, case)
            if not number or run.entry is None:
                continue
            observation = observations[case.key]
            if observation.outcome is Outcome.COMPLETED:
                limits = limits_of(planned.question)
                runner = _Runner(session, planned.needs, limits, run.entry)
                companions = runner.companions(case, number)
                observations[case.key] = replace(observation, companions=companions)
        done[planned.question.id] = replace(run, observations=observations)
    return done


def perturbed_runs(planned: PlannedQuestion, case: PlannedCase) -> int:
    """Return how many runs on moved inputs the checks of a case ask for; 0 for none at all."""
    needs = [
        check.companions()
        for check in planned.question.checks
        if check.cases is None or case.case.id in check.cases
    ]
    return max((need.perturbed for need in needs if need is not None), default=0)


class _Runner:
    def __init__(self, session: Session, needs: GuestNeeds, limits: Limits, entry: str) -> None:
        self._session = session
        self._needs = needs
        self._limits = limits
        self._entry = entry

    def companions(self, case: PlannedCase, number: int) -> Companions:
        wide = self._run(case, lambda array, _: array)
        # A stream for each case and run, from the case's inputs: the same on every machine.
        seeds = np.random.SeedSequence(int(case.digest, 16)).spawn(number)
        return Companions(wide, tuple(self._run(case, _mover(seed)) for seed in seeds))

    def _run(self, case: PlannedCase, change: Change) -> Observation:
        self._session.prepare(self._limits, self._needs)
        if self._session.failed_load is not None:
            return self._session.failed_load
        call: Call = case.call(self._entry, ())
        args = tuple(changed(item, change) for item in call.args)
        kwargs = {name: changed(item, change) for name, item in call.kwargs.items()}
        call = replace(call, args=args, kwargs=kwargs)
        return self._session.call_fairly(call, self._limits.seconds)


def _mover(seed: np.random.SeedSequence) -> Change:
    random = np.random.Generator(np.random.PCG64(seed))

    def move(array: Array, dtype: str) -> Array:
        return array * (1 + random.choice([-1.0, 1.0], array.shape) * _ULP[dtype])

    return move


def changed(value: Value, change: Change) -> Value:
    """Return a value with every floating tensor in it in float64, and changed.

    Args:
        value: An argument.
        change: Gets the elements in float64 and the name of the dtype that they came in.
    """
    if isinstance(value, Tensor) and value.dtype in _FLOATING:
        array = change(to_numpy(value).astype(np.float64), value.dtype)
        return replace(value, dtype="float64", data=array.astype("<f8").tobytes())
    if isinstance(value, (tuple, list)):
        return type(value)(changed(item, change) for item in value)
    if isinstance(value, dict):
        return {key: changed(item, change) for key, item in value.items()}
    return value
