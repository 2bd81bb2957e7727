"""Logs of counted calls, run again: what a submission's functions do becomes a fact.

While a call is counted, the student process writes down what torch computes. Once the log is here,
the host draws other inputs of the same form. The reference's process answers them. A process
without the submission runs the log on them (``grader.scenario_process.again``). Where both come to
the same, the log is itself a right program: what it does not hold, the answer did not need.

The draws follow from a key that no student process ever has, and the log's digest says which it
gets. So no log was written with its inputs known.

Defends against: logs that are false, edited or written by hand; work done where nothing is
counted; answers that are kept from another call.
Does not defend against: a program that does the work both ways, and tells counted calls from
others.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from grader.assignment.find import SCENARIO
from grader.checks.arrays import to_numpy
from grader.checks.base import GROWTH_FACTOR, Check, UnfitCaseError
from grader.checks.compare import equal_but_for_rounding
from grader.checks.counts import works_of
from grader.checks.proved import OTHER_VALUES
from grader.checks.traces import items, mapping, natural, text
from grader.errors import AssignmentError, InfrastructureError
from grader.observation import Claims, Observation, Outcome, Proof
from grader.run.answer_budget import AnswerBudget
from grader.run.materials import Materials
from grader.run.observe import QuestionRun, without_logs
from grader.run.plan import (
    CountedCall,
    DrawKey,
    PlannedCase,
    PlannedQuestion,
    checks_on,
    digest_of,
    draw_case,
    is_drawn,
)
from grader.run.prices import parts_of
from grader.run.process_limits import process_spec
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import Sandbox, Tier
from grader.verdict import Code
from grader.wire.messages import LOG, Call, Load
from grader.wire.tree import UnlikeError, combine, map_leaves, map_tensors, places, tensors
from grader.wire.values import Tensor, Value

_PROGRAM = "from grader.scenario_process.again import play\n"
_DRAWS = 2
"""Sets of inputs for a log of the case's own sizes: what holds by chance on one does not on the
other. A log of larger inputs gets one."""

_POOL = 4
"""Sets of inputs that are drawn for a call; its log's digest says which it gets."""

_SECONDS = 10.0
"""Processor time for a log. Honest ones take milliseconds."""

_DEATHS = 2
"""Logs of one submission that may end the process they are run in."""

_MOST_KNOWN = 4_000
"""Logs that are kept with what they prove: a class writes the same ones again and again."""

_PASSING = (Outcome.TIMED_OUT, Outcome.SANDBOX_FAILED, Outcome.CRASHED)
"""Maybe the machine's doing: asked again for the next submission."""

_SHARE = 1e-3
"""Of its greatest number, by which a log's result may differ. How exact a result is, the checks of
values say: what blurs some digits must not be proved on some draws, and on others not."""

_REAL = {"float64": "<f8", "float32": "<f4", "float16": "<f2"}

_ENDED = "a log before it ended the process that runs them"

Arguments = tuple[tuple[Value, ...], dict[str, Value]]
_Place = tuple[str, str]
"""Key of a case, and the dim that is grown in one of its calls."""


@dataclass(frozen=True)
class _Task:
    """A log to be run again.

    Attributes:
        problem: Why it need not be: it cannot come to the reference's values. Mostly empty.
        parts: The parts of the result that are right, where others are not; empty for all.
    """

    planned: PlannedQuestion
    case: PlannedCase
    call: CountedCall
    seen: Observation
    right: Observation
    problem: str = ""
    parts: tuple[str, ...] = ()

    @property
    def log(self) -> Value:
        return self.seen.claims.probes.get(LOG)

    @cached_property
    def digest(self) -> str:
        """Return what says which inputs the log gets: whoever wrote it cannot know them."""
        return digest_of(self.log)

    @property
    def place(self) -> _Place:
        return self.case.key, self.call.grown

    @property
    def is_shown(self) -> bool:
        """Tell whether the reference's own log shows what it does."""
        return self.right.proved is not None


@dataclass(frozen=True, slots=True)
class _Fresh:
    """Other inputs of a call.

    Attributes:
        tensors: Those of its arguments, in order.
        seen: What the reference does with them.
        why: Why there are none; empty where there are.
    """

    tensors: list[Value] = field(default_factory=list)
    seen: Observation = field(default_factory=lambda: Observation(Outcome.NOT_RUN))
    why: str = ""


class Prover:
    """Runs logs again, one submission after the other.

    Args:
        materials: Hold the reference.
        sandbox: Where reference and logs run.
        seed: Of all drawn inputs: it says how large they are.
    """

    def __init__(self, materials: Materials, sandbox: Sandbox, seed: int) -> None:
        self._materials = materials
        self._sandbox = sandbox
        self._seed = seed
        self._secret = secrets.token_bytes(32)
        self._reference: ProcessSession | None = None
        self._pool: dict[tuple[str, str, str, int], _Fresh] = {}
        self._known: dict[tuple[str, _Place, str], Proof] = {}

    def proved(
        self,
        plan: Sequence[PlannedQuestion],
        runs: Mapping[str, QuestionRun],
        reference: Mapping[str, QuestionRun],
    ) -> dict[str, QuestionRun]:
        """Return the runs with what came of their logs, in the place of these.

        Where the reference's log shows something, and a submission's cannot be run again, that is
        noted, too. Where the machine, or the inputs, are the cause, nothing is.

        Args:
            plan: What was called.
            runs: What came of it for a submission, by question id.
            reference: The same for the reference; its own runs, to find out what its logs show.
        """
        # Without walls, whoever writes the log could reach the process that runs it again.
        if self._sandbox.isolation.tier is Tier.NONE or not self._materials.reference:
            return without_logs(runs)
        proved_runs = dict(runs)
        program = Load({}, SCENARIO, stage=_PROGRAM)
        player = ProcessSession(self._sandbox, program, budget=AnswerBudget())
        deaths = 0
        try:
            for planned in plan:
                name = planned.question.id
                tasks = list(_tasks(planned, runs.get(name), reference.get(name)))
                if deaths >= _DEATHS:
                    tasks = [replace(task, problem=task.problem or _ENDED) for task in tasks]
                proofs: dict[_Place, Proof] = {
                    task.place: Proof(task.problem)
                    for task in tasks
                    if task.problem and task.is_shown
                }
                left = [task for task in tasks if not task.problem]
                proofs |= {
                    task.place: self._known[key]
                    for task in left
                    if (key := _key(task)) in self._known
                }
                due = [task for task in left if task.place not in proofs]
                results = self._results(player, due)
                self._keep(due, results)
                proofs |= results
                deaths += bool(results) and not player.alive
                proved_runs[name] = _summed_up(planned, _with_proofs(proved_runs[name], proofs))
        # The machine's doing: nothing is proved then, and the other witnesses are heard.
        except InfrastructureError:
            self.close()
        finally:
            player.finish()
        return without_logs(proved_runs)

    def close(self) -> None:
        """End the reference's process."""
        if self._reference is not None:
            self._reference.finish()
            self._reference = None

    def _keep(self, tasks: Sequence[_Task], proofs: Mapping[_Place, Proof]) -> None:
        """Keep what logs prove, for others that write the same ones: these get the same inputs.

        Only what acquits. A process that a hostile log took over might say of a log after it that
        it proves nothing, and others would wait for a person.
        """
        for task in tasks:
            proof = proofs.get(task.place)
            if proof is not None and not proof.why:
                self._known[_key(task)] = proof
        while len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]

    def _results(self, player: ProcessSession, tasks: Sequence[_Task]) -> dict[_Place, Proof]:
        """Return what came of the logs of one question."""
        proofs = self._played(player, tasks, 0)

        def once_more(may: Callable[[_Task, str], bool], *how: Any) -> None:
            whys = {place: proof.why for place, proof in proofs.items() if proof.why}
            left = [task for task in tasks if task.place in whys and may(task, whys[task.place])]
            if left and player.alive:
                again = self._played(player, left, *how)
                proofs.update({place: proof for place, proof in again.items() if not proof.why})

        # A number that was read, and comes back in, is the text's own or follows from the elements.
        once_more(lambda task, _: _has_links(task.log), 0, True)
        # A size that depends on the elements, such as how many different ones there are, is written
        # into the log. The same elements in another order have it, too.
        once_more(lambda _, why: why != OTHER_VALUES, _POOL)
        return proofs

    def _played(
        self, player: ProcessSession, tasks: Sequence[_Task], offset: int, linked: bool = False
    ) -> dict[_Place, Proof]:
        drawn = [(task, *self._chosen(task, offset)) for task in tasks]
        requests = [
            (
                Call("play", (task.log, [each.tensors for each in chosen], linked)),
                chosen[0].seen.facts.reply,
            )
            for task, chosen, why in drawn
            if not why
        ]
        answers: Sequence[Observation] = ()
        if requests:
            player.prepare(process_spec(self._materials.assignment.limits))
            if not player.alive:
                raise InfrastructureError("no process can be started that runs logs again")
            answers = player.calls_fairly(requests, _SECONDS)
        failed = any(answer.outcome is Outcome.SANDBOX_FAILED for answer in answers)
        left = iter(answers)
        proofs = {}
        for task, chosen, why in drawn:
            if why:
                # The inputs' doing, or the reference's: then nothing is known.
                continue
            answer = next(left, None)
            if answer is None or answer.outcome is Outcome.SANDBOX_FAILED:
                proof = None if failed else Proof(_ENDED)
            else:
                proof = _proof(task, [each.seen for each in chosen], answer)
            if proof is not None:
                proofs[task.place] = proof
        return proofs

    def _chosen(self, task: _Task, offset: int) -> tuple[list[_Fresh], str]:
        """Return other inputs for a log, with what the reference does with them; or why not."""
        digest = hashlib.sha256(self._secret + task.digest.encode()).digest()
        first = digest[0] % _POOL
        wanted = range(first, first + (1 if task.call.grown else _DRAWS))
        chosen = [self._fresh(task, offset + number % _POOL) for number in wanted]
        if why := next((each.why for each in chosen if each.why), ""):
            return [], why
        answers = [task.right, *(each.seen for each in chosen)]
        # An answer that is the same for all inputs can be known before they are. Twice as far apart
        # as a proof allows: then no answer passes for two of them. The sum of the same numbers in
        # another order is another by rounding alone.
        known = [_narrowed(each, task.parts) for each in answers]
        alike = any(_same(task, one, other, 2 * _SHARE) for one, other in pairwise(known))
        return chosen, "other inputs have the same answer" if alike else ""

    def _fresh(self, task: _Task, number: int) -> _Fresh:
        """Return one of the other inputs of a call. They are kept: a class has the same calls.

        From ``_POOL`` on they are the same elements in another order.
        """
        key = (task.planned.question.id, task.case.key, task.call.grown, number)
        if key not in self._pool:
            fresh = self._answered(task, number)
            if fresh.seen.outcome not in _PASSING:
                self._pool[key] = fresh
            return fresh
        return self._pool[key]

    def _answered(self, task: _Task, number: int) -> _Fresh:
        """Draw other inputs of a call, and have the reference answer them."""
        session = self._session(task.planned)
        place = (task.planned.question.id, task.case.key, task.call.grown, number)
        salt = hashlib.sha256(self._secret + repr(place).encode()).digest()
        try:
            if number < _POOL:
                args, kwargs = self._draw(task, session, salt)
            else:
                args, kwargs = _in_another_order(task.call, salt)
        except (UnlikeError, AssignmentError) as error:
            return _Fresh(why=str(error))
        call = task.case.call(_entry(task.planned, session), ())
        call = replace(call, args=args, kwargs=kwargs)
        answer = session.call_fairly(call, task.planned.process.seconds)
        why = "" if answer.outcome is Outcome.COMPLETED else "the reference does not answer"
        return _Fresh(_tensors((args, kwargs)), answer, why)

    def _draw(self, task: _Task, session: ProcessSession, salt: bytes) -> Arguments:
        case, call = task.case.case, task.call
        key = DrawKey(self._seed, self._materials.assignment.id, task.planned.question.id)
        drawn = draw_case(case, key, {call.grown: GROWTH_FACTOR} if call.grown else {}, salt)
        args, kwargs = drawn.args, drawn.kwargs
        if case.generate is not None:
            keywords: dict[str, Value] = {"seed": drawn.seed, **drawn.dims}
            generated = session.call(Call(case.generate, kwargs=keywords), _SECONDS)
            made = generated.claims.value
            args = made if isinstance(made, tuple) else ()
        own = call.args, call.kwargs
        try:
            inputs = like(call.args, args), like(call.kwargs, kwargs)
        except UnlikeError:
            inputs = own
        if _are_the_same(inputs, own):
            # A generator that draws sizes, too, or nothing else. Its real numbers are drawn here.
            random = np.random.Generator(np.random.PCG64(int.from_bytes(salt, "big")))
            inputs = _redrawn(call.args, random), _redrawn(call.kwargs, random)
            if _are_the_same(inputs, own):
                raise UnlikeError("nothing in these inputs is drawn")
        return inputs

    def _session(self, planned: PlannedQuestion) -> ProcessSession:
        if self._reference is None:
            program = self._materials.program(self._materials.reference)
            self._reference = ProcessSession(self._sandbox, program)
        self._reference.prepare(planned.process)
        return self._reference


def _key(task: _Task) -> tuple[str, _Place, str]:
    return task.planned.question.id, task.place, f"{task.digest} {task.parts}"


def _has_links(log: Value) -> bool:
    """Tell whether numbers that left torch come back in, by a log's own word."""
    return isinstance(log, dict) and log.get("linked") is True


def _are_the_same(one: Arguments, other: Arguments) -> bool:
    return all(map(equal_but_for_rounding, _tensors(one), _tensors(other)))


def _in_another_order(call: CountedCall, salt: bytes) -> Arguments:
    random = np.random.Generator(np.random.PCG64(int.from_bytes(salt, "big")))

    def shuffled(tensor: Tensor) -> Tensor:
        elements = np.frombuffer(tensor.data, np.uint8).reshape(prod(tensor.shape), -1)
        return replace(tensor, data=random.permutation(elements).tobytes())

    return map_tensors(shuffled, call.args), map_tensors(shuffled, call.kwargs)


def _tasks(
    planned: PlannedQuestion, run: QuestionRun | None, reference: QuestionRun | None
) -> Iterator[_Task]:
    """Yield the logs of a question; where the reference's shows something, also lacking ones."""
    if run is None or reference is None:
        return
    for case in planned.cases:
        observation, right = run.observations.get(case.key), reference.observations.get(case.key)
        for call in case.counted if observation and right else ():
            assert observation is not None
            assert right is not None
            own, other = observation.counted.get(call.grown), right.counted.get(call.grown)
            if own and other and own.outcome is other.outcome is Outcome.COMPLETED:
                task = _Task(planned, case, call, own, other)
                task = replace(task, parts=_right_parts(task, own, other))
                task = replace(task, problem=_problem(task))
                # A function that is wrong there in the plain call, too, shows nothing, and hides
                # nothing: its values cost it points.
                if not task.problem or (task.is_shown and _same(task, observation, right)):
                    yield task


def _problem(task: _Task) -> str:
    """Return why a log cannot come to the reference's values; empty if it may."""
    if LOG not in task.seen.claims.probes:
        return "there is no log"
    # What is wrong where it is counted will not be right elsewhere.
    if not task.parts and not _same(task, task.seen, task.right):
        return "counted, it gave other values than the reference"
    return ""


def _right_parts(task: _Task, own: Observation, right: Observation) -> tuple[str, ...]:
    """Return the parts of a result that are right where others are not; none where all are."""
    parts, right_parts = parts_of(own.claims.value), parts_of(right.claims.value)
    if len(right_parts) < 2 or parts.keys() != right_parts.keys():
        return ()
    each = {
        name: (_but_value(own, parts[name]), _but_value(right, right_parts[name]))
        for name in right_parts
    }
    good = tuple(str(name) for name, pair in each.items() if _same(task, *pair))
    return good if len(good) < len(right_parts) else ()


def _narrowed(seen: Observation, parts: Sequence[str]) -> Observation:
    """Return a call that returned some parts of its result alone; all of it where none is named."""
    if not parts:
        return seen
    known = parts_of(seen.claims.value)
    return _but_value(seen, tuple(item for name, item in known.items() if str(name) in parts))


def _but_value(seen: Observation, value: Value) -> Observation:
    return replace(seen, claims=replace(seen.claims, value=value))


def _entry(planned: PlannedQuestion, session: ProcessSession) -> str:
    known = session.loaded.names if session.loaded is not None else ()
    return next(
        (name for name in planned.question.names if name in known), planned.question.names[0]
    )


def _proof(task: _Task, expected: Sequence[Observation], answer: Observation) -> Proof:
    """Return what a log came to."""
    if answer.outcome is not Outcome.COMPLETED:
        return Proof(f"it could not be run: {answer.outcome.value}")
    try:
        said = mapping(answer.claims.value)
        why = text(said["why"])
        if why:
            return Proof(why)
        outputs = [mapping(each) for each in items(said["outputs"])]
        sizes = {name: natural(said[name]) for name in _SIZES}
        proof = replace(
            Proof(parts=task.parts),
            **sizes,  # type: ignore[arg-type]
            ops=tuple(map(text, items(said["ops"]))),
            written=tuple(map(natural, items(said["written"]))),
            changed=tuple(map(natural, items(said["changed"]))),
            inside={text(name): natural(at) for name, at in mapping(said["inside"]).items()},
            same=tuple(map(text, items(said["same"]))),
            apart=tuple(map(text, items(said["apart"]))),
            works=works_of(said["works"]),
        )
    except (KeyError, TypeError):
        return Proof("it could not be run")
    # A hostile log may have taken over the process that ran it: nothing it says is taken on trust.
    if len(outputs) != len(expected):
        return Proof("it could not be run")
    for right, own in zip(expected, outputs, strict=True):
        made = Observation(Outcome.COMPLETED, claims=Claims(_named(right.claims.value, own)))
        if not _same(task, _narrowed(made, task.parts), _narrowed(right, task.parts)):
            as_large = _shapes(task.right) == _shapes(right)
            return Proof(
                OTHER_VALUES if as_large else "the answer to other inputs has another size"
            )
    return proof


_SIZES = (
    "entries", "references", "unnamed", "greatest", "indexings",
    "needed_indexings", "needed_array_indexings", "assignments", "needed_assignments",
)  # fmt: skip


def _named(like: Value, outputs: Mapping[Value, Value]) -> Value:
    """Return a value built as another is, of outputs that are named by their places."""
    names = places(like, "output")
    return map_leaves(lambda _: outputs.get(next(names)[0]), like)


def _shapes(seen: Observation) -> list[tuple[int, ...]]:
    return [each.shape for each in tensors(seen.claims.value)]


def _same(task: _Task, own: Observation, right: Observation, share: float = _SHARE) -> bool:
    """Tell whether two calls came to the same: but for rounding, or for an order that is free."""
    one, other = own.claims.value, right.claims.value
    if equal_but_for_rounding(_numbers(one), _numbers(other), share):
        return True
    free = (
        check
        for check in checks_on(task.planned.question, task.case.case)
        if check.results_alone and not check.entry_by_entry and check.item is None
    )
    return any(_accepts(check, task, right, own) for check in free)


def _accepts(check: Check, task: _Task, right: Observation, own: Observation) -> bool:
    try:
        return check.judge(task.case.inputs, right, own).code is Code.OK
    except UnfitCaseError:
        # What a known mistake returns may be of no kind that the check compares.
        return False


def _numbers(value: Value) -> Value:
    """Return a value with numbers in the place of tensors of rank 0, all of them floats."""
    if isinstance(value, (tuple, list)):
        return tuple(map(_numbers, value))
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, Tensor) and not value.shape:
        value = to_numpy(value).item()
    whole = isinstance(value, int) and abs(value) < 2**53
    return float(value) if whole and isinstance(value, int) else value


def like(own: Any, fresh: Any) -> Any:
    """Return fresh arguments of the form of others.

    Raises:
        UnlikeError: They have another form, or differ in what no tensor holds.
    """

    def leaf(one: Value, other: Value) -> Value:
        if isinstance(one, Tensor) and isinstance(other, Tensor):
            same = (one.dtype, one.shape) == (other.dtype, other.shape)
        else:
            same = type(one) is type(other) and one == other
        if not same:
            raise UnlikeError("inputs drawn otherwise have another form")
        return other

    return combine(leaf, own, fresh)


def _redrawn(value: Any, random: np.random.Generator) -> Any:
    """Return arguments with other real numbers, spread alike; all else stays."""

    def drawn(tensor: Tensor) -> Tensor:
        if tensor.dtype not in _REAL:
            return tensor
        own = to_numpy(tensor).astype(np.float64)
        spread = own.std() if own.size > 1 else 1.0
        made = (spread * random.standard_normal(own.shape)).astype(_REAL[tensor.dtype])
        return replace(tensor, data=made.tobytes())

    return map_tensors(drawn, value)


def _tensors(arguments: Arguments) -> list[Value]:
    """Return the tensors of arguments, in the order in which the student process numbers them."""
    args, kwargs = arguments
    return [*tensors([*args, *kwargs.values()])]


def _with_proofs(run: QuestionRun, proofs: Mapping[_Place, Proof]) -> QuestionRun:
    observations = dict(run.observations)
    for (key, grown), proof in proofs.items():
        observation = observations[key]
        counted = {**observation.counted, grown: replace(observation.counted[grown], proof=proof)}
        observations[key] = replace(observation, counted=counted)
    return replace(run, observations=observations)


def _summed_up(planned: PlannedQuestion, run: QuestionRun) -> QuestionRun:
    """Return a run in which each call has what the logs of its question show of its arguments.

    Not every case is counted, and what a function does to its arguments is the same in all. So it
    is shown by the counted calls on drawn inputs, if each of them is proved.
    """
    drawn = {case.key for case in planned.cases if is_drawn(case.case)}
    proofs = [
        each.proof
        for key, observation in run.observations.items()
        for each in observation.counted.values()
        if key in drawn and LOG in each.claims.probes
    ]
    known = [proof for proof in proofs if proof is not None]
    if not known or len(known) < len(proofs) or any(proof.parts for proof in known):
        return run
    together = _together(known)
    observations = {
        key: replace(observation, proof=together) for key, observation in run.observations.items()
    }
    return replace(run, observations=observations)


def _together(proofs: Sequence[Proof]) -> Proof:
    """Return what several logs show of the arguments; why they show nothing, if one does not."""
    if why := next((proof.why for proof in proofs if proof.why), ""):
        return Proof(why)
    first, *others = proofs
    return Proof(
        written=tuple(sorted({place for proof in proofs for place in proof.written})),
        changed=tuple(sorted({place for proof in proofs for place in proof.changed})),
        inside={
            name: place
            for name, place in first.inside.items()
            if all(proof.inside.get(name) == place for proof in others)
        },
        same=tuple(name for name in first.same if all(name in proof.same for proof in others)),
        apart=tuple(name for name in first.apart if all(name in proof.apart for proof in others)),
    )
