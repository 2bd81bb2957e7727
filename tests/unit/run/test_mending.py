"""A submission that one small change makes right earns a share: slips are mended, and no more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from written_course import written_course

from grader.grading import Examined, Grader
from grader.observation import Observation
from grader.report.model import CheckResult, QuestionResult
from grader.run import mending
from grader.run.baseline_file import KEEPER
from grader.run.materials import Materials
from grader.run.session import ProcessSession
from grader.verdict import Code, Status
from grader.wire.messages import Call

QUESTION = """\
schema: torchgrade/assignment/v1
id: toy_two
version: "1"
title: Toy two
hand_in: [toy_two.py]
slip: 0.6

questions:
  - id: double
    title: Row sums, doubled
    points: 4
    cases:
      - id: drawn
        repeats: 2
        dims: {N: [3, 5], M: [6, 8]}
        args: {x: {randn: [N, M], dtype: float64}, y: {randn: [N], dtype: float64}}
    checks:
      - {id: values, kind: close, points: 2, rtol: 1.0e-7, atol: 1.0e-9}
      - {id: unmodified, kind: unmodified, points: 0.5, requires: [values]}
      - {id: no_loops, kind: loops, mode: none, points: 1, requires: [values]}
      - {id: no_mean, kind: forbidden_ops, points: 0.5, ops: [mean], requires: [values]}
"""
REFERENCE = """\
import torch


def double(x, y):
    # BEGIN SOLUTION
    return 2 * x.sum(dim=1) - y
    # END SOLUTION
"""
MISTAKES = """\
# %% plus
# says: y is taken away, not added.
# earns: 0

def double(x, y):
    return 2 * x.sum(dim=1) + y


# %% alone
# says: y is missing.

def double(x, y):
    return 2 * x.sum(dim=1)
"""


TWO_CHECKS = QUESTION.replace("    points: 4", "    points: 5").replace(
    """\
    checks:
      - {id: values, kind: close, points: 2,""",
    """\
      - id: one_row
        repeats: 2
        dims: {N: [1, 1], M: [6, 8]}
        args: {x: {randn: [N, M], dtype: float64}, y: {randn: [N], dtype: float64}}
    checks:
      - {id: one_row, kind: close, points: 1, rtol: 1.0e-7, atol: 1.0e-9, cases: [one_row]}
      - {id: values, kind: close, points: 2, cases: [drawn],""",
)
TWO_CHECKS = TWO_CHECKS.replace(
    "mode: none, points: 1, requires: [values]",
    "mode: none, points: 1, requires: [values, one_row]",
)


def materials(root: Path, text: str = QUESTION, mistakes: str = "") -> Materials:
    return written_course(root, "toy_two", text, REFERENCE, mistakes)


@pytest.fixture(scope="module")
def grader(
    opened: Callable[[Materials], Grader], tmp_path_factory: pytest.TempPathFactory
) -> Grader:
    return opened(materials(tmp_path_factory.mktemp("slips")))


def examined(grader: Grader, folder: Path, *body: str) -> Examined:
    path = folder / "toy_two.py"
    lines = "\n    ".join(body)
    path.write_text(f"import torch\n\n\ndef double(x, y):\n    {lines}\n")
    return grader.examine(path, "toy_two")


@pytest.fixture
def graded(grader: Grader, tmp_path: Path) -> Callable[..., QuestionResult]:
    return lambda *body: examined(grader, tmp_path, *body).report.questions[0]


def check(question: QuestionResult, name: str) -> CheckResult:
    (found,) = (check for check in question.checks if check.id == name)
    return found


def test_a_slip_costs_its_share_and_the_rules_are_facts_of_the_mended_text(
    graded: Callable[..., QuestionResult],
) -> None:
    question = graded("z = x.sum(dim=0)", "return 2 * z - y")
    values, rule = check(question, "values"), check(question, "no_loops")
    assert (values.status, values.code, values.score) == (Status.PARTIAL, Code.RAISED, 1.2)
    assert values.message.endswith(
        "One small change in line 5 makes all values right. That earns 1.2 of 2 points."
    )
    assert (rule.status, rule.code, rule.score) == (
        Status.PARTIAL, Code.REQUIREMENT_NOT_MET, 0.6,
    )  # fmt: skip
    assert rule.basis.value == "fact"
    assert rule.message == "Kept, but it rests on values. That earns 0.6 of 1 points."
    assert question.score == 2.4


@pytest.mark.parametrize(
    "body",
    [
        ["z = torch.stack([row.sum() for row in x])", "return 2 * z + y"],
        ["z = 0", "for column in x.T:", "    z = z + column", "return 2 * z + y"],
    ],
)
def test_a_rule_that_is_broken_beside_the_slip_earns_nothing(
    graded: Callable[..., QuestionResult], body: list[str]
) -> None:
    question = graded(*body)
    assert check(question, "values").score == 1.2
    assert check(question, "no_loops").score == 0
    assert question.score == 1.8


def test_what_comes_of_a_changed_text_is_not_paid_where_a_rule_falls(
    graded: Callable[..., QuestionResult],
) -> None:
    question = graded("x.mul_(2)", "return x.sum(dim=1) + y")
    assert check(question, "unmodified").score == 0
    assert check(question, "values").score == 1.2


@pytest.mark.parametrize(
    "body",
    [
        ["return y"],  # an argument as it came
        ["return x"],
        ["raise NotImplementedError"],
        ["pass"],
        ["return torch.zeros(3)"],
        ["return x.sum(dim=1) + y"],  # two slips
        ["return 2 * x.sum(dim=1) - y if len(x) == 3 else 2 * x.sum() - y"],
    ],
)
def test_without_the_work_nothing_is_earned(
    graded: Callable[..., QuestionResult], body: list[str]
) -> None:
    # The last one is right where N is 3, and a change makes it right for the other sizes.
    assert graded(*body).score == (2.4 if "if" in body[0] else 0)


def test_a_line_that_is_missing_at_the_beginning_has_no_number(
    graded: Callable[..., QuestionResult],
) -> None:
    question = graded('return 2 * torch.einsum("nm->m", x) - y')
    assert check(question, "values").message.endswith(
        "One small change at the beginning of double makes all values right. "
        "That earns 1.2 of 2 points."
    )


def test_two_slips_earn_the_share_twice_where_there_is_work_around_them(
    graded: Callable[..., QuestionResult],
) -> None:
    lines = ("z = x.sum(dim=0)", "w = 2 * z", "n = w.shape", "return {} + y")
    question = graded(*(line.format("w") for line in lines))
    values = check(question, "values")
    assert (values.status, values.score) == (Status.PARTIAL, 0.72)
    assert values.message.endswith(
        "Small changes, one of them in line 5, make all values right. That earns 0.72 of 2 points."
    )
    assert question.score == 1.44
    # In two lines, two changes are most of the work.
    assert graded("z = x.sum(dim=0)", "return 2 * z + y").score == 0


def test_where_both_raise_an_error_that_comes_later_is_nearer(
    graded: Callable[..., QuestionResult],
) -> None:
    lines = ("z = x.sum(dim=0)", "w = 2 * z - y", "n = len(w)", "return w + 0 * w.max(dim=0)")
    question = graded(*lines)
    assert question.score == 1.44
    assert "Small changes" in check(question, "values").message


def test_a_slip_beside_another_mistake_earns_its_share_of_what_becomes_right(
    opened: Callable[[Materials], Grader], tmp_path: Path
) -> None:
    grader = opened(materials(tmp_path / "others", TWO_CHECKS))
    lines = ("z = x.sum(dim=1)", "if len(x) == 1:", "    z = z + 1", "return 2 * z + y")
    found = examined(grader, tmp_path, *lines)
    (question,) = found.report.questions
    values, one_row = check(question, "values"), check(question, "one_row")
    assert (values.status, values.score) == (Status.PARTIAL, 1.2)
    assert values.message.endswith(
        "One small change in line 8 makes this right; something else would still be wrong. "
        "That earns 1.2 of 2 points."
    )
    assert one_row.score == 0
    runs = KEEPER.unpack(KEEPER.pack(found.runs, {}, 2**20), {})
    assert grader.judge_again(runs, found.report).score == question.score


def test_right_answers_are_left_alone(graded: Callable[..., QuestionResult]) -> None:
    assert graded("return 2 * x.sum(dim=1) - y").score == 4


def test_what_an_author_says_of_a_mistake_counts(
    opened: Callable[[Materials], Grader], tmp_path: Path
) -> None:
    grader = opened(materials(tmp_path / "known", mistakes=MISTAKES))
    zero = examined(grader, tmp_path, "return 2 * x.sum(dim=1) + y").report.questions[0]
    assert zero.score == 0
    # Without a price it is named, and mended like any.
    (question,) = examined(grader, tmp_path, "return 2 * x.sum(dim=1)").report.questions
    assert question.score == 0
    (question,) = examined(
        grader, tmp_path, "z = 2 * x.sum(dim=1)", "y = y - y", "return z - y"
    ).report.questions
    assert question.score == 2.4
    assert check(question, "values").message.startswith("Case drawn")
    assert "y is missing. One small change in line 6" in check(question, "values").message


def test_a_slip_beside_a_known_mistake_earns_the_shares_of_both(
    opened: Callable[[Materials], Grader], tmp_path: Path
) -> None:
    priced = MISTAKES.replace("earns: 0", "earns: 0.5")
    grader = opened(materials(tmp_path / "both", mistakes=priced))
    found = examined(grader, tmp_path, "z = x.sum(dim=0)", "return 2 * z + y")
    (question,) = found.report.questions
    values, rule = check(question, "values"), check(question, "no_loops")
    assert (values.status, values.score) == (Status.PARTIAL, 0.6)
    assert values.message.endswith(
        "With one small change in line 5 the results would be those of a common mistake. "
        "That earns 0.6 of 2 points."
    )
    assert (rule.status, rule.score) == (Status.PARTIAL, 0.3)
    runs = KEEPER.unpack(KEEPER.pack(found.runs, {}, 2**20), {})
    assert grader.judge_again(runs, found.report).score == question.score == 1.2


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("slip: 0.6\n", ""),
        ("slip: 0.6\n", "slip: 0.6\npartial: false\n"),
        ("    points: 4\n", "    points: 4\n    slip: 0\n"),
    ],
)
def test_slips_earn_nothing_where_they_are_off(
    opened: Callable[[Materials], Grader], tmp_path: Path, was: str, now: str
) -> None:
    grader = opened(materials(tmp_path / "off", QUESTION.replace(was, now)))
    question = examined(grader, tmp_path, "return 2 * x.sum(dim=0) - y").report.questions[0]
    assert question.score == 0


def test_an_own_share_of_a_question_counts(
    opened: Callable[[Materials], Grader], tmp_path: Path
) -> None:
    text = QUESTION.replace("    points: 4\n", "    points: 4\n    slip: 0.5\n")
    grader = opened(materials(tmp_path / "own", text))
    question = examined(grader, tmp_path, "return 2 * x.sum(dim=0) - y").report.questions[0]
    assert question.score == 2


def test_it_is_kept_with_what_was_observed_and_judged_again(grader: Grader, tmp_path: Path) -> None:
    found = examined(grader, tmp_path, "return 2 * x.sum(dim=1) + y")
    assert found.report.score == 2.4
    runs = KEEPER.unpack(KEEPER.pack(found.runs, {}, 2**20), {})
    assert runs["double"].mended is not None
    assert runs["double"].mended.line == 5
    assert grader.judge_again(runs, found.report).score == 2.4


def test_changes_that_never_end_bring_down_two_processes_and_no_more(
    graded: Callable[..., QuestionResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    call = ProcessSession.call

    def counted(self: ProcessSession, request: Call, seconds: float) -> Observation:
        seen = call(self, request, seconds)
        asked.append(seen.outcome.value)
        return seen

    monkeypatch.setattr(ProcessSession, "call", counted)
    monkeypatch.setattr(mending, "_HASTE", 100)
    # Without either of its last lines the loop has no end; nor is the function right then.
    body = ["n = 3.0", "while n > 0:", "    x = x + 1", "    n = n - 1", "return x.sum(dim=0) + n"]
    assert graded(*body).score == 0
    assert 1 <= asked.count("timed_out") <= 2


@pytest.mark.parametrize(
    "text",
    [
        "def double(x, y):\n    k = 0x" + "f" * 5000 + "\n    return x\n",
        "def double(x, y):\n    print(f\"{'rows:\u00a0'}{len(x)}\")\n    return 2 * y\n",
        # Whoever puts a change into place ends the process.
        "import os\n\n\ndef die(f):\n    if 'double' in globals():\n        os._exit(0)\n"
        "    return f\n\n\n@die\ndef double(x, y):\n    return 2 * x.sum(dim=1) + y\n",
    ],
)
def test_a_text_that_cannot_be_changed_is_graded_as_it_is(
    grader: Grader, tmp_path: Path, text: str
) -> None:
    (tmp_path / "toy_two.py").write_text(f"import torch\n\n\n{text}", encoding="utf-8")
    report = grader.grade(tmp_path / "toy_two.py", "toy_two")
    assert (report.score, report.pending) == (0, 0)
    assert report.status.value == "graded"


def test_changes_of_what_burns_time_end_after_some_times_the_limit(
    graded: Callable[..., QuestionResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    call = ProcessSession.call

    def counted(self: ProcessSession, request: Call, seconds: float) -> Observation:
        asked.append(request.entry)
        return call(self, request, seconds)

    monkeypatch.setattr(ProcessSession, "call", counted)
    monkeypatch.setattr(mending, "_ALL", 0)
    assert graded("z = x + 1", "return z.sum(dim=0) + y + y").score == 0
    assert asked == ["grader_mend_0", "double"]


def test_a_text_that_takes_long_to_compile_is_not_compiled_by_the_host(
    graded: Callable[..., QuestionResult],
) -> None:
    # The body of each finally is written twice into the program: 2 ** 12 times in all.
    lines = []
    for depth in range(12):
        lines += [" " * depth + "try:", " " * (depth + 1) + "y = y + 1", " " * depth + "finally:"]
    lines.append(" " * 12 + "y = y - 12")
    assert graded(*lines, "return 2 * x.sum(dim=0) + y").score in (0, 1.44, 2.4)
