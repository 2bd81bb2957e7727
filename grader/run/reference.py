"""The reference on the drawn inputs: what goes wrong in it is the assignment's fault.

A reference that does not run would leave every submission's points pending, and running again would
not help. So whatever is wrong in the instructor's files is said before the first submission is
read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from grader.assignment.find import GIVEN, SCENARIO
from grader.assignment.types import Question
from grader.checks.arrays import Array, to_numpy
from grader.checks.speed import speed_tests
from grader.errors import AssignmentError, Problem, nearest
from grader.observation import Companions, Observation, Outcome
from grader.run.baseline_file import GeneratorRecorder
from grader.run.materials import Materials
from grader.run.observe import QuestionRun, observe, runs_of
from grader.run.plan import Generate, PlannedCase, PlannedQuestion, make_plan
from grader.run.process_limits import process_spec
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import ProcessSpec
from grader.text import inert
from grader.wire.messages import Call, Fault
from grader.wire.tree import map_tensors
from grader.wire.values import Tensor, Value

_FLOATING = {"float64", "float32", "float16", "bfloat16"}
_ULP = {"float64": 2.0**-52, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Relative step to the moved input; in float64 itself half a spacing would round back."""

Change = Callable[[Array, str], Array]


def add_companions(
    session: ProcessSession,
    plan: Sequence[PlannedQuestion],
    runs: dict[str, QuestionRun],
) -> dict[str, QuestionRun]:
    """Run what the checks ask for beside the reference, and keep it with its observations.

    Args:
        session: Holds the reference.
        plan: What was called.
        runs: What came of it, by question id.

    Raises:
        InfrastructureError: No student process can be started.
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
                runner = _Runner(session, planned, run.entry)
                companions = runner.companions(case, number)
                observations[case.key] = replace(observation, companions=companions)
        done[planned.question.id] = replace(run, observations=observations)
    return done


def perturbed_runs(planned: PlannedQuestion, case: PlannedCase) -> int:
    """Return how many runs on moved inputs the checks of a case ask for; 0 for none at all."""
    needs = [check.companions() for check in planned.question.checks if check.judges(case.case.id)]
    return max((need.perturbed for need in needs if need is not None), default=0)


class _Runner:
    def __init__(self, session: ProcessSession, planned: PlannedQuestion, entry: str) -> None:
        self._session = session
        self._process = planned.process
        self._entry = entry

    def companions(self, case: PlannedCase, number: int) -> Companions:
        wide = self._run(case, lambda array, _: array)
        # A stream for each case and run, from the case's inputs: the same on every machine.
        seeds = np.random.SeedSequence(int(case.digest, 16)).spawn(number)
        return Companions(wide, tuple(self._run(case, _mover(seed)) for seed in seeds))

    def _run(self, case: PlannedCase, change: Change) -> Observation:
        self._session.prepare(self._process)
        if self._session.failed_load is not None:
            return self._session.failed_load
        call: Call = case.call(self._entry, ())
        args = tuple(changed(item, change) for item in call.args)
        kwargs = {name: changed(item, change) for name, item in call.kwargs.items()}
        call = replace(call, args=args, kwargs=kwargs)
        return self._session.call_fairly(call, self._process.seconds)


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

    def wide(tensor: Tensor) -> Tensor:
        if tensor.dtype not in _FLOATING:
            return tensor
        array = change(to_numpy(tensor).astype(np.float64), tensor.dtype)
        # Little endian, as the wire has it, whatever this machine's order is.
        return replace(tensor, dtype="float64", data=array.astype("<f8").tobytes())

    return map_tensors(wide, value)


_MAX_TEXT = 500

FileAndLine = tuple[str, "int | None"]
"""The line is None where it is unknown."""


def position_of(materials: Materials, fault: Fault | None) -> FileAndLine | None:
    """Return file and line of a fault, or None where it is in no file of the instructor's."""
    if fault is None or not fault.line:
        return None
    if fault.file in materials.reference:
        return str(materials.reference_folder / fault.file), fault.line
    if fault.file in (SCENARIO, GIVEN) or fault.file in materials.support:
        return str(materials.folder / fault.file), fault.line
    return None


def names_in(source: bytes) -> dict[str, int]:
    """Return what a file that could be imported binds at module level → the line."""
    names: dict[str, int] = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = node.lineno
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name: node.lineno for alias in node.names}
        else:
            stored = (part for part in ast.walk(node) if isinstance(part, ast.Name))
            names |= {part.id: part.lineno for part in stored if isinstance(part.ctx, ast.Store)}
    return names


def why(seen: Observation) -> str:
    """Return why a call did not complete."""
    fault = seen.claims.fault
    if fault is not None:
        return exception_text(fault)
    return f"{seen.outcome.value.replace('_', ' ')}: {inert(seen.detail, _MAX_TEXT)}"


def exception_text(fault: Fault) -> str:
    """Return an exception as the student process reported it."""
    return inert(f"{fault.type}: {fault.message}", _MAX_TEXT)


_GENERATOR_SECONDS = 60.0


class Reference:
    """The reference of one assignment, in sandboxed processes of a session.

    Args:
        materials: The instructor's files.
        session: Holds the reference.
        progress: Called with the id of each question as it begins.

    Attributes:
        generate: Asks generators of the reference file, and knows what they returned.
    """

    def __init__(
        self, materials: Materials, session: ProcessSession, progress: Callable[[str], None]
    ) -> None:
        self._materials = materials
        self._session = session
        self._progress = progress
        self.generate = GeneratorRecorder(self._generate)
        assignment = materials.assignment
        self._files = {
            f"{question.id}.{case.id}": assignment.file_of(question)
            for question in assignment.questions
            for case in question.cases
        }

    def run(
        self, selected: Sequence[Question], gradable: Mapping[str, ProcessSpec], seed: int
    ) -> tuple[tuple[PlannedQuestion, ...], dict[str, QuestionRun]]:
        """Draw the inputs and run the reference on them.

        Args:
            selected: Questions that the reference must define.
            gradable: Ids of those among them that this machine can run → what their student
                processes get.
            seed: Of all drawn inputs.

        Raises:
            AssignmentError: Import, generators, scenario or solution fail; names every place.
            InfrastructureError: No student process can be started.
        """
        defined = self._defined()
        problems = list(undefined(self._materials, selected, defined))
        plan, badly_drawn = plan_all(self._materials, selected, gradable, (seed, self.generate))
        problems += badly_drawn
        # Even if something was found already: the author gets all problems at once.
        runs = runs_of(observe(self._session, plan), self._progress)
        problems += case_problems(self._materials, plan, runs)
        if problems:
            # Each once: several cases may run into the same one.
            raise AssignmentError(dict.fromkeys(problems))
        return tuple(plan), add_companions(self._session, plan, runs)

    def _defined(self) -> dict[str, tuple[str, ...]]:
        """Load each file; return the file → what it defines."""
        defined: dict[str, tuple[str, ...]] = {}
        for name in self._materials.assignment.asked:
            self._load(name)
            # At once: of a reference that cannot be imported nothing else can be found out.
            if broken := import_problems(self._materials, self._session, name):
                raise AssignmentError(broken)
            defined[name] = self._session.loaded.names if self._session.loaded else ()
        return defined

    def _load(self, name: str) -> None:
        self._session.prepare(process_spec(self._materials.assignment.limits, name))

    def _generate(self, where: str, function: str, keywords: dict[str, Value]) -> tuple[Value, ...]:
        name = self._files[where]
        # The generator before this one may have taken its student process along.
        self._load(name)
        loaded = self._session.loaded
        file = str(self._materials.reference_folder / name)
        if loaded is not None and function not in loaded.names:
            text = f"the generator “{function}” is not defined{nearest(function, loaded.names)}"
            raise AssignmentError([Problem(file, None, where, text)])
        request = Call(function, kwargs=keywords)
        observation = self._session.failed_load or self._session.call_fairly(
            request, _GENERATOR_SECONDS
        )
        value = observation.claims.value
        if observation.outcome is Outcome.COMPLETED and isinstance(value, tuple):
            return value
        position = position_of(self._materials, observation.claims.fault)
        if position is None:
            position = file, names_in(self._materials.reference[name]).get(function)
        called = f"{function}({', '.join(f'{name}=…' for name in keywords)})"
        text = f"the generator, called as {called}, failed: {why(observation)}"
        if observation.outcome is Outcome.COMPLETED:
            returned = f"returned a {type(value).__name__}"
            text = f"the generator “{function}” {returned}; it returns the arguments as a tuple"
        raise AssignmentError([Problem(*position, where, text)])


def plan_all(
    materials: Materials,
    selected: Sequence[Question],
    gradable: Mapping[str, ProcessSpec],
    draw: tuple[int, Generate],
) -> tuple[list[PlannedQuestion], list[Problem]]:
    """Return what will be called, and what is wrong with the inputs.

    Args:
        materials: The assignment.
        selected: Questions that were asked for.
        gradable: Ids of those that this machine can run → what their student processes get.
        draw: The seed of all inputs, and what asks generators of the reference file.
    """
    plan: list[PlannedQuestion] = []
    problems: list[Problem] = []
    for question in selected:
        if question.id not in gradable:
            continue
        spec, graded = gradable[question.id], question
        if spec.virtual_gpus:
            # They are too slow for these cases.
            cases = tuple(case for case in question.cases if not case.real_gpu)
            graded = question.model_copy(update={"cases": cases})
        try:
            made = make_plan(materials.assignment, [graded], *draw)
            plan += (replace(each, process=spec) for each in made)
        except AssignmentError as error:
            problems += error.problems
    return plan, problems


def import_problems(materials: Materials, session: ProcessSession, name: str) -> list[Problem]:
    """Return why reference or scenario could not be imported; empty if they could.

    Args:
        materials: For the paths.
        session: Was asked to load the file.
        name: Of the file.
    """
    module = str(materials.reference_folder / name)
    if session.failed_load is not None:
        text = f"{why(session.failed_load)}; the reference must import cleanly"
        return [Problem(module, None, "", text)]
    fault = session.loaded.fault if session.loaded else None
    if fault is None:
        return []
    what = "the scenario file" if fault.file == SCENARIO else "the reference"
    text = f"{exception_text(fault)}; {what} must import cleanly"
    return [Problem(*(position_of(materials, fault) or (module, None)), "", text)]


def undefined(
    materials: Materials, questions: Sequence[Question], defined: Mapping[str, Sequence[str]]
) -> Iterator[Problem]:
    """Yield the questions of which the reference defines nothing."""
    for question in questions:
        file, names = materials.file_of(question), defined[materials.assignment.file_of(question)]
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
    """Yield the cases that the reference does not come through."""
    reported: set[object] = set()
    for planned in plan:
        run = runs[planned.question.id]
        for case in planned.cases:
            observation = run.observations.get(case.key) or run.failed_load
            # SANDBOX_FAILED is the machine's doing: that case stays pending, and the assignment is
            # not at fault.
            if observation is None or observation.outcome in (
                Outcome.COMPLETED,
                Outcome.SANDBOX_FAILED,
            ):
                continue
            # Cases after one that ended the student process have its observation, and repeats of a
            # case its fault: each is said once.
            once = {id(observation), (planned.question.id, case.case.id)}
            if not reported & once:
                yield _case_problem(materials, planned.question, case, observation)
            reported |= once


def _case_problem(
    materials: Materials, question: Question, case: PlannedCase, seen: Observation
) -> Problem:
    where = f"{question.id}.{case.case.id}"
    module = materials.file_of(question)
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
