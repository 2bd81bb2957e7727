"""The reference on the drawn inputs: what goes wrong in it is the assignment's fault.

A reference that does not run would leave every hand-in's points pending, and running again would
not help. So whatever is wrong in the instructor's files is said before the first hand-in is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from grader.assignment.find import SCENARIO
from grader.assignment.types import Question
from grader.checks.timed import speed_tests
from grader.errors import AssignmentError, Problem, nearest
from grader.observation import Observation, Outcome
from grader.run.companions import add_companions
from grader.run.materials import Materials
from grader.run.observe import QuestionRun, observe
from grader.run.places import names_in, position_of, told_by, why
from grader.run.plan import Generate, PlannedCase, PlannedQuestion, make_plan
from grader.run.reference_cache import Recorder
from grader.run.session import Session
from grader.sandbox.host.guests import GuestNeeds
from grader.wire.messages import Call
from grader.wire.values import Value

_GENERATOR_SECONDS = 60.0


class Reference:
    """The reference of one assignment, in guests of a session.

    Args:
        materials: The instructor's files.
        session: Holds the reference.
        progress: Told the id of each question as it begins.

    Attributes:
        generate: Asks generators of the reference file, and knows what they returned.
    """

    def __init__(
        self,
        materials: Materials,
        session: Session,
        progress: Callable[[str], None],
    ) -> None:
        self._materials = materials
        self._session = session
        self._progress = progress
        self.generate = Recorder(self._generate)

    def run(
        self, selected: Sequence[Question], gradable: Mapping[str, GuestNeeds], seed: int
    ) -> tuple[tuple[PlannedQuestion, ...], dict[str, QuestionRun]]:
        """Draw the inputs and run the reference on them.

        Args:
            selected: Questions that the reference must define.
            gradable: Ids of those among them that this machine can run → what their guests need.
            seed: Of all drawn inputs.

        Raises:
            AssignmentError: Import, generators, scenario or solution fail; names every place.
            InfrastructureError: No guest can be started.
        """
        limits_of = self._materials.assignment.limits_of
        self._load()
        if broken := import_problems(self._materials, self._session):
            raise AssignmentError(broken)
        names = self._session.loaded.names if self._session.loaded else ()
        problems = list(undefined(self._materials, selected, names))
        plan, badly_drawn = plan_all(self._materials, selected, gradable, (seed, self.generate))
        problems += badly_drawn
        runs = observe(self._session, plan, limits_of, self._progress)
        problems += case_problems(self._materials, plan, runs)
        if problems:
            raise AssignmentError(dict.fromkeys(problems))
        return tuple(plan), add_companions(self._session, plan, runs, limits_of)

    def _load(self) -> None:
        self._session.prepare(self._materials.assignment.limits, GuestNeeds())

    def _generate(self, where: str, function: str, keywords: dict[str, Value]) -> tuple[Value, ...]:
        # The generator before this one may have taken its guest along.
        self._load()
        loaded = self._session.loaded
        file = str(self._materials.reference_folder / self._materials.assignment.module)
        if loaded is not None and function not in loaded.names:
            text = f"the generator “{function}” is not defined{nearest(function, loaded.names)}"
            raise AssignmentError([Problem(file, None, where, text)])
        request = Call(function, kwargs=keywords)
        seen = self._session.failed_load or self._session.call_fairly(request, _GENERATOR_SECONDS)
        value = seen.claims.value
        if seen.outcome is Outcome.COMPLETED and isinstance(value, tuple):
            return value
        position = position_of(self._materials, seen.claims.fault)
        if position is None:
            source = self._materials.reference[self._materials.assignment.module]
            position = file, names_in(source).get(function)
        called = f"{function}({', '.join(f'{name}=…' for name in keywords)})"
        text = f"the generator, called as {called}, failed: {why(seen)}"
        if seen.outcome is Outcome.COMPLETED:
            returned = f"returned a {type(value).__name__}"
            text = f"the generator “{function}” {returned}; it returns the arguments as a tuple"
        raise AssignmentError([Problem(*position, where, text)])


def plan_all(
    materials: Materials,
    selected: Sequence[Question],
    gradable: Mapping[str, GuestNeeds],
    draw: tuple[int, Generate],
) -> tuple[list[PlannedQuestion], list[Problem]]:
    """Return what will be called, and what is wrong with the inputs.

    Args:
        materials: The assignment.
        selected: Questions that were asked for.
        gradable: Ids of those that this machine can run → what their guests need.
        draw: The seed of all inputs, and what asks generators of the reference file.
    """
    plan: list[PlannedQuestion] = []
    problems: list[Problem] = []
    for question in selected:
        if question.id not in gradable:
            continue
        needs = gradable[question.id]
        try:
            made = make_plan(materials.assignment, [_made_for(question, needs)], *draw)
            plan += (replace(planned, needs=needs) for planned in made)
        except AssignmentError as error:
            problems += error.problems
    return plan, problems


def _made_for(question: Question, needs: GuestNeeds) -> Question:
    """Return a question without the cases that virtual GPUs are too slow for."""
    if not needs.virtual:
        return question
    cases = tuple(case for case in question.cases if not case.real_gpu)
    return question.model_copy(update={"cases": cases})


def import_problems(materials: Materials, session: Session) -> list[Problem]:
    """Return why reference or scenario could not be imported; empty if they could."""
    module = str(materials.reference_folder / materials.assignment.module)
    if session.failed_load is not None:
        text = f"{why(session.failed_load)}; the reference must import cleanly"
        return [Problem(module, None, "", text)]
    fault = session.loaded.fault if session.loaded else None
    if fault is None:
        return []
    what = "the scenario file" if fault.file == SCENARIO else "the reference"
    text = f"{told_by(fault)}; {what} must import cleanly"
    return [Problem(*(position_of(materials, fault) or (module, None)), "", text)]


def undefined(
    materials: Materials, questions: Sequence[Question], names: Sequence[str]
) -> Iterator[Problem]:
    """Yield the questions of which the reference defines nothing.

    Args:
        materials: For the file's path.
        questions: That hand-ins will be asked for.
        names: What the reference defines.
    """
    file = str(materials.reference_folder / materials.assignment.module)
    for question in questions:
        if not set(question.names) & set(names):
            wanted = ", ".join(question.names)
            text = f"the reference defines none of {wanted}{nearest(question.names[0], names)}"
            yield Problem(file, None, question.id, text)
        if question.timed is not None and question.timed.loop not in names:
            loop = question.timed.loop
            text = f"the reference defines no loop “{loop}”{nearest(loop, names)}"
            yield Problem(file, None, f"{question.id}.timed", text)
        for check, test in speed_tests(question.checks, on_device=True):
            if test.cpu not in names:
                text = f"the reference defines no “{test.cpu}”{nearest(test.cpu, names)}"
                yield Problem(file, None, f"{question.id}.{check.id}", text)


def case_problems(
    materials: Materials, plan: Sequence[PlannedQuestion], runs: Mapping[str, QuestionRun]
) -> Iterator[Problem]:
    """Yield the cases that the reference does not come through.

    Args:
        materials: For the paths and the scenario.
        plan: What was called.
        runs: What came of it, by question id.
    """
    told: set[object] = set()
    for planned in plan:
        run = runs[planned.question.id]
        for case in planned.cases:
            seen = run.observations.get(case.key) or run.failed_load
            if seen is None or seen.outcome in (Outcome.COMPLETED, Outcome.SANDBOX_FAILED):
                continue
            # Cases after one that ended the guest have its observation, and repeats of a case its
            # fault: each is said once.
            once = {id(seen), (planned.question.id, case.case.id)}
            if not told & once:
                yield _case_problem(materials, planned.question, case, seen)
            told |= once


def _case_problem(
    materials: Materials, question: Question, case: PlannedCase, seen: Observation
) -> Problem:
    where = f"{question.id}.{case.case.id}"
    module = str(materials.reference_folder / materials.assignment.module)
    scenario = case.case.scenario
    position = position_of(materials, seen.claims.fault)
    if scenario is None:
        return Problem(*(position or (module, None)), where, f"the reference failed: {why(seen)}")
    file, text = str(materials.folder / SCENARIO), f"the scenario “{scenario}” failed: {why(seen)}"
    if position is None:
        names = names_in(materials.scenario.encode())
        if seen.outcome is Outcome.RAISED and scenario not in names:
            text = f"the scenario “{scenario}” is not defined{nearest(scenario, names)}"
        position = file, names.get(scenario)
    return Problem(*position, where, text)
