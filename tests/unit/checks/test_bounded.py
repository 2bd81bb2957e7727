import numpy as np
import pytest
from observed import seen, tensor
from pydantic import ValidationError

from grader.checks.base import CaseInputs
from grader.checks.judge import judge_case
from grader.checks.rounding import Distances, Envelope, Product
from grader.checks.values import Exact
from grader.observation import Companions, Observation, Outcome
from grader.verdict import Code, Owner, Status

RANDOM = np.random.Generator(np.random.PCG64(1))
BEGINNING = RANDOM.bit_generator.state
PRODUCT = Product(id="p", points=1, factors=("x", "y"))
PARTIAL = Product(id="p", points=1, factors=(0, 1), partial=True, requires=("exact",))
DISTANCES = Distances(id="d", points=1, points_of=("x", "y"))


@pytest.fixture(autouse=True)
def _the_same_numbers_in_any_order() -> None:
    RANDOM.bit_generator.state = BEGINNING


def inputs(*arrays, dtype="float32"):
    return CaseInputs("case", ("x", "y")[: len(arrays)], tuple(tensor(a, dtype) for a in arrays))


def factors(n=64, batch=(), dtype=np.float32):
    shapes = ((*batch, 9, n), (*batch, n, 7))
    return [RANDOM.standard_normal(shape).astype(dtype) for shape in shapes]


def judged(check, case, actual, expected=None):
    expected = actual if expected is None else expected
    return judge_case(check, case, seen(expected), seen(actual))


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("batch", [(), (3,), (2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_product_passes_at_any_scale(scale, batch, dtype):
    a, b = factors(batch=batch, dtype=dtype)
    a = (a * scale).astype(dtype)
    assert judged(PRODUCT, inputs(a, b, dtype=dtype), tensor(a @ b, dtype)).credit == 1


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_dropped_term_fails_at_any_scale_with_its_numbers(scale):
    a, b = factors()
    a = (a * scale).astype(np.float32)
    wrong = a[:, :-1] @ b[:-1]
    verdict = judged(PRODUCT, inputs(a, b), tensor(wrong))
    assert (verdict.status, verdict.code) == (Status.FAILED, Code.WRONG_VALUE)
    assert verdict.message.id == "beyond_rounding"
    params = verdict.message.params
    assert params["times"] > 100
    # The numbers that a reader gets are of one element, the one that rounding explains least.
    row, column = params["worst_index"]
    apart = abs(wrong.astype(np.float64) - a.astype(np.float64) @ b.astype(np.float64))
    assert params["worst_diff"] == pytest.approx(apart[row, column], rel=1e-5)
    assert params["worst_diff"] / params["explained"] == pytest.approx(params["times"], rel=1e-3)


def test_whole_numbers_are_not_rounded_at_all():
    a, b = np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4)
    case = inputs(a, b, dtype="int64")
    assert judged(PRODUCT, case, tensor(a @ b, "int64")).credit == 1
    off = a @ b
    off[1, 2] += 1
    assert judged(PRODUCT, case, tensor(off, "int64")).code is Code.WRONG_VALUE


def half(array):
    return array.astype(np.float16).astype(np.float32)


def bfloat16(array):
    bits = array.astype(np.float32).view(np.uint32)
    return (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).view(np.float32)


@pytest.mark.parametrize("n", [1, 4, 64, 1024])
@pytest.mark.parametrize(("rounded", "credit"), [(half, 0.9), (bfloat16, 0.7)])
def test_low_precision_earns_part_where_partial_is_on(n, rounded, credit):
    a, b = factors(n)
    wrong = tensor(rounded(rounded(a) @ rounded(b)))
    assert judged(PRODUCT, inputs(a, b), wrong).credit == 0
    verdict = judged(PARTIAL, inputs(a, b), wrong)
    assert (verdict.status, verdict.code) == (Status.PARTIAL, Code.REDUCED_PRECISION)
    assert verdict.credit >= credit
    assert verdict.owner is Owner.STUDENT


@pytest.mark.parametrize("n", [4, 64, 1024])
def test_a_wrong_product_earns_no_part(n):
    a, b = factors(n)
    assert judged(PARTIAL, inputs(a, b), tensor(a[:, :-1] @ b[:-1])).credit == 0


def test_partial_needs_a_check_of_the_algorithm():
    with pytest.raises(ValidationError, match="name the check that shows the right algorithm"):
        Product(id="p", points=1, factors=("x", "y"), partial=True)


@pytest.mark.parametrize(
    ("check", "case", "words"),
    [
        (Product(id="p", points=1, factors=("x", "w")), inputs(*factors()), "no argument “w”"),
        (Product(id="p", points=1, factors=(0, 2)), inputs(*factors()), "only 2 arguments"),
        (PRODUCT, CaseInputs("c", ("x", "y"), (1, 2)), "is no tensor"),
        (PRODUCT, inputs(np.ones((2, 3)), np.ones((2, 3))), "no matrices that can be multiplied"),
        (PRODUCT, inputs(np.ones((2, 3)), np.ones((3, 3))), "not what this check computes"),
        (DISTANCES, inputs(np.ones((2, 3)), np.ones((2, 4))), "do not agree"),
        (Envelope(id="e", points=1), inputs(np.ones(3)), "was not run in float64"),
    ],
)
def test_an_unfit_case_is_the_instructors_to_mend(check, case, words):
    verdict = judged(check, case, tensor(np.ones((2, 2))))
    assert (verdict.status, verdict.owner) == (Status.ERROR, Owner.INSTRUCTOR)
    assert words in verdict.message.params["detail"]


@pytest.mark.parametrize("actual", [np.nan, np.inf])
def test_nan_and_infinity_fail(actual):
    a, b = factors()
    wrong = a @ b
    wrong[0, 0] = actual
    assert judged(PARTIAL, inputs(a, b), tensor(wrong)).code is Code.NOT_FINITE


def test_shapes_must_agree():
    a, b = factors()
    assert judged(PRODUCT, inputs(a, b), tensor((a @ b).T), tensor(a @ b)).code is Code.WRONG_SHAPE


def test_distances_allow_for_the_formula_that_cancels():
    x = RANDOM.standard_normal((20, 3, 8, 8)).astype(np.float32)
    y = (x[:7] + 1e-4).astype(np.float32)
    a, b = x.reshape(20, -1), y.reshape(7, -1)
    cancels = (a**2).sum(1)[:, None] + (b**2).sum(1)[None] - 2 * a @ b.T
    case = inputs(x, y)
    assert judged(DISTANCES, case, tensor(cancels)).credit == 1
    honest = ((a[:, None] - b[None]) ** 2).sum(-1)
    assert judged(DISTANCES, case, tensor(honest)).credit == 1
    verdict = judged(DISTANCES, case, tensor(np.sqrt(honest)))
    assert verdict.code is Code.WRONG_VALUE
    assert judged(DISTANCES, case, tensor(honest.T), tensor(honest)).code is Code.WRONG_SHAPE


def normalise(x, divisor=1):
    centred = x - x.sum(0) / len(x)
    return centred / np.sqrt((centred**2).sum(0) / (len(x) - divisor))


def with_companions(x, function=normalise, wide=np.float64):
    moved = [x.astype(wide) * (1 + RANDOM.choice([-1, 1], x.shape) * 2.0**-24) for _ in range(8)]
    runs = [seen(tensor(function(one.astype(wide)), np.dtype(wide).name)) for one in [x, *moved]]
    claims = seen(tensor(function(x))).claims
    companions = Companions(runs[0], tuple(runs[1:]))
    return Observation(Outcome.COMPLETED, claims=claims, companions=companions)


@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e10])
@pytest.mark.parametrize("shift", [0.0, 1000.0])
def test_the_envelope_is_as_wide_as_the_problem_is_ill_conditioned(scale, shift):
    x = ((RANDOM.standard_normal((11, 5)) + shift) * scale).astype(np.float32)
    reference, check, case = with_companions(x), Envelope(id="e", points=1), inputs(x)
    assert check.judge(case, reference, seen(tensor(normalise(x)))).credit == 1
    verdict = check.judge(case, reference, seen(tensor(normalise(x, divisor=0))))
    assert verdict.code is Code.WRONG_VALUE
    assert verdict.message.params.get("cause") == "scaled"


def test_the_envelope_judges_whole_numbers_exactly():
    x = np.array([[3.0, 1.0], [2.0, 5.0]], np.float32)
    reference = with_companions(x, lambda a: a.argmax(0))
    reference = Observation(
        Outcome.COMPLETED,
        claims=seen(tensor([0, 1], "int64")).claims,
        companions=Companions(seen(tensor([0, 1], "int64")), (seen(tensor([0, 1], "int64")),) * 8),
    )
    check = Envelope(id="e", points=1)
    assert check.judge(inputs(x), reference, seen(tensor([0, 1], "int64"))).credit == 1
    assert check.judge(inputs(x), reference, seen(tensor([1, 1], "int64"))).credit == 0


def test_a_reference_that_loses_float64_cannot_be_judged_against():
    x = RANDOM.standard_normal((11, 5)).astype(np.float32)
    reference = with_companions(x, wide=np.float32)
    verdict = judge_case(
        Envelope(id="e", points=1), inputs(x), reference, seen(tensor(normalise(x)))
    )
    assert verdict.owner is Owner.INSTRUCTOR
    assert "must keep the dtype" in verdict.message.params["detail"]


def test_partial_credit_of_the_envelope():
    x = RANDOM.standard_normal((11, 5)).astype(np.float32)
    check = Envelope(id="e", points=1, partial=True, requires=("algorithm",))
    reference, case = with_companions(x), inputs(x)
    coarse = tensor(normalise(x.astype(np.float16)).astype(np.float32))
    assert check.judge(case, reference, seen(coarse)).credit == 0.9
    assert (
        check.judge(case, reference, seen(tensor(bfloat16(normalise(bfloat16(x)))))).credit == 0.7
    )
    assert check.judge(case, reference, seen(tensor(normalise(x, divisor=4)))).credit == 0


@pytest.mark.parametrize(
    ("dtype", "rounded"), [("float16", half), ("bfloat16", bfloat16), ("float32", np.float32)]
)
def test_exact_up_to_the_rounding_of_the_answer(dtype, rounded):
    expected = RANDOM.integers(-(2**26), 2**26, 500).astype(np.float64)
    expected = expected / 2**13 if dtype == "float16" else expected
    actual = rounded(expected)
    strict, lenient = (Exact(id="e", points=1, rounded_to=to) for to in ((), (dtype,)))
    case, wanted = inputs(), seen(tensor(expected, "float64"))
    got = seen(tensor(actual.astype(np.float64), "float64"))
    assert strict.judge(case, wanted, got).credit == 0
    assert lenient.judge(case, wanted, got).credit == 1
    off = actual.astype(np.float64)
    off[3] *= 1.01
    assert lenient.judge(case, wanted, seen(tensor(off, "float64"))).credit == 0
