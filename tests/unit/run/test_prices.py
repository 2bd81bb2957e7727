"""A priced mistake earns its share where a submission does in every case what the mistake does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import toy_starter

from grader.assignment.cells import KnownMistake
from grader.authoring.lint import new_assignment, unfit_mistakes, without_price
from grader.authoring.prices import price_rows
from grader.errors import InfrastructureError
from grader.grading import Grader, Options
from grader.report.model import CheckResult, QuestionResult
from grader.run.materials import Materials, load_materials
from grader.run.mistakes import KnownMistakes
from grader.run.prices import best
from grader.verdict import Code, Status

MISTAKES = """\
import torch


# %% adds_one
# says: You added 1; multiply by 2.
# earns: 0.25

def double(x):
    return x + 1


# %% adds_one_again
# says: You added 1 to everything.
# earns: 0.5

def double(x):
    return x + 1


# %% thrice
# says: That is three times x.
# earns: 0.35
# voids: no_loops, unmodified

def double(x):
    return 3 * x


# %% zero
# says: That is nothing at all.
# earns: 0.5

def double(x):
    return torch.zeros(3)


# %% itself
# says: You returned x as it is.
# earns: 0.5

def double(x):
    return x


# %% squares
# says: You squared it.

def double(x):
    return x * x
"""
CHECKS = """\
      - {id: values, kind: close, points: 2, rtol: 1.0e-5, atol: 1.0e-6}
      - {id: unmodified, kind: unmodified, points: 1, requires: [values]}
"""
MORE = """\
      - {id: values, kind: close, points: 2, rtol: 1.0e-5, atol: 1.0e-6}
      - {id: unmodified, kind: unmodified, points: 0.5, requires: [values]}
      - {id: no_loops, kind: loops, mode: none, points: 0.5, cases: [drawn], requires: [values]}
"""

Grades = Callable[[str], QuestionResult]


def materials(root: Path, mistakes: str = MISTAKES, checks: str = MORE) -> Materials:
    new_assignment("toy_two", root)
    (root / "reference" / "toy_two" / "mistakes.py").write_text(mistakes)
    path = root / "assignments" / "toy_two" / "assignment.yml"
    path.write_text(path.read_text().replace(CHECKS, checks))
    return load_materials(path)


@pytest.fixture(scope="module")
def grader(
    opened: Callable[[Materials], Grader], tmp_path_factory: pytest.TempPathFactory
) -> Grader:
    return opened(materials(tmp_path_factory.mktemp("priced")))


@pytest.fixture
def graded(grader: Grader, tmp_path: Path) -> Grades:
    return lambda body: grade(grader, tmp_path, f"import torch\ndef double(x):\n    {body}\n")


def grade(grader: Grader, folder: Path, source: str) -> QuestionResult:
    path = folder / "toy_two.py"
    path.write_text(source)
    (question,) = grader.grade(path, "toy_two").questions
    return question


def check(question: QuestionResult, name: str) -> CheckResult:
    (found,) = (check for check in question.checks if check.id == name)
    return found


def test_who_makes_it_earns_its_share_and_the_rules_that_are_kept(graded: Grades) -> None:
    question = graded("return torch.add(x, 1)")
    values, rule = check(question, "values"), check(question, "no_loops")
    # Two mistakes do this: the higher price counts.
    assert (values.status, values.code, values.score) == (Status.PARTIAL, Code.WRONG_VALUE, 1.0)
    assert values.message.endswith("That earns 1 of 2 points.")
    # Its log was run again beside the mistake's function: the rule is a fact.
    assert (rule.status, rule.score, rule.basis.value) == (Status.PARTIAL, 0.25, "fact")
    assert rule.message.endswith("That earns 0.25 of 0.5 points.")
    assert question.score == 1.5
    assert question.score == sum(each.score for each in question.checks)


@pytest.mark.parametrize(("dtype", "earned"), [("float", 1.5), ("double", 1.25)])
def test_another_dtype_is_another_mistake_and_costs_its_own_points(
    opened: Callable[[Materials], Grader], tmp_path: Path, dtype: str, earned: float
) -> None:
    rule = "{id: no_loops, kind: loops, mode: none, points: 0.5, cases: [drawn], "
    strict = MORE.replace(rule, "{id: dtype, kind: dtype, points: 0.5, ")
    question = grade(
        opened(materials(tmp_path / "strict", checks=strict)),
        tmp_path,
        f"def double(x):\n    return x.{dtype}() + 1\n",
    )
    assert check(question, "values").score == 1.0
    assert check(question, "dtype").score == (0.25 if dtype == "float" else 0)
    assert question.score == earned


def test_a_check_without_points_is_said_to_earn_nothing(
    opened: Callable[[Materials], Grader], tmp_path: Path
) -> None:
    free = MORE + "      - {id: more, kind: exact, points: 0}\n"
    question = grade(
        opened(materials(tmp_path / "free", checks=free)),
        tmp_path,
        "import torch\ndef double(x):\n    return torch.add(x, 1)\n",
    )
    assert "earns" in check(question, "values").message
    assert check(question, "more").status is Status.PARTIAL
    assert "earns" not in check(question, "more").message


def test_a_rule_that_is_broken_costs_its_points_beside_the_mistake(graded: Grades) -> None:
    question = graded("return torch.stack([row + 1 for row in x])")
    assert check(question, "no_loops").code is Code.LOOP_FOUND
    assert question.score == 1.25


def test_a_rule_that_the_mistake_makes_meaningless_earns_nothing(graded: Grades) -> None:
    question = graded("return x + x + x")
    assert check(question, "values").score == 0.7
    assert check(question, "values").message.endswith("three times x. That earns 0.7 of 2 points.")
    assert check(question, "no_loops").code is Code.REQUIREMENT_NOT_MET
    assert question.score == 0.7


@pytest.mark.parametrize(
    "body",
    [
        "return torch.zeros(3)",  # the same whatever is drawn
        "return x",  # no work at all
        "return x * x",  # known, and without a price
        "return x + 1 if x.shape[0] == 2 else x + 3",  # the mistake in one case
        "return (2 * x).double() + 0.1",  # of another dtype, and other numbers
        "raise NotImplementedError",
        "return None",
    ],
)
def test_without_the_work_of_a_priced_mistake_nothing_is_earned(graded: Grades, body: str) -> None:
    assert graded(body).score == 0


def test_right_submissions_earn_what_they_earned(graded: Grades) -> None:
    assert graded("return 2 * x").score == 3


@pytest.mark.parametrize(("body", "asked"), [("return x + 1", True), ("return 2.001 * x", False)])
def test_mistakes_run_only_beside_what_is_wrong(
    opened: Callable[[Materials], Grader],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    asked: bool,
) -> None:
    ran: list[object] = []
    monkeypatch.setattr(KnownMistakes, "_observe", lambda *what: ran.append(what))
    loose = materials(
        tmp_path, MISTAKES.replace("no_loops, ", ""), CHECKS.replace("1.0e-5", "1e-2")
    )
    grade(opened(loose), tmp_path, f"def double(x):\n    {body}\n")
    assert bool(ran) == asked


def test_an_assignment_or_a_course_turns_prices_off(
    opened: Callable[[Materials], Grader], tmp_path: Path
) -> None:
    priced = materials(tmp_path / "home")
    file = priced.folder / "assignment.yml"
    text = file.read_text()
    file.write_text(text.replace("title: Toy two", "title: Toy two\npartial: false"))
    off = load_materials(file)
    assert {each.earns for each in off.mistakes} == {None}
    assert grade(opened(off), tmp_path, "def double(x):\n    return x + 1\n").score == 0
    file.write_text(text)
    (priced.root / "course.yml").write_text("schema: torchgrade/course/v1\npartial: false\n")
    course = load_materials(file)
    assert {each.earns for each in course.mistakes} == {None}
    assert course.digest != priced.digest


def test_a_price_changes_what_the_assignment_is_and_a_sentence_does_not(tmp_path: Path) -> None:
    first = materials(tmp_path / "first")
    again = materials(tmp_path / "again", MISTAKES.replace("earns: 0.35", "earns: 0.45"))
    reworded = materials(tmp_path / "reworded", MISTAKES.replace("three times", "thrice"))
    assert first.digest != again.digest
    assert first.digest == reworded.digest


def test_points_wait_where_the_machine_cannot_run_the_mistakes(
    opened: Callable[[Materials], Grader], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = opened(materials(tmp_path))

    def fails(*_: object) -> None:
        raise InfrastructureError("no student process can be started")

    with monkeypatch.context() as broken:
        broken.setattr("grader.run.mistakes.open_session", fails)
        question = grade(alone, tmp_path, "def double(x):\n    return x + 1\n")
    assert (question.score, question.pending) == (0, 3)
    assert check(question, "values").code is Code.SANDBOX_FAILED
    # The next submission finds them run.
    assert grade(alone, tmp_path, "def double(x):\n    return x + 1\n").score == 1.5


def test_saved_observations_are_judged_with_today_s_price(grader: Grader, tmp_path: Path) -> None:
    path = tmp_path / "toy_two.py"
    path.write_text("def double(x):\n    return 1 + x\n")
    examined = grader.examine(path, "toy_two")
    again = grader.judge_again(grader.answers.unpack(grader.answers.pack(examined.runs)),
                               examined.report)  # fmt: skip
    assert again.score == examined.report.score == 1.5


def test_the_highest_price_counts_and_of_equal_ones_what_voids_least() -> None:
    def mistake(name: str, earns: float, *voids: str) -> KnownMistake:
        return KnownMistake(name, 1, ("q",), frozenset(), "", {}, earns, frozenset(voids))

    assert best([mistake("a", 0.2), mistake("b", 0.5), mistake("c", 0.3)]).name == "b"
    assert best([mistake("a", 0.5, "rule"), mistake("b", 0.5)]).name == "b"


def test_lint_names_prices_that_are_not_what_they_seem(grader: Grader, tmp_path: Path) -> None:
    cells = MISTAKES.replace("no_loops, unmodified", "no_loop")
    priced = materials(tmp_path, cells)
    with toy_starter.lent() as sandbox:
        linted = Grader(priced, sandbox, Options(seed=5, device="virtual"))
        linted.prepare()
        known = KnownMistakes(priced)
        texts = [str(finding) for finding in unfit_mistakes(linted, known, sandbox)]
        rows = [str(row) for row in price_rows(linted, lambda *_: None)]
    assert "“zero” has a price that is never paid: it returns the same in all cases" in texts[0]
    assert (
        "“itself” has a price that is never paid: what is wrong is an argument as it came"
        in texts[1]
    )
    assert "names “no_loop”, which is no check of it; did you mean “no_loops”?" in texts[2]
    assert "no case tells “adds_one_again” from “adds_one”" in texts[3]
    assert rows[0] == ("double.adds_one: 1.5 of 3 (earns 0.25). You added 1; multiply by 2.")
    assert "double.squares: 0 of 3 (no price). You squared it." in rows
    assert without_price(priced) == "1 known mistakes have no price (# earns: …): squares"


def test_lint_names_two_prices_of_what_is_one_mistake(tmp_path: Path) -> None:
    cells = MISTAKES.replace("You added 1 to everything.", "You added 1; multiply by 2.")
    priced = materials(tmp_path, cells)
    with toy_starter.lent() as sandbox:
        linted = Grader(priced, sandbox, Options(seed=5, device="virtual"))
        linted.prepare()
        found = [str(each) for each in unfit_mistakes(linted, KnownMistakes(priced), sandbox)]
    assert "“adds_one_again” and “adds_one” do the same and have two prices" in found[-1]
