import numpy as np
import pytest
from faults import no_faults
from observed import seen, tensor

from grader.checks import diagnoses
from grader.checks.base import CaseInputs
from grader.checks.diagnoses import across_cases
from grader.checks.form import OnDevice, PythonType, SameDType, SameShape
from grader.checks.judge import combine, judge_case
from grader.checks.values import Close, Exact
from grader.report.messages.catalogue import ENGLISH
from grader.verdict import Code, Status
from grader.wire.values import Opaque

RANDOM = np.random.Generator(np.random.PCG64(3))
M, N = 12, 5
X = RANDOM.standard_normal((M, N)) * 2 + 1
CASE = CaseInputs("case", ("x",), (tensor(X),))
CLOSE = Close(id="c", points=1, rtol=1e-9, atol=1e-12)


def normalise(x, axis=0, ddof=1):
    return (x - x.mean(axis, keepdims=True)) / x.std(axis, ddof=ddof, keepdims=True)


def params(actual, expected, check=CLOSE, case=CASE):
    as_float = [
        tensor(a, "float64") if np.asarray(a).dtype.kind == "f" else tensor(a, "int64")
        for a in (actual, expected)
    ]
    return check.judge(case, seen(as_float[1]), seen(as_float[0])).message.params


def cause(actual, expected, **context):
    return params(actual, expected, **context).get("cause")


SQUARE = RANDOM.standard_normal((6, 6))
BATCH = RANDOM.standard_normal((4, 3, 2))
ONLY_LAST = np.zeros_like(BATCH)
ONLY_LAST[-1] = BATCH[-1]
SPOILT = X.copy()
SPOILT[3, 2] = np.nan
HUGE = X.copy()
HUGE[3, 2] = np.inf


@pytest.mark.parametrize(
    ("actual", "expected", "name"),
    [
        (SQUARE.T, SQUARE, "transposed"),
        (X.T, X, "transposed"),
        (BATCH.swapaxes(1, 2), BATCH, "transposed"),
        (X.sum(1), X.sum(0), "wrong_axis"),
        (X.sum(1, keepdims=True), X.sum(0, keepdims=True), "wrong_axis"),
        (np.abs(X) ** 0.5, np.abs(X), "rooted"),
        (X**2, X, "squared"),
        (np.arange(10.0, 30, 10), np.arange(10.0, 31, 10), "exclusive_end"),
        (np.arange(20.0, 31, 10), np.arange(10.0, 31, 10), "exclusive_start"),
        (np.arange(10.0, 41, 10), np.arange(10.0, 31, 10), "one_too_many"),
        (X.astype(np.float32).astype(np.float64), X, "single_precision"),
        (-X, X, "negated"),
        (3 * X, X, "scaled"),
        (X + 3, X, "offset"),
        (np.arange(5) + 1, np.arange(5), "offset"),
        (X[::-1], X, "reversed"),
        (X[np.roll(np.arange(M), 3)], X, "rows_permuted"),
        (X[:, [1, 2, 0, 4, 3]], X, "columns_permuted"),
        (ONLY_LAST, BATCH, "only_last"),
        (BATCH[-1], BATCH, "only_last"),
        (BATCH[0], BATCH, "only_first"),
        (BATCH[::-1] * [[[0]], [[0]], [[0]], [[0]]], BATCH, "all_zero"),
        (np.trunc(X), X, "truncated"),
        (np.floor(X).astype(np.int64), X, "truncated"),
        (SPOILT, X, "nan_some"),
        (X * np.nan, X, "nan_all"),
        (HUGE, X, "infinite"),
        (X[None], X, "extra_axis"),
        (X[:, :1].squeeze(1), X[:, :1], "missing_axis"),
    ],
)
def test_a_likely_cause_is_named(actual, expected, name):
    assert cause(actual, expected) == name
    assert f"cause_{name}" in ENGLISH.sentences


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (RANDOM.standard_normal((M, N)), X),
        (np.array([2.0]), np.array([1.0])),  # any two numbers have a ratio
        (np.array([2.0, 4.0]), np.array([1.0, 2.0])),
        (X[:-1] + 1, X),
        (np.ones((3, 3)), np.ones((2, 2))),
        (np.arange(4), np.arange(1, 9, 2)),
        (X + 1e-9 * RANDOM.standard_normal(X.shape), X),
        (np.array(2.0), np.array([1.0, 3.0])),
        # Sentences that guessed, and were false on real submissions:
        (normalise(X, axis=1), normalise(X)),  # “along the wrong axis”
        (X.astype(np.float16).astype(np.float64), X),  # “right to a few digits only”
        (np.full((2, 2), 3.14159), np.full((2, 2), 3.14)),  # the same
        (np.array([3.0]), np.array([3.14])),  # “cut off to whole numbers”
        (np.array([0.0, 1.0]), np.array([0.4, 1.0])),  # the same
    ],
)
def test_no_cause_is_made_up(actual, expected):
    assert cause(actual, expected) is None


def test_another_divisor_is_told_as_a_factor_alone():
    """The divisor of a 3×4 matrix may be M, N - 1 or a constant: the factor does not tell."""
    x = RANDOM.standard_normal((3, 4))
    assert cause(x / 3 * 2, x) == "scaled"


def test_what_is_cut_short_says_by_how_much():
    told = params(X[:-3], X)
    assert (told["cause"], told["short_by"]) == ("cut_short", 3)
    assert "cause" not in params(np.zeros((1, N)), np.zeros((M, N)))


@pytest.mark.parametrize("form", ["bool", "uint8"])
def test_the_opposite_of_a_mask_is_named(form):
    right = np.tril(np.ones((4, 4), bool))
    check = Exact(id="e", points=1)
    wrong = tensor((~right).astype(form), form)
    verdict = check.judge(CASE, seen(tensor(right, "bool")), seen(wrong))
    assert verdict.message.params["cause"] == "opposite"
    shifted = seen(tensor(np.roll(right, 1), "bool"))
    other = check.judge(CASE, seen(tensor(right, "bool")), shifted)
    assert "cause" not in other.message.params


def test_factor_and_offset_come_with_their_size():
    assert params(3 * X, X)["factor"] == pytest.approx(3)
    assert params(X - 0.5, X)["offset"] == pytest.approx(-0.5)


def test_a_hint_that_trips_costs_nothing_but_itself(monkeypatch):
    def trip(_):
        raise ZeroDivisionError

    monkeypatch.setattr(diagnoses, "by_value", trip)
    assert "cause" not in params(3 * X, X)


def test_large_arrays_are_not_looked_into():
    large = np.ones(2**20 + 1)
    assert cause(large * 0, large) is None


@pytest.mark.parametrize(
    ("check", "actual", "expected", "name"),
    [
        (SameShape(id="s", points=1), tensor(X.T), tensor(X), "transposed"),
        (SameShape(id="s", points=1), tensor(X[:, None, :]), tensor(X[:, :, None]), None),
        (SameDType(id="d", points=1), tensor(X), tensor(X, "float64"), "dtype_lost"),
        (SameDType(id="d", points=1), tensor([1], "int64"), tensor([1.0]), "dtype_whole"),
        (SameDType(id="d", points=1), tensor([1.0], "float64"), tensor([1.0]), None),
        (OnDevice(id="v", points=1, device="cpu"), tensor(X, device="cuda:0"), tensor(X),
         "left_on_gpu"),
        (OnDevice(id="v", points=1, device="cuda"), tensor(X), tensor(X), "never_on_gpu"),
        (OnDevice(id="v", points=1, device="cuda:1"), tensor(X, device="cuda:0"), tensor(X), None),
        (PythonType(id="t", points=1), tensor(3, "int64"), 3, "tensor_for_number"),
        (PythonType(id="t", points=1), Opaque("numpy.int64", "x", 3), 3, "numpy_for_number"),
        (CLOSE, Opaque("numpy.ndarray", "x"), tensor(X), "numpy_for_tensor"),
        (CLOSE, Opaque("numpy.int64", "7"), 7, "numpy_for_number"),
        (CLOSE, Opaque("numpy.int64", "7"), tensor(X), None),
        (CLOSE, [1.0], tensor([1.0]), "list_for_tensor"),
        (CLOSE, [[0, 10], [100, 0]], tensor(SQUARE), "list_for_tensor"),
        (CLOSE, [tensor(X), tensor(X)], tensor(BATCH), "list_for_tensor"),
        (CLOSE, (tensor(X), (M, N)), tensor(X), "one_of_several"),
        # As max(dim=1) gives: values and places.
        (CLOSE, (tensor(X), tensor(X, "int64")), tensor(X, "int64"), "one_of_several"),
        (CLOSE, (tensor(X), tensor(X)), tensor(X), None),
        (CLOSE, [tensor(X), tensor(X.T)], tensor(X), None),
        (CLOSE, {"a": 1}, {"a": 1, "b": 2}, "other_keys"),
        (CLOSE, {}, {"a": 1}, None),
        (CLOSE, {"c": 1}, {"a": 1}, None),
    ],
)  # fmt: skip
def test_causes_of_a_wrong_form(check, actual, expected, name):
    verdict = check.judge(CASE, seen(expected), seen(actual))
    assert verdict.message.params.get("cause") == name
    assert name is None or f"cause_{name}" in ENGLISH.sentences


def test_keys_that_are_missing_and_too_many_are_named():
    verdict = CLOSE.judge(CASE, seen({"a": 1, "b": 2}), seen({1: 0, "b": 2}))
    told = ENGLISH.render(verdict.message)
    assert told.endswith("Missing: 'a'. Too many: 1.")
    verdict = CLOSE.judge(CASE, seen({"a": 1, "b": 2}), seen({"b": 2}))
    assert ENGLISH.render(verdict.message).endswith("Missing: 'a'.")


def across(*pairs):
    judged = []
    for number, (actual, expected, x) in enumerate(pairs):
        case = CaseInputs(str(number), ("x",), ([tensor(x)],))
        runs = seen(tensor(expected)), seen(tensor(actual))
        judged.append((case, judge_case(CLOSE, case, *runs)))
    return across_cases(judged, combine([verdict for _, verdict in judged]))


def test_right_on_square_inputs_only():
    good, bad = (SQUARE, SQUARE, SQUARE), (X + X**2, X, X)
    assert across(good, bad).message.params["cause"] == "square_only"
    for others in ([good], [bad], [good, bad, (X, X, X)], [(SQUARE * 3, SQUARE, SQUARE), bad]):
        verdict = across(*others)
        told = verdict.message.params.get("cause") if verdict.message else None
        assert told != "square_only"


def test_a_case_without_matrices_is_not_square():
    scalar = np.ones(3)
    assert across((scalar, scalar, scalar), (X + X**2, X, X)).code is Code.WRONG_VALUE
    assert across((scalar, scalar, scalar)).status is Status.PASSED


def test_a_relation_of_one_failed_case_alone_is_not_told():
    other = RANDOM.standard_normal((M, N))
    assert across((-X, X, X), (-X, X, X)).message.params["cause"] == "negated"
    assert "cause" not in across((-X, X, X), (other, X, X)).message.params


@pytest.mark.parametrize("wrong", [lambda x: 3 * x, lambda x: x + 3, lambda x: x[::-1]])
def test_a_factor_or_a_pattern_needs_two_failed_cases(wrong):
    assert "cause" in across((wrong(X), X, X), (wrong(X), X, X)).message.params
    alone = across((wrong(X), X, X), (X, X, X)).message.params
    assert not {"cause", "factor", "offset"} & alone.keys()


@pytest.mark.parametrize(
    ("cause", "ways"),
    [
        ("infinite", ("log(0)", "division by 0", "exp")),
        ("nan_all", ("∞/∞", "log of a negative number")),
        ("nan_some", ("∞/∞", "log of a negative number")),
    ],
)
def test_no_single_way_to_infinity_or_nan_is_claimed(cause, ways):
    text = str(ENGLISH.sentences[f"cause_{cause}"])
    assert [way for way in ways if way not in text] == []
    assert "comes of" not in text


def test_a_factor_that_differs_between_cases_is_told_without_its_size():
    told = across((2 * X, X, X), (3 * X, X, X)).message.params
    assert told["cause"] == "scaled"
    assert "factor" not in told
    assert across((2 * X, X, X), (2 * X, X, X)).message.params["factor"] == pytest.approx(2)


GUESSES = ("result ever", "overwritten", "in its first turn", "Looks ", "never moved", "never came")


def test_no_sentence_guesses_what_the_code_does():
    causes = {name: str(text) for name, text in ENGLISH.sentences.items() if name[:6] == "cause_"}

    def guesses(text):
        found = [guess for guess in GUESSES if guess in text and "activation" not in text]
        return [f"guesses, by “{guess}”" for guess in found]

    no_faults(causes, guesses, "say what the numbers show, not what the code may do")
