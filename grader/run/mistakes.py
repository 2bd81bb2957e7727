"""Known mistakes name themselves: a failed submission is compared with them, not guessed at.

A mistake runs once for all submissions, in a student process, on the inputs that the reference got;
and only when a submission fails its question. Where a submission does in **every** case of the
question what the mistake does, and no other mistake does the same, the verdict says what the author
wrote of that mistake.

It may have a price, too: the submission earns it then (``grader.run.prices``).

Does not defend against: a mistake that cannot run is left out, but for priced ones where the
machine is the cause: points that hang on these wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from grader.assignment.cells import KnownMistake
from grader.checks.arrays import in_dtype
from grader.checks.compare import equal_but_for_rounding
from grader.errors import InfrastructureError
from grader.observation import Observation, Outcome
from grader.run.judge_submission import Verdicts, failed_results
from grader.run.materials import Materials
from grader.run.observe import QuestionRun, observe, runs_of
from grader.run.plan import PlannedQuestion
from grader.run.prices import (
    OF_RESULTS,
    TELLING_NUMBERS,
    Made,
    Price,
    Results,
    best,
    numbers_in,
    priced,
    results_alone,
    why_unpaid,
)
from grader.run.scenario_relay import open_session
from grader.sandbox.host.processes import Sandbox
from grader.verdict import Message, Param, Verdict
from grader.wire.tree import combine, tensors
from grader.wire.values import Tensor, Value

_TELLING_CASES = 2


@dataclass(frozen=True, slots=True)
class MistakeRun:
    """A known mistake, and what it did.

    Attributes:
        mistake: As the author wrote it.
        results: What came of each case.
        telling: It differs from the reference in enough numbers, so that meeting all of its
            results is no accident.
        unpaid: Why its price is not paid, if it has one; empty where it is.
        lost: Checks that what returns the same numbers fails by its dtypes alone.
    """

    mistake: KnownMistake
    results: Results
    telling: bool
    unpaid: str = ""
    lost: frozenset[str] = frozenset()


class Explains(Protocol):
    """Says what authors say of known mistakes."""

    def explain(
        self,
        judged: Mapping[str, Verdicts],
        runs: Mapping[str, QuestionRun],
        against: tuple[Sequence[PlannedQuestion], Mapping[str, QuestionRun]],
        sandbox: Sandbox,
        /,
    ) -> dict[str, Verdicts]:
        """See ``KnownMistakes.explain``."""
        ...

    def prices(
        self,
        runs: Mapping[str, QuestionRun],
        against: tuple[Sequence[PlannedQuestion], Mapping[str, QuestionRun]],
        sandbox: Sandbox,
        /,
    ) -> dict[str, Price]:
        """See ``KnownMistakes.prices``."""
        ...

    def made(
        self, planned: PlannedQuestion, run: QuestionRun, right: QuestionRun, sandbox: Sandbox, /
    ) -> Made | None:
        """See ``KnownMistakes.made``."""
        ...

    def fits(
        self, planned: PlannedQuestion, run: QuestionRun, right: QuestionRun, sandbox: Sandbox, /
    ) -> bool:
        """See ``KnownMistakes.fits``."""
        ...

    def in_case(self, planned: PlannedQuestion, key: str, sandbox: Sandbox, /) -> list[Observation]:
        """See ``KnownMistakes.in_case``."""
        ...

    def paid(
        self, planned: PlannedQuestion, run: QuestionRun, right: QuestionRun, sandbox: Sandbox, /
    ) -> KnownMistake | None:
        """See ``KnownMistakes.paid``."""
        ...


class KnownMistakes:
    """The known mistakes of an assignment; each runs on a case once, when it is first asked for."""

    def __init__(self, materials: Materials) -> None:
        self._materials = materials
        self._seen: dict[tuple[str, str], dict[str, Observation]] = {}
        self._counted: dict[tuple[str, str], Made] = {}
        self._not_run = ""

    def prices(
        self,
        runs: Mapping[str, QuestionRun],
        against: tuple[Sequence[PlannedQuestion], Mapping[str, QuestionRun]],
        sandbox: Sandbox,
    ) -> dict[str, Price]:
        """Return question → the price of the known mistake that a submission makes there.

        Where the machine could not run the mistakes, the price is unknown.

        Args:
            runs: What the submission did, of questions where something that came back is wrong.
            against: The inputs, and what the reference did with them.
            sandbox: Where mistakes run that have not run yet.
        """
        plan, reference = against
        prices_of = {}
        for planned in plan:
            name = planned.question.id
            if not self._has_prices(name, runs.get(name)):
                continue
            alike = self._alike(planned, runs[name], reference[name], sandbox)
            if alike is None:
                prices_of[name] = Price(0.0, unknown=self._not_run or "known mistakes did not run")
            elif (made := self._paid(alike)) is not None:
                mistake = made.mistake
                prices_of[name] = Price(mistake.earns or 0.0, mistake.voids, lost=made.lost)
            elif any(each.mistake.earns is not None for each in alike):
                prices_of[name] = Price(0.0)
        return prices_of

    def made(
        self, planned: PlannedQuestion, run: QuestionRun, right: QuestionRun, sandbox: Sandbox
    ) -> Made | None:
        """Return the priced mistake that a submission makes, with what it does where it is counted.

        None where it makes none, where nothing is counted, or where the mistake cannot be run so.

        Args:
            planned: The question with its inputs.
            run: What the submission did.
            right: What the reference did.
            sandbox: Where the mistake runs.
        """
        name = planned.question.id
        if not any(case.counted for case in planned.cases) or not self._has_prices(name, run):
            return None
        mistake = self.paid(planned, run, right, sandbox)
        if mistake is None:
            return None
        key = name, mistake.name
        if key not in self._counted:
            files = self._with(mistake, planned)
            # A machine that cannot run it leaves its rules unproved: a person decides.
            with suppress(InfrastructureError):
                self._counted[key] = Made(files, self._run(planned, files, sandbox), key[1])
        return self._counted.get(key)

    def fits(
        self, planned: PlannedQuestion, run: QuestionRun, right: QuestionRun, sandbox: Sandbox
    ) -> bool:
        """Tell whether a submission does what a known mistake does that has a price, or earns 0.

        Args:
            planned: The question with its inputs.
            run: What the submission did.
            right: What the reference did.
            sandbox: Where mistakes run that have not run yet.
        """
        alike = self._alike(planned, run, right, sandbox) or ()
        return any(each.mistake.earns is not None for each in alike)

    def in_case(self, planned: PlannedQuestion, key: str, sandbox: Sandbox) -> list[Observation]:
        """Return what known mistakes do in one case that have a price.

        Args:
            planned: The question with its inputs.
            key: Of the case.
            sandbox: Where mistakes run that have not run yet.
        """
        trials = [trial for trial in self._trials([planned]) if trial.mistake.earns]
        self._observe([(trial, [key]) for trial in trials], sandbox)
        ran = self._that_ran(trials, [key]) or ()
        return [self._seen[trial.key][key] for trial in ran]

    def paid(
        self, planned: PlannedQuestion, run: QuestionRun, right: QuestionRun, sandbox: Sandbox
    ) -> KnownMistake | None:
        """Return the known mistake that a program makes, if it has a price that is paid.

        Args:
            planned: The question with its inputs.
            run: What the program did.
            right: What the reference did.
            sandbox: Where mistakes run that have not run yet.
        """
        made = self._paid(self._alike(planned, run, right, sandbox) or ())
        return made.mistake if made else None

    def _run(
        self, planned: PlannedQuestion, files: Mapping[str, bytes], sandbox: Sandbox
    ) -> QuestionRun:
        session = open_session(sandbox, self._materials, files)
        try:
            return runs_of(observe(session, [planned]))[planned.question.id]
        finally:
            session.finish()

    def _has_prices(self, question: str, run: QuestionRun | None) -> bool:
        """Tell whether a question was run and any of its mistakes has a price."""
        worth = (each.earns for each in self._materials.mistakes if question in each.questions)
        return bool(run and run.observations) and any(each is not None for each in worth)

    @staticmethod
    def _paid(alike: Sequence[MistakeRun]) -> MistakeRun | None:
        """Return the mistake whose price counts, of those that fit; None where none is paid."""
        fits = [run for run in alike if run.mistake.earns and not run.unpaid]
        if not fits:
            return None
        paid = best([run.mistake for run in fits])
        return next(run for run in fits if run.mistake is paid)

    def _with(self, mistake: KnownMistake, planned: PlannedQuestion) -> dict[str, bytes]:
        """Return the solution's files with a mistake in the place of its function."""
        materials = self._materials
        file = materials.assignment.file_of(planned.question)
        module = f"known_{mistake.name}"
        names = [name for name in planned.question.names if name in mistake.binds]
        # Below all of the solution, whose generators stay.
        ours = b"\n\nfrom %s import %s\n" % (module.encode(), ", ".join(names).encode())
        return {
            **materials.reference,
            file: materials.reference[file] + ours,
            f"{module}.py": mistake.module.encode(),
        }

    def explain(
        self,
        judged: Mapping[str, Verdicts],
        runs: Mapping[str, QuestionRun],
        against: tuple[Sequence[PlannedQuestion], Mapping[str, QuestionRun]],
        sandbox: Sandbox,
    ) -> dict[str, Verdicts]:
        """Return the verdicts; those of a recognised mistake say what the author says of it.

        Args:
            judged: Question id → verdicts.
            runs: What the submission did.
            against: The inputs, and what the reference did with them.
            sandbox: Where mistakes run that have not run yet.
        """
        plan, reference = against
        checks = explained_checks(plan, judged, runs)
        due = [planned for planned in plan if planned.question.id in checks]
        explained = {
            name: recognised(self._alike(planned, runs[name], reference[name], sandbox) or ())
            for planned in due
            if (name := planned.question.id)
        }
        says = {name: {"mistake": one.name, **one.says} for name, one in explained.items() if one}
        return with_sentences(judged, checks, says)

    def of(
        self,
        plan: Sequence[PlannedQuestion],
        reference: Mapping[str, QuestionRun],
        sandbox: Sandbox,
    ) -> dict[str, tuple[MistakeRun, ...]]:
        """Return question id → known mistakes with what they did in all cases.

        A question is left out where the machine could not run all that have a price.

        Args:
            plan: The questions with their inputs.
            reference: What the reference did with them.
            sandbox: Where they run that have not run yet.
        """
        due = list(filter(self._may_run, plan))
        every = {planned.question.id: [case.key for case in planned.cases] for planned in due}
        self._observe([(trial, every[trial.question]) for trial in self._trials(due)], sandbox)
        return {
            name: tuple(self._run_of(trial, reference[name]) for trial in ran)
            for planned in due
            if (name := planned.question.id)
            and (ran := self._that_ran(self._trials([planned]), every[name])) is not None
        }

    def _alike(
        self, planned: PlannedQuestion, run: QuestionRun, right: QuestionRun, sandbox: Sandbox
    ) -> tuple[MistakeRun, ...] | None:
        """Return the mistakes that do in every case what a submission does.

        Where none does, those whose numbers it returns in other dtypes, if the numbers are wrong.

        Returns:
            None where the machine could not run those that have a price.
        """
        alike = self._as(same_result, planned, run, right, sandbox)
        # A scenario's results have dtypes that say other things, too.
        if alike != () or any(case.case.scenario for case in planned.cases):
            return alike
        if all(_same_numbers(run.observations[k], right.observations[k]) for k in run.observations):
            return ()
        alike = self._as(_same_numbers, planned, run, right, sandbox)
        # One that has a wrong dtype itself explains no numbers.
        known = [each for each in alike or () if _wrong_numbers(each.results, right)]
        lost = failed_results(planned, right, _in_dtypes_of(run, right)) if known else frozenset()
        return alike and tuple(replace(each, lost=lost) for each in known)

    def _as(
        self,
        same: Callable[[Observation, Observation], bool],
        planned: PlannedQuestion,
        run: QuestionRun,
        right: QuestionRun,
        sandbox: Sandbox,
    ) -> tuple[MistakeRun, ...] | None:
        """Return the mistakes that do the same in every case; None as ``_alike``.

        All run on one case that it gets wrong, the others only where they do the same there.
        """
        submission, keys = run.observations, [case.key for case in planned.cases]
        # Every case: a submission that was stopped early would else meet mistakes by what is
        # missing.
        if not self._may_run(planned) or submission.keys() != set(keys):
            return ()
        wrong = (key for key in keys if not same(submission[key], right.observations[key]))
        first = next(wrong, keys[0])
        trials = self._trials([planned])
        for some_keys in ([first], keys):
            self._observe([(trial, some_keys) for trial in trials], sandbox)
            ran = self._that_ran(trials, some_keys)
            if ran is None:
                return None
            trials = [
                trial
                for trial in ran
                if all(same(submission[key], self._seen[trial.key][key]) for key in some_keys)
            ]
        return tuple(self._run_of(trial, right) for trial in trials)

    def _may_run(self, planned: PlannedQuestion) -> bool:
        """Tell whether a question's mistakes are run at all."""
        # Real GPUs are for submissions, and for what their points hang on.
        name = planned.question.id
        return not planned.process.cuda or bool(priced(self._materials.mistakes, name))

    def _trials(self, plan: Sequence[PlannedQuestion]) -> list[_Trial]:
        return [
            _Trial(mistake, planned)
            for planned in plan
            for mistake in self._materials.mistakes
            if planned.question.id in mistake.questions
        ]

    def _run_of(self, trial: _Trial, right: QuestionRun) -> MistakeRun:
        """Return what a mistake did that ran on all cases of its question."""
        results, expected = self._seen[trial.key], right.observations
        unpaid = why_unpaid(trial.planned, results, expected)
        return MistakeRun(trial.mistake, results, _telling(results, expected), unpaid)

    def _that_ran(self, trials: Sequence[_Trial], keys: Sequence[str]) -> list[_Trial] | None:
        """Return those that ran on some cases; None where one that has a price did not."""
        ran = [trial for trial in trials if self._seen.get(trial.key, {}).keys() >= set(keys)]
        lost = [trial for trial in trials if trial not in ran]
        return None if any(trial.mistake.earns for trial in lost) else ran

    def _observe(self, wanted: Sequence[tuple[_Trial, Sequence[str]]], sandbox: Sandbox) -> None:
        """Run mistakes on those of their cases on which they did not run yet."""
        due = [
            replace(trial, keys=left)
            for trial, keys in wanted
            if (left := tuple(key for key in keys if key not in self._seen.get(trial.key, ())))
        ]
        try:
            for together in _in_one_process(due):
                for trial, results in self._results(together, sandbox).items():
                    observations = {
                        key: observation
                        for key, observation in results.items()
                        if observation.outcome is not Outcome.SANDBOX_FAILED
                    }
                    self._seen.setdefault(trial.key, {}).update(observations)
        # A machine that cannot run mistakes costs their sentences, and makes points wait that hang
        # on a price.
        except InfrastructureError as error:
            self._not_run = str(error)

    def _results(self, trials: Sequence[_Trial], sandbox: Sandbox) -> dict[_Trial, Results]:
        """Run mistakes in one student process, or in one after another where they end it."""
        materials = self._materials
        # In the place of their question's file: what the solution's other files define is there.
        file = materials.assignment.file_of(trials[0].planned.question)
        files = {**materials.reference, file: _program(trials).encode()}
        files |= {f"{trial.module}.py": trial.mistake.module.encode() for trial in trials}
        session = open_session(sandbox, materials, files)
        try:
            runs = runs_of(observe(session, [trial.plan() for trial in trials]))
        finally:
            session.finish()
        return {trial: runs[trial.id].observations for trial in trials}


# By identity: as a key it would otherwise hash its cases, whose keyword arguments are a dict.
@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """A mistake of one question, to be run.

    Attributes:
        mistake: As the author wrote it.
        planned: The question with its inputs.
        keys: Of the cases that it is to run on.
    """

    mistake: KnownMistake
    planned: PlannedQuestion
    keys: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        return self.planned.question.id

    @property
    def key(self) -> tuple[str, str]:
        return self.question, self.mistake.name

    @property
    def id(self) -> str:
        return f"{self.question}__{self.mistake.name}"

    @property
    def module(self) -> str:
        return f"known_{self.mistake.name}"

    @property
    def alone(self) -> bool:
        """Whether it has to go by the function's own name, by which a scenario calls it."""
        return any(case.case.scenario for case in self.planned.cases)

    def imports(self) -> str:
        """Return the statement that gives its function the name that it is called by."""
        defined = next(name for name in self.planned.question.names if name in self.mistake.binds)
        return f"from {self.module} import {defined} as {self.id}\n"

    def plan(self) -> PlannedQuestion:
        """Return what is called: for results and arguments, and nothing else."""
        question = self.planned.question
        update = {
            "id": self.id,
            "entry": question.names if self.alone else (self.id,),
            "checks": tuple(filter(results_alone, question.checks)),
        }
        wanted = (case for case in self.planned.cases if case.key in self.keys)
        cases = tuple(replace(case, counted=()) for case in wanted)
        return replace(self.planned, question=question.model_copy(update=update), cases=cases)


def _program(trials: Sequence[_Trial]) -> str:
    """Return the module whose functions are called."""
    if trials[0].alone:
        return trials[0].mistake.module
    return "".join(trial.imports() for trial in trials)


def _in_one_process(trials: Sequence[_Trial]) -> Iterator[list[_Trial]]:
    yield from ([trial] for trial in trials if trial.alone)
    together: dict[str | None, list[_Trial]] = {}
    for trial in trials:
        if not trial.alone:
            together.setdefault(trial.planned.question.file, []).append(trial)
    yield from together.values()


def recognised(alike: Sequence[MistakeRun]) -> KnownMistake | None:
    """Return the mistake that explains all results of a submission; None if none or several do.

    Args:
        alike: The mistakes that do in every case what it does.
    """
    mistakes = [run.mistake for run in alike if run.telling]
    # Two that say the same are one to whoever reads it.
    alike_in_words = all(item.says == mistakes[0].says for item in mistakes)
    return mistakes[0] if mistakes and alike_in_words else None


def same_results(one: Results, other: Results) -> bool:
    """Return whether two programs did the same in every case."""
    # Every case: a submission that was stopped early would else meet mistakes by what is missing.
    return one.keys() == other.keys() and all(same_result(one[key], other[key]) for key in one)


def _telling(mistake: Results, reference: Results) -> bool:
    wrong = [
        observation
        for key, observation in mistake.items()
        if observation.outcome is Outcome.COMPLETED and not same_result(observation, reference[key])
    ]
    numbers = frozenset[complex]().union(*(numbers_in(seen.claims.value) for seen in wrong))
    return len(wrong) >= _TELLING_CASES or len(numbers) >= TELLING_NUMBERS


def explained_checks(
    plan: Sequence[PlannedQuestion],
    judged: Mapping[str, Verdicts],
    runs: Mapping[str, QuestionRun],
) -> dict[str, str]:
    """Return question id → its check that a known mistake explains, where one may.

    Args:
        plan: The questions with their inputs.
        judged: Question id → verdicts.
        runs: What the submission did.
    """
    explained = {
        planned.question.id: _explained_check(planned, judged.get(planned.question.id, {}))
        for planned in plan
        if planned.question.id in runs
    }
    return {name: check for name, check in explained.items() if check}


def with_sentences(
    judged: Mapping[str, Verdicts],
    checks: Mapping[str, str],
    says: Mapping[str, Mapping[str, str]],
) -> dict[str, Verdicts]:
    """Return the verdicts; the checks that are explained say what an author says.

    Args:
        judged: Question id → verdicts.
        checks: Question id → the check that is explained.
        says: Question id → what is said; see ``_saying``.
    """
    explained = dict(judged)
    for name, sentences in says.items():
        verdict = judged[name][checks[name]]
        explained[name] = {**judged[name], checks[name]: _saying(verdict, sentences)}
    return explained


def _explained_check(planned: PlannedQuestion, verdicts: Verdicts) -> str | None:
    """Return the first check that failed by what came back."""
    return next(
        (
            check.id
            for check in planned.question.checks
            if (verdict := verdicts.get(check.id)) is not None
            and verdict.status.wrong
            and verdict.code in OF_RESULTS
            and verdict.message is not None
        ),
        None,
    )


def _saying(verdict: Verdict, says: Mapping[str, str]) -> Verdict:
    """Return a verdict that says ``says``: language → sentence, and ``mistake`` → its name."""
    message = verdict.message
    assert message is not None
    sentences = {key if key == "mistake" else f"says_{key}": text for key, text in says.items()}
    # It explains every result; what diagnostic checks found beside it would only repeat it.
    own_params = {
        key: value for key, value in message.params.items() if not key.startswith("diagnos")
    }
    params: dict[str, Param] = {**own_params, "cause": "known_mistake", **sentences}
    return replace(verdict, message=Message(message.id, params))


def same_result(one: Observation, other: Observation, dtypes: bool = True) -> bool:
    """Return whether two calls ended alike: with the same values, or the same type of exception.

    Values are what was returned, and the arguments after the call where both tell them. Wrong
    results are compared with wrong ones here: tolerances of checks do not count, and numbers may
    differ only by what another order of operations explains.

    Args:
        one: Of one call.
        other: Of another one.
        dtypes: Whether those of tensors have to be the same, too.
    """
    if one.outcome is not other.outcome:
        return False
    if one.outcome is Outcome.RAISED:
        faults = one.claims.fault, other.claims.fault
        return None not in faults and len({fault.type for fault in faults if fault}) == 1
    if one.outcome is not Outcome.COMPLETED:
        return False
    if not equal_but_for_rounding(one.claims.value, other.claims.value, dtypes=dtypes):
        return False
    before, after = one.claims.args_after, other.claims.args_after
    return before is None or after is None or equal_but_for_rounding(before, after)


_same_numbers = partial(same_result, dtypes=False)


def _wrong_numbers(results: Results, right: QuestionRun) -> bool:
    """Tell whether results are wrong in their numbers, and not in their dtypes."""
    pairs = [(seen, right.observations[key]) for key, seen in results.items()]
    return not all(_same_numbers(*pair) for pair in pairs) and all(
        {each.dtype for each in tensors(seen.claims.value)}
        <= {each.dtype for each in tensors(expected.claims.value)}
        for seen, expected in pairs
    )


def _in_dtypes_of(run: QuestionRun, right: QuestionRun) -> QuestionRun:
    """Return what the reference would have done in a submission's dtypes."""

    def changed(expected: Value, seen: Value) -> Value:
        if isinstance(expected, Tensor) and isinstance(seen, Tensor):
            return in_dtype(expected, seen.dtype)
        return expected

    def in_its_own(expected: Observation, seen: Observation) -> Observation:
        value = combine(
            changed, expected.claims.value, seen.claims.value, unlike=lambda whole, _: whole
        )
        return replace(expected, claims=replace(expected.claims, value=value))

    observations = {
        key: in_its_own(expected, run.observations[key])
        for key, expected in right.observations.items()
    }
    return replace(right, observations=observations)
