"""Right and wrong ways to write a function, in float32, and the checks that must tell them apart.

Used by ``tests/property/test_value_checks.py`` and ``tests/bench/values.py``. In numpy, for a
float32 sum is a float32 sum whoever adds it up; the reference's further runs are made here as a
process would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from observed import seen, tensor

from grader.checks.base import CaseInputs, Check
from grader.checks.form import SameShape
from grader.checks.rounding import Distances, Envelope, Product
from grader.checks.values import Exact
from grader.observation import Companions, Observation, Outcome
from grader.verdict import Status

Array = Any
Function = Callable[..., Array]
SCALES = (1e-6, 1.0, 1e6)


@dataclass(frozen=True)
class Problem:
    """One question on one draw.

    Attributes:
        inputs: Arrays in float32 (int64 where the question is about whole numbers).
        checks: All must pass.
        reference: What the reference did, with its further runs.
    """

    name: str
    inputs: tuple[Array, ...]
    checks: tuple[Check, ...]
    reference: Observation


def bmm_loop(x: Array, y: Array) -> Array:
    z = np.zeros((x.shape[0], x.shape[1], y.shape[2]), x.dtype)
    for i in range(len(x)):
        z[i] = x[i] @ y[i]
    return z


def outer_sum(x: Array, y: Array) -> Array:
    z = np.zeros((x.shape[0], x.shape[1], y.shape[2]), x.dtype)
    for k in range(x.shape[2]):
        z += x[:, :, k, None] * y[:, None, k, :]
    return z


def normalised(x: Array, axis: int = 0, less: int = 1) -> Array:
    centred = x - x.sum(axis, keepdims=True) / x.dtype.type(x.shape[axis])
    variance = (centred**2).sum(axis, keepdims=True) / x.dtype.type(x.shape[axis] - less)
    return centred / np.sqrt(variance)


def by_squares(x: Array) -> Array:
    m = x.dtype.type(len(x))
    total = x.sum(0)
    return (x - total / m) * np.sqrt((m - 1) / (((x - total / m) ** 2).sum(0)))


def with_ones(x: Array) -> Array:
    one = np.ones((1, len(x)), x.dtype)
    centred = x - (one @ x) / x.dtype.type(len(x))
    return centred / np.sqrt((one @ centred**2) / x.dtype.type(len(x) - 1))


def in_order(x: Array) -> Array:
    total = np.cumsum(x, 0, dtype=x.dtype)[-1]
    centred = x - total / x.dtype.type(len(x))
    squares = np.cumsum(centred**2, 0, dtype=x.dtype)[-1]
    return centred * (squares / x.dtype.type(len(x) - 1)) ** x.dtype.type(-0.5)


def flat(x: Array) -> Array:
    return x.reshape(len(x), -1)


def expanded(x: Array, y: Array) -> Array:
    a, b = flat(x), flat(y)
    return (a**2).sum(1)[:, None] + (b**2).sum(1)[None] - 2 * a @ b.T


def direct(x: Array, y: Array) -> Array:
    return ((flat(x)[:, None] - flat(y)[None]) ** 2).sum(-1)


def one_loop(x: Array, y: Array) -> Array:
    return np.stack([((flat(y) - point) ** 2).sum(1) for point in flat(x)])


def running(x: Array, y: Array) -> Array:
    result = np.zeros((len(x), len(y)), x.dtype)
    for a, b in zip(flat(x).T, flat(y).T, strict=True):
        result += (a[:, None] - b[None]) ** 2
    return result


RIGHT: dict[str, dict[str, Function]] = {
    "product": {
        "matmul": np.matmul,
        "loop of mm": bmm_loop,
        "einsum": lambda x, y: np.einsum("bij,bjk->bik", x, y),
        "einsum optimised": lambda x, y: np.einsum("bij,bjk->bik", x, y, optimize=True),
        "broadcast and sum": lambda x, y: (x[..., None] * y[:, None]).sum(2),
        "sum in order": outer_sum,
        "cumsum": lambda x, y: np.cumsum(x[..., None] * y[:, None], 2, dtype=x.dtype)[:, :, -1],
        "transposed twice": lambda x, y: (y.swapaxes(1, 2) @ x.swapaxes(1, 2)).swapaxes(1, 2),
        "in float64": lambda x, y: (x.astype(float) @ y.astype(float)).astype(x.dtype),
    },
    "normalise": {
        "two passes": normalised,
        "one factor": by_squares,
        "matrix of ones": with_ones,
        "sum in order": in_order,
        "transposed": lambda x: normalised(x.T, axis=1).T,
        "in float64": lambda x: normalised(x.astype(float)).astype(x.dtype),
    },
    "distances": {
        "direct": direct, "one loop": one_loop, "a2+b2-2ab": expanded, "sum in order": running,
        "clamped": lambda x, y: np.maximum(expanded(x, y), 0),
    },
    "whole": {
        "matmul": np.matmul, "loop of mm": bmm_loop, "sum in order": outer_sum,
        "einsum": lambda x, y: np.einsum("bij,bjk->bik", x, y),
        "in float64": lambda x, y: (x.astype(float) @ y.astype(float)).astype(x.dtype),
    },
}  # fmt: skip


def spoilt(function: Function, value: float) -> Function:
    def wrong(*inputs: Array) -> Array:
        answer = function(*inputs).copy()
        answer.flat[answer.size // 2] = value
        return answer

    return wrong


def shifted(x: Array, y: Array) -> Array:
    return np.matmul(x, np.roll(y, 1, axis=1))


_PRODUCT_BUGS: dict[str, Function] = {
    "dropped term": lambda x, y: x[:, :, :-1] @ y[:, :-1],
    "first term dropped": lambda x, y: x[:, :, 1:] @ y[:, 1:],
    "transposed": lambda x, y: (x @ y).swapaxes(1, 2),
    "off by one": shifted,
    "zeros": lambda x, y: np.zeros_like(x @ y),
    "last stays zero": lambda x, y: np.concatenate([(x @ y)[:-1], 0 * (x @ y)[-1:]]),
    "NaN": spoilt(np.matmul, np.nan),
    "infinite": spoilt(np.matmul, np.inf),
    "sign": lambda x, y: -(x @ y),
    "whole numbers": lambda x, y: np.trunc(x @ y * 0.37),
}
BUGS: dict[str, dict[str, Function]] = {
    "product": _PRODUCT_BUGS,
    "normalise": {
        "biased std": lambda x: normalised(x, less=0),
        "divisor M-2": lambda x: normalised(x, less=2),
        "wrong axis": lambda x: normalised(x, axis=1),
        "transposed": lambda x: normalised(x).T,
        "variance": lambda x: (x - x.mean(0)) / x.var(0, ddof=1),
        "centred only": lambda x: x - x.mean(0),
        "not centred": lambda x: x / x.std(0, ddof=1),
        "whole matrix": lambda x: (x - x.mean()) / x.std(ddof=1),
        "mean off by one row": lambda x: (x - x[:-1].mean(0)) / x.std(0, ddof=1),
        "zeros": np.zeros_like,
        "NaN": spoilt(normalised, np.nan),
    },
    "distances": {
        "rooted": lambda x, y: np.sqrt(direct(x, y)),
        "transposed": lambda x, y: direct(x, y).T,
        "dropped term": lambda x, y: direct(flat(x)[:, :-1], flat(y)[:, :-1]),
        "off by one": lambda x, y: direct(np.roll(x, 1, axis=0), y),
        "mean": lambda x, y: direct(x, y) / x[0].size,
        "2ab forgotten": lambda x, y: expanded(x, y) + flat(x) @ flat(y).T,
        "absolute": lambda x, y: np.abs(flat(x)[:, None] - flat(y)[None]).sum(-1),
        "zeros": lambda x, y: np.zeros_like(direct(x, y)),
        "NaN": spoilt(direct, np.nan),
    },
    "whole": _PRODUCT_BUGS,
}
QUESTIONS = tuple(RIGHT)


def problem(name: str, seed: int) -> Problem:
    """Draw sizes, scale and numbers for a question."""
    random = np.random.Generator(np.random.PCG64([seed, QUESTIONS.index(name)]))
    inputs, checks = _DRAW[name](random)
    function = next(iter(RIGHT[name].values()))
    expected = function(*inputs)
    companions = _companions(function, inputs, random) if name == "normalise" else None
    shape = SameShape(id="shape", points=1)
    reference = Observation(
        Outcome.COMPLETED, claims=seen(_wire(expected)).claims, companions=companions
    )
    return Problem(name, inputs, (*checks, shape), reference)


def verdict(given: Problem, answer: Array) -> tuple[bool, float]:
    """Return whether an answer passes all checks, and how much of the bound it used."""
    case = CaseInputs("case", ("x", "y")[: len(given.inputs)], tuple(map(_wire, given.inputs)))
    submission = seen(_wire(answer))
    verdicts = [check.judge(case, given.reference, submission) for check in given.checks]
    passes = all(item.status is Status.PASSED for item in verdicts)
    return passes, _use(given, case, answer)


def _use(given: Problem, case: CaseInputs, answer: Array) -> float:
    check = given.checks[0]
    if isinstance(check, Exact):
        return 0.0
    bound = check.bounds(case, given.reference)["result"]  # type: ignore[attr-defined]
    if bound.value.shape != answer.shape:
        return np.inf
    with np.errstate(all="ignore"):
        return float(np.max(np.abs(answer - bound.value) / (bound.scale * bound.gates[0])))


def _companions(function: Function, inputs: tuple[Array, ...], random: Any) -> Companions:
    def run(move: bool) -> Observation:
        signs = (random.choice([-1.0, 1.0], x.shape) * move for x in inputs)
        wide = (x.astype(float) * (1 + s * 2.0**-24) for x, s in zip(inputs, signs, strict=True))
        return seen(_wire(function(*wide)))

    return Companions(run(False), tuple(run(True) for _ in range(8)))


def _wire(array: Array) -> Any:
    return tensor(array, np.asarray(array).dtype.name)


def _sizes(random: Any, *ranges: tuple[int, int]) -> list[int]:
    return [int(random.integers(low, high + 1)) for low, high in ranges]


def _factors(random: Any) -> tuple[tuple[Array, Array], tuple[Check, ...]]:
    b, n, p = _sizes(random, (2, 5), (2, 9), (10, 16))
    m = int(random.choice([2, 3, 5, 16, 64, 256, 512]))
    scale = random.choice(SCALES)
    x = (random.standard_normal((b, n, m)) * scale).astype(np.float32)
    y = (random.standard_normal((b, m, p)) * random.choice(SCALES)).astype(np.float32)
    return (x, y), (Product(id="product", points=1, factors=("x", "y")),)


def _whole(random: Any) -> tuple[tuple[Array, Array], tuple[Check, ...]]:
    b, n, m, p = _sizes(random, (2, 5), (2, 9), (2, 64), (10, 16))
    x, y = (random.integers(-8, 9, shape).astype(np.float32) for shape in ((b, n, m), (b, m, p)))
    return (x, y), (Exact(id="exact", points=1),)


def _columns(random: Any) -> tuple[tuple[Array], tuple[Check, ...]]:
    m, n = _sizes(random, (5, 30), (2, 4)) if random.random() < 0.5 else (5, 12)
    shift = random.choice([0.0, 1.0, 10.0])
    x = (random.standard_normal((m, n)) + shift) * random.choice(SCALES)
    return (x.astype(np.float32),), (Envelope(id="envelope", points=1),)


def _points(random: Any) -> tuple[tuple[Array, Array], tuple[Check, ...]]:
    trains, tests, channels, side = _sizes(random, (9, 14), (3, 8), (1, 3), (2, 12))
    scale, shift = random.choice(SCALES), random.choice([0.0, 1.0, 5.0])
    shape = (channels, side, side)
    x = (random.standard_normal((trains, *shape)) + shift) * scale
    y = (random.standard_normal((tests, *shape)) + shift) * scale
    if random.random() < 0.3:
        y = x[:tests] + y * 1e-3  # near neighbours: the formula with squares cancels
    checks = (Distances(id="distances", points=1, points_of=("x", "y")),)
    return (x.astype(np.float32), y.astype(np.float32)), checks


_DRAW: dict[str, Callable[[Any], tuple[tuple[Array, ...], tuple[Check, ...]]]] = {
    "product": _factors,
    "normalise": _columns,
    "distances": _points,
    "whole": _whole,
}
