"""What will be called, with what: an assignment and a seed become a list of calls.

Inputs are drawn from a key alone: the same key gives the same bytes on every machine. The stream is
numpy's PCG64, never torch's generators, which differ between CPUs and builds. Every case and repeat
has a stream of its own, so that adding a case changes no other case's inputs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

# NumPy first: ml_dtypes turns an interrupt while it imports NumPy into an ImportError.
import numpy as np  # isort: skip
import ml_dtypes

from grader.assignment.arguments import (
    INTEGER_RANGE,
    MAX_BYTES,
    PRECISION,
    Argument,
    Computed,
    FixedTensor,
    RandomTensor,
    TupleOf,
    bytes_of,
    range_of,
    shape_of,
    symbolic_parts,
)
from grader.assignment.dims import Dim, SizeChoice, evaluate
from grader.assignment.types import Assignment, Case, Question
from grader.checks.arrays import Array
from grader.checks.base import GROWTH_FACTOR, CaseInputs, Check, Probe, unnamed
from grader.errors import AssignmentError, Problem
from grader.run.process_limits import process_for
from grader.sandbox.host.processes import ProcessSpec
from grader.verdict import Visibility
from grader.wire.codec import Encoder
from grader.wire.messages import Call
from grader.wire.values import Tensor, Value


@dataclass(frozen=True, slots=True)
class DrawKey:
    """What a draw depends on, beside the case itself.

    Attributes:
        seed: Chosen by whoever grades.
        assignment_id: Id of the assignment.
        question_id: Id of the question.
        repeat: 0-based number of the repeat.
    """

    seed: int
    assignment_id: str
    question_id: str
    repeat: int = 0

    def digest(self, case_id: str) -> bytes:
        """Return 32 bytes that no other key or case has."""
        # A question's draws depend on nothing else: adding or moving another question leaves them
        # as they are.
        parts = [self.seed, self.assignment_id, self.question_id, case_id, self.repeat]
        return hashlib.sha256(json.dumps(parts).encode()).digest()


@dataclass(frozen=True, slots=True)
class Drawn:
    """Inputs of one call.

    Attributes:
        dims: Size of each name.
        args: Positional arguments; empty where the case has a generator.
        names: Their names.
        kwargs: Keyword arguments.
        seed: For the case's generator, 0 … 2³²−1; None where it has none.
        before: Digest of what the generator was given, where it has made the arguments.
    """

    dims: Mapping[str, int]
    args: tuple[Value, ...]
    names: tuple[str, ...]
    kwargs: dict[str, Value] = field(default_factory=dict)
    seed: int | None = None
    before: str = ""

    @property
    def digest(self) -> str:
        """sha256 over all of it, worked out anew: that takes longer than the draw."""
        if self.before:
            return digest_of((self.before, self.args))
        named = tuple(zip(self.names, self.args, strict=True))
        return digest_of((tuple(self.dims.items()), named, tuple(self.kwargs.items()), self.seed))


def draw_case(
    case: Case, key: DrawKey, scale: Mapping[str, int] | None = None, salt: bytes = b"counted"
) -> Drawn:
    """Draw the inputs of one call of a case.

    Args:
        case: What to draw.
        key: Which draw.
        scale: For a call to be counted: name of a dim → what its drawn size is multiplied by.
        salt: Gives such a call its own numbers: a function could look up what it returned before.

    Dims are drawn first, in the order of their names, then the arguments in order. A case with a
    generator gets its dims and a seed only; its arguments are made in the reference's process.

    Raises:
        AssignmentError: A size is negative, an argument does not fit its dtype, or the inputs
            take more than 1 GiB.
    """
    source = key.digest(case.id)
    random = np.random.Generator(np.random.PCG64(int.from_bytes(source, "big")))
    # Sorted: the order of lines in the assignment file must not change what a seed draws.
    drawn = {name: _draw_dim(case.dims[name], random) for name in sorted(case.dims)}
    if scale is not None:
        source = hashlib.sha256(salt + source).digest()
        random = np.random.Generator(np.random.PCG64(int.from_bytes(source, "big")))
    dims = {name: size * (scale or {}).get(name, 1) for name, size in drawn.items()}
    try:
        # Before anything is drawn: a slip in the file must not fill the host's memory.
        _check_sizes(case, dims)
        values = {
            group: {name: _draw(item, dims, random) for name, item in arguments.items()}
            for group, arguments in (("args", case.args), ("kwargs", case.kwargs))
        }
    except ValueError as error:
        file = f"assignments/{key.assignment_id}/assignment.yml"
        where = f"question “{key.question_id}”, case “{case.id}”"
        raise AssignmentError([Problem(file, None, where, str(error))]) from None
    args, kwargs = values["args"], values["kwargs"]
    # From its own bytes, so that a seed tells nothing of the stream that drew the dims.
    seed = int.from_bytes(hashlib.sha256(source).digest()[:4], "big") if case.generate else None
    return Drawn(dims, tuple(args.values()), tuple(args), kwargs, seed)


def digest_of(value: Value) -> str:
    """Return a sha256 that is equal for equal values, types and bytes included."""
    encoder = Encoder()
    total = hashlib.sha256(json.dumps(encoder.encode(value)).encode())
    for blob in encoder.blobs:
        total.update(blob)
    return total.hexdigest()


def _draw_dim(dim: Dim, random: np.random.Generator) -> int:
    if isinstance(dim, SizeChoice):
        return dim.choice[int(random.integers(len(dim.choice)))]
    return dim if isinstance(dim, int) else int(random.integers(*dim, endpoint=True))


def _check_sizes(case: Case, dims: Mapping[str, int]) -> None:
    arguments = (*case.args.values(), *case.kwargs.values())
    total = sum(bytes_of(part, dims) for item in arguments for _, part in symbolic_parts(item))
    if total > MAX_BYTES:
        raise ValueError(f"the inputs take {total} bytes; the most is {MAX_BYTES}")


def _draw(argument: Argument, dims: Mapping[str, int], random: np.random.Generator) -> Value:
    if isinstance(argument, (RandomTensor, FixedTensor)):
        shape = shape_of(argument, dims)
        if isinstance(argument, RandomTensor):
            array = _random(argument, shape, dims, random)
        else:
            array = _fixed(argument, shape)
        return Tensor(argument.drawn_dtype, shape, _to_bytes(array, argument.drawn_dtype))
    if isinstance(argument, Computed):
        return evaluate(argument.value, dims)
    if isinstance(argument, TupleOf):
        return tuple(_draw(item, dims, random) for item in argument.tuple)
    if isinstance(argument, list):
        return [_draw(item, dims, random) for item in argument]
    return argument


def _random(
    tensor: RandomTensor,
    shape: tuple[int, ...],
    dims: Mapping[str, int],
    random: np.random.Generator,
) -> Array:
    """Draw numbers of a dtype wide enough for the tensor's own."""
    if tensor.form == "permutation":
        return random.permutation(shape[0])
    if tensor.form == "integers":
        whole = tensor.drawn_dtype if tensor.drawn_dtype in INTEGER_RANGE else "int64"
        low, high = range_of(tensor, dims)
        drawn: Array = random.integers(low, high, shape, dtype=np.dtype(whole).type, endpoint=True)
        return drawn
    if tensor.form == "randn":
        # In float64 and rounded later, so that a seed means the same numbers in every dtype.
        real: Array = random.standard_normal(shape)
    else:
        # As many bits as the dtype holds: a double rounded to it could come out as 1.
        bits = PRECISION[tensor.drawn_dtype]
        word = np.uint32 if bits < 32 else np.uint64
        real = random.integers(0, 1 << bits, shape, dtype=word) * 2.0**-bits
    if tensor.scale != 1 or tensor.shift != 0:
        real = real * tensor.scale + tensor.shift
    return real


def _fixed(tensor: FixedTensor, shape: tuple[int, ...]) -> Array:
    if tensor.form == "zeros":
        return np.zeros(shape)
    if tensor.form == "ones":
        return np.ones(shape)
    if tensor.form == "arange":
        return np.arange(np.prod(shape, dtype=np.int64))
    wide = "float64" if tensor.drawn_dtype in PRECISION else tensor.drawn_dtype
    return np.array(tensor.tensor, dtype=wide)


def _to_bytes(array: Array, dtype: str) -> bytes:
    """Return the elements as little-endian bytes; ValueError where one is too large for a dtype."""
    target = "float32" if dtype == "bfloat16" else dtype
    with np.errstate(over="ignore"):
        result = array.astype(np.dtype(target).newbyteorder("<"), copy=False)
    if dtype == "bfloat16":
        result = _to_bfloat16(result)
    if dtype in PRECISION and array.dtype.kind == "f":
        infinite = (result & 0x7FFF) == 0x7F80 if dtype == "bfloat16" else np.isinf(result)
        if (infinite & np.isfinite(array)).any():
            raise ValueError(f"a number is too large for {dtype}")
    return result.tobytes()


def _to_bfloat16(array: Array) -> Array:
    """Return float32 rounded to bfloat16, ties to even, as bits."""
    with np.errstate(invalid="ignore"):
        rounded = array.astype(ml_dtypes.bfloat16).view("<u2")
    # One NaN for all, so that equal inputs are equal bytes.
    return np.where(np.isnan(array), 0x7FC0, rounded).astype("<u2")


@dataclass(frozen=True, slots=True)
class CountedCall:
    """Inputs of a call that is made to be counted.

    Attributes:
        grown: Name of the dim that is larger than in the case; empty for the case's own sizes.
        args: Positional arguments.
        kwargs: Keyword arguments.
    """

    grown: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


def scales(question: Question, case: Case) -> Iterator[dict[str, int]]:
    """Yield how the sizes of a case are multiplied for each call that its checks want counted.

    Growth is looked at in one case a question, the one with the most dims.
    """
    wanted = {probe for check in checks_on(question, case) for probe in check.needs()}
    if not wanted & {Probe.COUNTING, Probe.GROWTH}:
        if case is _recorded_case(question):
            yield {}
        return
    yield {}
    if Probe.GROWTH in wanted and case is _growing_case(question):
        for name in sorted(case.dims):
            yield {name: GROWTH_FACTOR}


def checks_on(question: Question, case: Case) -> Sequence[Check]:
    """Return the checks of a question that judge a case."""
    return [check for check in question.checks if check.judges(case.id)]


def is_drawn(case: Case) -> bool:
    """Tell whether a case has inputs that are drawn, so that others can take their place."""
    arguments = (*case.args.values(), *case.kwargs.values())
    parts = (part for item in arguments for _, part in symbolic_parts(item))
    return case.generate is not None or any(isinstance(part, RandomTensor) for part in parts)


def _recorded_case(question: Question) -> Case | None:
    """Return the case that is counted for its log alone: a drawn one, where none is counted."""
    if question.needs.cuda:
        return None
    drawn = [case for case in question.cases if is_drawn(case) and case.scenario is None]
    for case in drawn:
        checks = checks_on(question, case)
        if any(Probe.COUNTING in check.needs() for check in checks):
            return None
    heard = (
        case for case in drawn if any(check.hears_log() for check in checks_on(question, case))
    )
    return next(heard, None)


def _growing_case(question: Question) -> Case:
    growing = [
        case
        for case in question.cases
        if any(Probe.GROWTH in check.needs() for check in checks_on(question, case))
    ]
    # A plain call before a scenario: what is counted there is the function alone.
    return max(growing, key=lambda case: (len(case.dims), case.scenario is None))


Generate = Callable[[str, str, dict[str, Value]], tuple[Value, ...]]
"""Calls a generator of the reference file: for which case, its name, keywords → the arguments."""


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """One call of one question: a case, drawn once.

    Attributes:
        key: ``case`` or ``case#repeat``; unique within the question.
        digest: Of the inputs.
        counted: Calls that are made only to be counted.
        seed: Of the stage's random numbers.
    """

    key: str
    case: Case
    inputs: CaseInputs
    kwargs: dict[str, Value]
    digest: str
    counted: tuple[CountedCall, ...] = ()
    seed: int = 0

    def call(self, entry: str, probes: tuple[str, ...]) -> Call:
        """The request that a student process gets; the same for reference and submission."""
        # Nothing here may depend on who is asked: the two results could not be compared.
        scenario = self.case.scenario
        return Call(
            entry=scenario or entry,
            args=self.inputs.args,
            kwargs=self.kwargs,
            scenario=scenario is not None,
            probes=probes,
            seed=self.seed,
        )

    def counting_call(self, entry: str, counted: CountedCall, *more: str) -> Call:
        """The request for a call that is made only to be counted, by these probes too."""
        probes = (Probe.COUNTING.value, *more)
        return replace(self.call(entry, probes), args=counted.args, kwargs=counted.kwargs)


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """A question with all of its calls, and what the process gets that answers them."""

    question: Question
    cases: tuple[PlannedCase, ...]
    process: ProcessSpec = field(default_factory=ProcessSpec)

    def probes(self, planned: PlannedCase) -> tuple[str, ...]:
        """Names of the probes that the checks on this case need in the call itself."""
        needed = {
            probe.value
            for check in self.question.checks
            if check.judges(planned.case.id)
            for probe in check.needs()
            if probe.in_the_call
        }
        return tuple(sorted(needed))


def make_plan(
    assignment: Assignment, questions: Sequence[Question], seed: int, generate: Generate
) -> tuple[PlannedQuestion, ...]:
    """Draw the inputs of every case.

    Args:
        assignment: The whole assignment, for its id.
        questions: Those to grade.
        seed: Chosen by whoever grades; the same seed gives the same inputs.
        generate: Asked for cases whose inputs come from the reference file.

    Raises:
        AssignmentError: Inputs cannot be drawn or generated; names every such case.
    """
    problems: list[Problem] = []
    plan: list[PlannedQuestion] = []
    for question in questions:
        planned: list[PlannedCase] = []
        for case in question.cases:
            keys = (DrawKey(seed, assignment.id, question.id, n) for n in range(case.repeats))
            try:
                planned += [_plan_case(question, case, key, generate) for key in keys]
            except AssignmentError as error:
                problems += error.problems
        # All cases are tried before any problem is raised: an author mends them in one go.
        process = process_for(assignment, question)
        plan.append(PlannedQuestion(question, tuple(planned), process))
    if problems:
        raise AssignmentError(problems)
    return tuple(plan)


def _plan_case(question: Question, case: Case, key: DrawKey, generate: Generate) -> PlannedCase:
    drawn = _drawn(case, key, None, generate)
    hidden = case.visibility is not Visibility.VISIBLE
    inputs = CaseInputs(case.id, drawn.names, drawn.args, hidden, drawn.dims)
    name = case.id if case.repeats == 1 else f"{case.id}#{key.repeat + 1}"
    # In the first repeat alone: what is counted does not depend on which numbers a call gets.
    grown = scales(question, case) if key.repeat == 0 else ()
    larger = [(scale, _drawn(case, key, scale, generate)) for scale in grown]
    # One name or none: only one size is made larger at a time.
    counted = tuple(CountedCall("".join(scale), own.args, own.kwargs) for scale, own in larger)
    # Not of the inputs alone, which the submission sees: it must not know the stage's numbers.
    seed = int.from_bytes(hashlib.sha256(b"stage" + key.digest(case.id)).digest()[:4], "big") >> 1
    return PlannedCase(name, case, inputs, dict(drawn.kwargs), drawn.digest, counted, seed)


def _drawn(case: Case, key: DrawKey, scale: dict[str, int] | None, generate: Generate) -> Drawn:
    drawn = draw_case(case, key, scale)
    if case.generate is None:
        return drawn
    keywords: dict[str, Value] = {"seed": drawn.seed, **drawn.dims}
    value = generate(f"{key.question_id}.{case.id}", case.generate, keywords)
    names = tuple(map(unnamed, range(len(value))))
    return replace(drawn, args=value, names=names, before=drawn.digest)


def plan_digests(plan: Sequence[PlannedQuestion]) -> dict[str, str]:
    """Return question → digest of its calls, inputs and what is looked at included."""
    return {
        planned.question.id: digest_of(
            tuple((case.key, case.digest, planned.probes(case)) for case in planned.cases)
        )
        for planned in plan
    }
