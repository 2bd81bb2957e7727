"""Rules of counted calls, shown by running their logs again; what hides its work shows nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from grader.assignment.types import Assignment
from grader.grading import Examined, Grader, Options
from grader.observation import Claims, Observation, Outcome, Proof
from grader.report.model import CheckResult
from grader.run.answers import answers_of
from grader.run.materials import Materials
from grader.run.proving import Prover, _Fresh, _proof, _Task
from grader.sandbox.host.processes import Sandbox
from grader.verdict import Basis
from grader.wire.messages import LOG

REFERENCE = b"""
import torch


def distances(x, y):
    return (x * x).sum(1)[:, None] + (y * y).sum(1)[None] - 2 * (x @ y.t())


def lengths(xs, places):
    return torch.stack([x.sum() for x in xs])


def ragged(seed, N):
    g = torch.Generator().manual_seed(seed)
    sizes = torch.randint(2, 9, (N,), generator=g)
    return [torch.randn(n, generator=g) for n in sizes.tolist()], sizes


def total(xs, sizes):
    return torch.cat(xs).sum()


def normalized(named):
    return named["x"] - named["mean"][:, None]


def named_tensors(seed, N):
    g = torch.Generator().manual_seed(seed)
    return ({"x": torch.randn(N, 5, generator=g), "mean": torch.randn(N, generator=g)},)


def different(x):
    s, _ = x.sort()
    return s[torch.cat([torch.ones(1, dtype=torch.bool), s[1:] != s[:-1]])]


def large(x):
    return x[x > 10]


def whole(x):
    return x.sum()


def of_nothing(n):
    return torch.arange(n)


def products(x, y):
    out = torch.zeros(len(x), x.shape[1], y.shape[2])
    for place in range(len(x)):
        out[place] = x[place] @ y[place]
    return out


def corner(x):
    return x[:2, :3]


def doubled(x):
    return 2 * x


def both(x):
    return x.sum(1), x.mean(1)
"""
NO_LOOPS = {"id": "no_loops", "kind": "loops", "mode": "none", "points": 1, "requires": []}
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "distances",
        "title": "Squared distances",
        "points": 5,
        "cases": [
            {
                "id": "any_size",
                "dims": {"N": [4, 7], "M": [8, 9], "D": [3, 4]},
                "args": {"x": {"randn": ["N", "D"]}, "y": {"randn": ["M", "D"]}},
            }
        ],
        "checks": [
            {"id": "values", "kind": "close", "points": 1, "rtol": 1e-4, "atol": 1e-4},
            NO_LOOPS,
            {"id": "memory", "kind": "peak_memory", "times": 4, "points": 1, "requires": []},
            {
                "id": "no_norm", "kind": "forbidden_ops", "points": 1, "requires": [],
                "ops": ["*norm*", "*dist*"], "calls": ["*norm*"],
            },
            {
                "id": "by_hand", "kind": "forbidden_ops", "points": 1, "requires": [],
                "ops": ["*dist*"], "calls": ["backward"],
            },
        ],
    },
    {
        "id": "total",
        "title": "Sum of a list of tensors",
        "points": 2,
        "cases": [{"id": "ragged", "dims": {"N": [5, 9]}, "generate": "ragged"}],
        "checks": [
            {"id": "values", "kind": "close", "points": 1, "rtol": 1e-4, "atol": 1e-4}, NO_LOOPS,
        ],
    },
    {
        "id": "normalized",
        "title": "Tensors in a dict",
        "points": 3,
        "cases": [{"id": "named", "dims": {"N": [5, 9]}, "generate": "named_tensors"}],
        "checks": [
            {"id": "values", "kind": "close", "points": 1, "rtol": 1e-4, "atol": 1e-4}, NO_LOOPS,
            {"id": "unmodified", "kind": "unmodified", "points": 1},
        ],
    },
    {
        "id": "different",
        "title": "Different values",
        "points": 2,
        "cases": [
            {
                "id": "repeated",
                "dims": {"N": [30, 40]},
                "args": {"x": {"integers": ["N"], "low": 0, "high": 50}},
            }
        ],
        "checks": [{"id": "values", "kind": "any_order", "points": 1}, NO_LOOPS],
    },
    {
        "id": "large",
        "title": "Large values",
        "points": 2,
        "cases": [
            {
                "id": "some",
                "dims": {"N": [30, 40]},
                "args": {"x": {"integers": ["N"], "low": 0, "high": 20}},
            }
        ],
        "checks": [{"id": "values", "kind": "exact", "points": 1}, NO_LOOPS],
    },
    {
        "id": "whole",
        "title": "Sum of a tensor",
        "points": 2,
        "cases": [{"id": "any_size", "dims": {"N": [30, 40]}, "args": {"x": {"randn": ["N"]}}}],
        "checks": [
            {"id": "values", "kind": "close", "points": 1, "rtol": 1e-4, "atol": 1e-4}, NO_LOOPS,
        ],
    },
    {
        "id": "of_nothing",
        "title": "Nothing is drawn",
        "points": 2,
        "cases": [
            {"id": "any_length", "dims": {"N": [3, 9]}, "args": {"n": {"value": "N"}}},
        ],
        "checks": [{"id": "values", "kind": "exact", "points": 1}, NO_LOOPS],
    },
    {
        "id": "products",
        "title": "Products with a loop",
        "points": 3,
        "cases": [
            {"id": "written", "args": {"x": {"ones": [2, 2, 2]}, "y": {"ones": [2, 2, 2]}}},
            {
                "id": "any_size",
                "dims": {"B": [3, 4], "N": [3, 5]},
                "args": {"x": {"randn": ["B", 2, "N"]}, "y": {"randn": ["B", "N", 3]}},
            },
        ],
        "checks": [
            {"id": "values", "kind": "close", "points": 1, "rtol": 1e-4, "atol": 1e-4},
            {"id": "unmodified", "kind": "unmodified", "points": 1},
            {
                "id": "loop", "kind": "loops", "mode": "required", "over": ["B"], "points": 1,
                "cases": ["any_size"],
            },
        ],
    },
    {
        "id": "corner",
        "title": "A view",
        "points": 4,
        "cases": [
            {"id": "written", "args": {"x": {"ones": [3, 3]}}},
            {"id": "drawn", "args": {"x": {"integers": [4, 5], "low": -9, "high": 9}}},
        ],
        "checks": [
            {"id": "values", "kind": "exact", "points": 1},
            {"id": "view", "kind": "view_of", "argument": "x", "points": 1},
            {"id": "unmodified", "kind": "unmodified", "points": 1},
            {
                "id": "once", "kind": "max_calls", "of": "indexing", "most": 1, "least": 1,
                "points": 1, "cases": ["drawn"],
            },
        ],
    },
    {
        "id": "doubled",
        "title": "Nothing else is counted",
        "points": 2,
        "cases": [
            {"id": "written", "args": {"x": {"ones": [3]}}},
            {"id": "drawn", "args": {"x": {"integers": [7], "low": -9, "high": 9}}},
        ],
        "checks": [
            {"id": "values", "kind": "exact", "points": 1},
            {"id": "unmodified", "kind": "unmodified", "points": 1},
        ],
    },
    {
        "id": "both",
        "title": "Two parts",
        "points": 5,
        "cases": [
            {"id": "drawn", "dims": {"N": [5, 9]}, "args": {"x": {"randn": ["N", 6]}}},
        ],
        "checks": [
            {"id": "sums", "kind": "close", "item": "0", "points": 1, "rtol": 1e-4, "atol": 1e-4},
            {"id": "means", "kind": "close", "item": "1", "points": 2, "rtol": 1e-4, "atol": 1e-4},
            {**NO_LOOPS, "points": 1.5, "requires": ["sums", "means"]},
            {"id": "unmodified", "kind": "unmodified", "points": 0.5},
        ],
    },
]  # fmt: skip

RIGHT = REFERENCE.decode()
LOOP = """
    rows = []
    for row in x:
        rows.append(((row - y) ** 2).sum(1))
    return torch.stack(rows)
"""

Graded = tuple[Mapping[str, Mapping[str, CheckResult]], Examined]


@pytest.fixture(scope="module")
def ready(sandbox: Sandbox) -> Grader:
    content = {
        "schema": "torchgrade/assignment/v1", "id": "proved", "version": "1", "title": "Proved",
        "hand_in": ["proved.py"], "questions": QUESTIONS,
    }  # fmt: skip
    assignment = Assignment.model_validate(content)
    materials = Materials(assignment, {"proved.py": REFERENCE}, {}, "", "", *[Path("nowhere")] * 4)
    grader = Grader(materials, sandbox, Options(seed=3, device="cpu"))
    grader.prepare()
    return grader


@pytest.fixture
def graded(ready: Grader, tmp_path: Path) -> Callable[[str], Graded]:
    def of(text: str) -> Graded:
        (tmp_path / "proved.py").write_text(text)
        examined = ready.examine(tmp_path / "proved.py", "submission")
        found = {
            question.id: {check.id: check for check in question.checks}
            for question in examined.report.questions
        }
        return found, examined

    return of


def shown(check: CheckResult) -> bool:
    return "replay" in {witness["name"] for witness in check.witnesses}


def body(text: str, before: str = "") -> str:
    """Return a submission whose ``distances`` has another body."""
    start, end = RIGHT.index("    return (x * x)"), RIGHT.index("def lengths")
    return before + RIGHT[:start] + text.strip("\n") + "\n\n\n" + RIGHT[end:]


def test_an_honest_function_keeps_its_rules_as_facts(graded: Callable[[str], Graded]) -> None:
    found, _ = graded(RIGHT)
    for question in ("distances", "total", "normalized", "different", "large"):
        assert found[question]["no_loops"].basis is Basis.FACT, found[question]["no_loops"]
        assert shown(found[question]["no_loops"])
    assert found["distances"]["memory"].basis is Basis.FACT
    assert found["distances"]["no_norm"].basis is Basis.FACT


def test_lost_digits_are_for_the_values_to_judge(graded: Callable[[str], Graded]) -> None:
    line = "    return 1.00005 * ((x * x).sum(1)[:, None] + (y * y).sum(1)[None] - 2 * (x @ y.t()))"
    found, _ = graded(body(line))
    assert found["distances"]["values"].code == "ok"
    assert shown(found["distances"]["no_loops"])


def test_no_process_is_left_between_submissions(
    ready: Grader, graded: Callable[[str], Graded]
) -> None:
    graded(RIGHT)
    assert ready._runner._prover._reference is None


def test_a_log_that_another_submission_wrote_is_not_run_once_more(
    graded: Callable[[str], Graded], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    played = Prover._played

    def noted(self: Prover, player: Any, tasks: Any, *how: Any) -> Any:
        asked.extend(task.planned.question.id for task in tasks)
        return played(self, player, tasks, *how)

    monkeypatch.setattr(Prover, "_played", noted)
    other = body("    return (x**2).sum(1)[:, None] + (y**2).sum(1)[None] - 2 * (x @ y.t())")
    graded(RIGHT)
    asked.clear()
    found, _ = graded("# By somebody else.\n" + other)
    assert set(asked) & {"distances", "total", "normalized"} == {"distances"}
    assert shown(found["total"]["no_loops"])
    assert shown(found["distances"]["no_loops"])


def test_that_a_log_shows_nothing_is_not_kept(ready: Grader) -> None:
    prover = Prover(ready.materials, ready._runner._sandbox, 3)
    planned, run = ready.plan[0], ready.reference_runs[ready.plan[0].question.id]
    (case,) = planned.cases
    seen = run.observations[case.key].counted[""]
    task = _Task(planned, case, case.counted[0], seen, seen)
    prover._keep([task], {task.place: Proof("it could not be run")})
    assert not prover._known
    prover._keep([task], {task.place: Proof(entries=7)})
    assert [*prover._known.values()] == [Proof(entries=7)]


def test_names_that_no_log_holds_stay_claims(graded: Callable[[str], Graded]) -> None:
    found, _ = graded(RIGHT)
    assert found["distances"]["by_hand"].basis is Basis.CLAIM
    assert not shown(found["distances"]["by_hand"])


def test_where_nothing_is_drawn_nothing_is_shown(graded: Callable[[str], Graded]) -> None:
    found, examined = graded(RIGHT)
    assert found["of_nothing"]["no_loops"].basis is Basis.CLAIM
    seen = examined.runs["of_nothing"].observations["any_length"]
    assert seen.counted[""].proof is None


def test_rules_on_arguments_brackets_and_loops_become_facts(
    graded: Callable[[str], Graded],
) -> None:
    found, _ = graded("import sys\nPLACES = sys.modules\n" + RIGHT)
    for question, name in (
        ("products", "unmodified"), ("products", "loop"), ("corner", "view"), ("corner", "once"),
        ("corner", "unmodified"), ("doubled", "unmodified"), ("normalized", "unmodified"),
    ):  # fmt: skip
        check = found[question][name]
        assert (check.code.value, check.basis, check.pending) == ("ok", Basis.FACT, 0), check
        assert shown(check)


# Each gives right values and tells its own process nothing wrong.
NOT_SHOWN = {
    "put_back": (
        "doubled", "unmodified", "    x += 1\n    x -= 1\n    return 2 * x", "ok",
    ),
    "read": ("doubled", "unmodified", "    return torch.tensor([2 * n for n in x.tolist()])", "ok"),
    "carried": (
        "products",
        "loop",
        "    z = x @ y\n    out = torch.zeros_like(z)\n"
        "    for place in range(len(x)):\n        out[place] = z[place]\n    return out",
        "needs_review",
    ),
    "shown_only": (
        "corner", "once", "    x[:1]\n    return x.narrow(0, 0, 2).narrow(1, 0, 3)", "ok",
    ),
    "by_numpy": (
        "corner",
        "once",
        "    x[:2]\n    return torch.from_numpy(x.numpy()[:2, :3])",
        "needs_review",
    ),
    "turns_of_numpy": (
        "products",
        "loop",
        "    return torch.stack([torch.from_numpy(a.numpy() @ b.numpy()) for a, b in zip(x, y)])",
        "needs_review",
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", NOT_SHOWN)
def test_what_a_log_does_not_show_is_no_fact(way: str, graded: Callable[[str], Graded]) -> None:
    question, name, text, code = NOT_SHOWN[way]
    found, _ = graded(
        f"{RIGHT}\n\ndef {question}({'x, y' if question == 'products' else 'x'}):\n{text}\n"
    )
    assert found[question]["values"].code.value == "ok", found[question]["values"].message
    check = found[question][name]
    assert (check.code.value, shown(check)) == (code, False)
    assert check.basis is Basis.CLAIM


def test_numbers_that_are_read_and_used_again_hide_no_loop(graded: Callable[[str], Graded]) -> None:
    text = """
def products(x, y):
    out = torch.zeros(len(x), x.shape[1], y.shape[2])
    for b in range(len(x)):
        for n in range(x.shape[1]):
            for m in range(y.shape[2]):
                out[b, n, m] = torch.dot(x[b, n], y[b, :, m]).item()
    return out


def distances(x, y):
    longest = (x * x).sum(1).max().item()
    half = (x * x).sum(1)[:, None] / longest + (y * y).sum(1)[None] / longest
    return half * longest - 2 * (x @ y.t())
"""
    found, _ = graded(RIGHT + text)
    for question, name in (("products", "loop"), ("distances", "no_loops")):
        check = found[question][name]
        assert (check.code.value, check.basis) == ("ok", Basis.FACT), check.message
        assert shown(check)


REACHES = [
    "import turtle\n",
    "import sys\nPLACES = sys.modules\n",
    "import gc\nBEFORE = len(gc.get_objects())\n",
    "import inspect\nHERE = inspect.currentframe()\n",
    "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n",
]


@pytest.mark.parametrize("line", REACHES)
def test_what_a_text_mentions_decides_nothing_that_is_shown(
    line: str, graded: Callable[[str], Graded]
) -> None:
    found, _ = graded(line + RIGHT)
    for name in ("no_loops", "memory", "no_norm"):
        check = found["distances"][name]
        assert (check.code.value, check.basis, check.pending) == ("ok", Basis.FACT, 0), check


def test_a_loop_is_found_as_before(graded: Callable[[str], Graded]) -> None:
    found, _ = graded(body(LOOP))
    check = found["distances"]["no_loops"]
    assert (check.code.value, check.score) == ("loop_found", 0)
    assert not shown(check)


def test_a_forbidden_operation_is_found_as_before(graded: Callable[[str], Graded]) -> None:
    found, _ = graded(body("    return torch.cdist(x, y) ** 2"))
    check = found["distances"]["no_norm"]
    assert (check.code.value, check.score) == ("forbidden_call", 0)
    assert not shown(check)


LISTENER = f"""
import logging.handlers
import queue

import torch

asked, done = queue.Queue(), queue.Queue()


def work(x, y):{LOOP}

class Works(logging.Handler):
    def emit(self, record):
        done.put(work(*record.args))


handler = logging.handlers.QueueHandler(asked)
handler.prepare = lambda record: record
listener = logging.handlers.QueueListener(asked, Works())
listener.start()
"""
EXECUTOR = f"""
import concurrent.futures
import torch

pool = concurrent.futures.ThreadPoolExecutor(1)
pool.submit(int).result()


def work(x, y):{LOOP}
"""
HIDDEN = {
    "listener": (
        LISTENER,
        "    handler.emit(logging.LogRecord('', 0, '', 0, '', (x, y), None))\n"
        "    return done.get()",
    ),
    "executor": (EXECUTOR, "    return pool.submit(work, x, y).result()"),
    "modes_off": (
        f"import torch\n\n\ndef work(x, y):{LOOP}\n\n",
        "    with torch._C._DisableTorchDispatch():\n        return work(x, y)",
    ),
    "numpy": (
        "import numpy as np\n",
        "    a, b = x.numpy(), y.numpy()\n"
        "    return torch.from_numpy(((a[:, None] - b[None]) ** 2).sum(-1))",
    ),
    "unrolled": (
        "import torch\nfrom torch.nn.functional import pad\n",
        "    n, x = len(x), pad(x, (0, 0, 0, 32 - len(x)))\n    rows = [\n"
        + "".join(f"        ((x[{n}] - y) ** 2).sum(1),\n" for n in range(32))
        + "    ]\n    return torch.stack(rows)[:n]",
    ),
    "at_once": (
        "import torch\n",
        "    rows = list(x[:, None].expand(-1, len(y), -1).unbind())\n"
        "    rows = torch._foreach_sub(rows, [y] * len(x))\n"
        "    return torch.stack(torch._foreach_mul(rows, rows)).sum(-1)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", HIDDEN)
def test_hidden_work_is_not_shown_to_be_by_the_rules(
    way: str, graded: Callable[[str], Graded]
) -> None:
    before, text = HIDDEN[way]
    found, _ = graded(body(text, before))
    assert found["distances"]["values"].code.value == "ok", found["distances"]["values"].message
    check = found["distances"]["no_loops"]
    assert not shown(check)
    # No rule that is broken earns a point for good, whatever was counted.
    assert (check.basis, check.score) == (Basis.CLAIM, 0)


def test_what_is_counted_and_cannot_be_run_again_waits_with_its_line(
    graded: Callable[[str], Graded],
) -> None:
    before, text = HIDDEN["numpy"]
    found, _ = graded(body(text, before))
    check = found["distances"]["no_loops"]
    assert (check.code.value, check.pending) == ("needs_review", 1)
    assert "Line 7 reads numbers out of a tensor (numpy)" in check.message
    # No log holds ``backward``: without one nothing is missing.
    assert found["distances"]["by_hand"].code.value == "ok"


def test_without_a_log_the_points_wait(graded: Callable[[str], Graded]) -> None:
    without = """
import grader.student_process.server

grader.student_process.server.Recording.report = lambda *_: {}
"""
    found, _ = graded(without + RIGHT)
    for name in ("no_loops", "memory", "no_norm"):
        check = found["distances"][name]
        assert (check.code.value, check.pending) == ("needs_review", 1), name
        assert "not show that this rule is kept" in check.message
        assert "Line" not in check.message


def test_a_function_that_is_wrong_there_is_judged_by_its_counts(
    graded: Callable[[str], Graded],
) -> None:
    found, _ = graded(body("    return ((x[:, None] - y[None]) ** 2).sum(-1) * 1.01"))
    assert found["distances"]["values"].code.value == "wrong_value"
    assert found["distances"]["no_loops"].code.value == "ok"


def test_a_size_that_follows_from_the_elements_may_be_written_out(
    graded: Callable[[str], Graded],
) -> None:
    found, _ = graded(
        RIGHT.replace("return x[x > 10]", "y = x[x > 10]\n    return y.new_empty(len(y)).copy_(y)")
    )
    check = found["large"]["no_loops"]
    assert (check.code.value, check.basis) == ("ok", Basis.FACT), check.message


def test_a_size_that_is_written_out_may_fit_other_inputs_without_an_error(
    graded: Callable[[str], Graded],
) -> None:
    text = "return x[torch.argsort((x <= 10).int(), stable=True)][: len(x[x > 10])]"
    found, _ = graded(RIGHT.replace("return x[x > 10]", text))
    check = found["large"]["no_loops"]
    assert (check.code.value, check.basis) == ("ok", Basis.FACT), check.message


def test_an_answer_that_no_order_changes_is_not_shown_by_another_order(
    graded: Callable[[str], Graded],
) -> None:
    text = """
def whole(x):
    # As long as the data say: on other elements the copy is an error.
    x.new_empty(len(x[x > 0])).copy_(x[x > 0])
    return torch.tensor(float(x.numpy().sum()))
"""
    found, _ = graded(RIGHT + text)
    assert found["whole"]["values"].code.value == "ok", found["whole"]["values"].message
    check = found["whole"]["no_loops"]
    assert (check.score, shown(check)) == (0, False), check


@pytest.mark.parametrize(
    ("answers", "alike"),
    [
        # Nearer than a proof tells apart, and farther than rounding goes.
        ([1.0, 1.0005, 2.0], True),
        ([1.0, 2.0, 2.0005], True),
        # A third answer may be as near to both as a proof allows.
        ([1.0, 1.0015, 2.0], True),
        ([1.0, 1.003, 1.006], False),
    ],
)
def test_answers_that_a_proof_does_not_tell_apart_show_nothing(
    answers: list[float], alike: bool, ready: Grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, *others = (Observation(Outcome.COMPLETED, claims=Claims(each)) for each in answers)
    fresh = iter([_Fresh(seen=each) for each in others])
    monkeypatch.setattr(Prover, "_fresh", lambda *_: next(fresh))
    planned = next(each for each in ready.plan if each.question.id == "whole")
    (case,) = planned.cases
    task = _Task(planned, case, case.counted[0], right, right)
    assert task.call.grown == ""
    _, why = ready._runner._prover._chosen(task, 0)
    assert bool(why) is alike, why


def test_one_call_that_is_many_operations_is_judged_as_before(
    graded: Callable[[str], Graded],
) -> None:
    text = RIGHT.replace(
        "return torch.cat(xs).sum()", "return torch.nn.utils.rnn.pad_sequence(xs).sum()"
    )
    found, _ = graded(text)
    assert found["total"]["no_loops"].code.value == "ok"


def test_an_answer_that_is_kept_is_not_shown(graded: Callable[[str], Graded]) -> None:
    text = (
        "    if not KEPT:\n        KEPT.append((x - y.mean() + 1).sum() * 0)\n"
        "    return KEPT[0] + work(x, y)"
    )
    found, _ = graded(body(text, EXECUTOR + "\nKEPT = []\n\n"))
    assert shown(found["distances"]["no_loops"]) is False


def test_logs_are_not_kept_and_what_came_of_them_is(
    graded: Callable[[str], Graded], ready: Grader
) -> None:
    _, examined = graded("import turtle\n" + RIGHT)
    answers = answers_of(ready.reference_runs)
    again = answers.unpack(answers.pack(examined.runs))
    for runs in (examined.runs, ready.reference_runs, again):
        for run in runs.values():
            for seen in run.observations.values():
                assert all(LOG not in each.claims.probes for each in seen.counted.values())
    report = ready.judge_again(again, examined.report)
    assert report.score == examined.report.score
    (check,) = (
        check
        for question in report.questions
        for check in question.checks
        if (question.id, check.id) == ("distances", "no_loops")
    )
    assert check.basis is Basis.FACT


@pytest.mark.parametrize("outputs", [[], [{}, {}], [{"output": 1.0}, {"output": 1.0}]])
def test_a_process_that_a_log_took_over_may_say_what_it_likes(outputs: list[Any]) -> None:
    sizes = ("entries", "references", "unnamed", "greatest")
    said = {"why": "", **dict.fromkeys(sizes, 0), "ops": [], "outputs": outputs}
    answer = Observation(Outcome.COMPLETED, claims=Claims(said))
    # The task is looked at only where outputs are compared.
    task: _Task = None  # type: ignore[assignment]
    expected = [Observation(Outcome.COMPLETED, claims=Claims(1.0))]
    assert _proof(task, expected, answer) == Proof("it could not be run")


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        # The sum alone is right: a third of what the rule rests on.
        ("return x.sum(1), x.mean(0)[:1].expand(len(x))", 0.5),
        ("return x.sum(1) + 1, x.mean(1)", 1),
        ("return x.sum(1), torch.zeros(len(x))", 0.5),
        ("return x.sum(1), torch.stack([row.sum() for row in x])", 0),
        ("return torch.stack([row.sum() for row in x]), x.mean(0)[0].expand(len(x))", 0),
        ("return torch.tensor([sum(r) for r in x.tolist()]), torch.zeros(len(x))", 0),
        ("return x.sum(1) + 1, x.mean(1) + 1", 0),
        ("return x.sum(1)", 0),
    ],
)
def test_a_rule_on_a_result_of_several_parts_counts_for_those_that_are_right(
    graded: Callable[[str], Graded], answer: str, rule: float
) -> None:
    text = RIGHT.replace("return x.sum(1), x.mean(1)", answer)
    assert text != RIGHT
    checks = graded(text)[0]["both"]
    assert checks["no_loops"].score == rule
    assert checks["no_loops"].basis is Basis.FACT or not rule


def test_what_is_worked_out_beside_the_log_earns_no_share(
    graded: Callable[[str], Graded],
) -> None:
    text = RIGHT.replace(
        "return x.sum(1), x.mean(1)",
        "return torch.tensor(x.numpy().sum(1)), torch.zeros(len(x))",
    )
    assert graded(text)[0]["both"]["no_loops"].score == 0
