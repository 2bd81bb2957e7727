"""A known mistake is named where a submission does in every case what the mistake does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import toy_starter
from observed import ended, seen, tensor

from grader.assignment.cells import KnownMistake
from grader.authoring.lint import new_assignment, unfit_mistakes
from grader.errors import AssignmentError
from grader.grading import Grader, Options
from grader.observation import Observation, Outcome
from grader.report.messages.catalogue import words_in
from grader.report.model import CheckResult, QuestionResult
from grader.run.materials import load_materials
from grader.run.mistakes import KnownMistakes, MistakeRun, recognised, same_result, same_results
from grader.sandbox.host.processes import Sandbox
from grader.verdict import Code, Message, Param, failed
from grader.wire.messages import Fault
from grader.wire.values import Opaque, Value

MISTAKES = """\
# What goes wrong with doubling.

import torch


# %% adds_one
# says: You added 1;
#   multiply by 2.
# says-ko: 1을 더했습니다.

def double(x):
    return x + 1


# %% in_place
# says: You changed x itself.

def double(x):
    return x.mul_(2)


# %% squares
# says: You squared it.

def double(x):
    return x * x


# %% ends_its_process
# says: It never returns.

def double(x):
    import os
    os._exit(3)
"""

RIGHT = "def double(x):\n    return 2 * x\n"


def assignment(root: Path, mistakes: str = MISTAKES) -> Path:
    new_assignment("toy_two", root)
    (root / "reference" / "toy_two" / "mistakes.py").write_text(mistakes)
    return root / "assignments" / "toy_two" / "assignment.yml"


@pytest.fixture(scope="module")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    with toy_starter.lent() as sandbox:
        materials = load_materials(assignment(tmp_path_factory.mktemp("known")))
        grader = Grader(materials, sandbox, Options(seed=5, device="virtual"))
        grader.prepare()
        yield grader


def graded(grader: Grader, folder: Path, source: str) -> QuestionResult:
    path = folder / "toy_two.py"
    path.write_text(source)
    (question,) = grader.grade(path, "toy_two").questions
    return question


def check(question: QuestionResult, name: str) -> CheckResult:
    (found,) = (check for check in question.checks if check.id == name)
    return found


@pytest.mark.parametrize(
    ("body", "name", "sentence"),
    [
        ("1 + x", "values", "You added 1; multiply by 2."),
        ("x.double() + 1", "values", "You added 1; multiply by 2."),
        ("torch.square(x)", "values", "You squared it."),
        ("x.add_(x)", "unmodified", "You changed x itself."),
    ],
)
def test_it_says_what_the_author_says(
    grader: Grader, tmp_path: Path, body: str, name: str, sentence: str
) -> None:
    question = graded(grader, tmp_path, f"import torch\ndef double(x):\n    return {body}\n")
    assert check(question, name).message.endswith(sentence)
    assert sum("mistake" in each.params for each in question.checks) == 1


@pytest.mark.parametrize(
    "body",
    [
        "x + 1 if x.shape[0] == 2 else x + 3",  # the mistake in the visible case alone
        "x * 1.5",
    ],
)
def test_a_submission_that_does_something_else_is_told_nothing_of_it(
    grader: Grader, tmp_path: Path, body: str
) -> None:
    question = graded(grader, tmp_path, f"def double(x):\n    return {body}\n")
    assert question.score < question.max_score
    assert not any("mistake" in each.params for each in question.checks)


def test_nobody_pays_for_mistakes_that_nobody_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with toy_starter.lent() as sandbox:
        alone = Grader(load_materials(assignment(tmp_path)), sandbox, Options(seed=5))
        alone.prepare()
        ran: list[int] = []
        monkeypatch.setattr(
            "grader.run.mistakes.observe", lambda _, plan, *__: ran.append(len(plan)) or {}
        )
        graded(alone, tmp_path, RIGHT)
        assert ran == []
        with pytest.raises(KeyError):
            graded(alone, tmp_path, "def double(x):\n    return x\n")
        assert ran == [4]


def test_each_runs_once(grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graded(grader, tmp_path, "def double(x):\n    return x\n")
    monkeypatch.setattr("grader.run.mistakes.observe", None)
    question = graded(grader, tmp_path, "def double(x):\n    return x + 1\n")
    assert check(question, "values").params["mistake"] == "adds_one"


def test_korean_readers_read_it_in_korean(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grader, "words", words_in("ko"))
    question = graded(grader, tmp_path, "def double(x):\n    return x + 1\n")
    assert check(question, "values").message.endswith("1을 더했습니다.")
    question = graded(grader, tmp_path, "def double(x):\n    return x * x\n")
    assert check(question, "values").message.endswith("You squared it.")


def test_a_hidden_case_tells_the_sentence_and_no_numbers() -> None:
    says: dict[str, Param] = {"cause": "known_mistake", "says_en": "You added 1."}
    message = Message("another_word", {"actual": "secret", "expected": "secret", **says})
    verdict = replace(failed(Code.WRONG_VALUE, message), case="one", hidden=True)
    text = words_in("en").for_student(verdict)
    assert text.endswith("You added 1.")
    assert "secret" not in text


def test_what_a_scenario_calls_is_compared_too(sandbox: Sandbox, tmp_path: Path) -> None:
    materials = toy_starter.author(tmp_path)
    forgets = "class Counter:\n    def add(self, n):\n        return n\n"
    known = KnownMistake("forgets", 1, ("Counter",), frozenset({"Counter"}), forgets)
    toy = Grader(replace(materials, mistakes=(known,)), sandbox, Options(3, "virtual"))
    toy.prepare()
    runs = KnownMistakes(toy.materials).of(toy.plan, toy.reference_runs, sandbox)
    (run,) = runs["Counter"]
    assert run.results["shown"].claims.value == 3
    assert run.results["tricky"].claims.value == 5


def test_a_mistake_runs_on_one_case_until_a_submission_does_the_same_there(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = KnownMistakes(grader.materials)
    monkeypatch.setattr(grader, "mistakes", known)
    graded(grader, tmp_path, "def double(x):\n    return 2 * x + 7\n")
    cases = len(grader.plan[0].cases)
    assert cases > 1
    assert {len(seen) for seen in known._seen.values()} == {1}
    question = graded(grader, tmp_path, "def double(x):\n    return x + 1\n")
    assert "You added 1; multiply by 2." in check(question, "values").message
    whole = {name for (_, name), seen in known._seen.items() if len(seen) == cases}
    assert "adds_one" in whole
    assert "squares" not in whole


def test_lint_names_what_nothing_is_recognised_by(sandbox: Sandbox, tmp_path: Path) -> None:
    more = (
        "\n\n# %% right\n# says: Nothing.\n\ndef double(x):\n    return x + x\n"
        "\n\n# %% again\n# says: You wrote x times x.\n\ndef double(x):\n    return x**2\n"
    )
    materials = load_materials(assignment(tmp_path, MISTAKES + more))
    linted = Grader(materials, sandbox, Options(seed=5, device="virtual"))
    linted.prepare()
    texts = [str(finding) for finding in unfit_mistakes(linted, KnownMistakes(materials), sandbox)]
    assert len(texts) == 3
    assert "“ends_its_process” is wrong in too few numbers" in texts[0]
    assert "“right” does what the reference does in every case" in texts[1]
    assert "no case tells “again” from “squares”" in texts[2]
    assert all("mistakes.py:" in text for text in texts)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1\n", "it has no cell"),
        ("# %% a\n\ndef double(x):\n    return x\n", "say what is wrong with it"),
        ("# %% a\n# says: No.\n\ndef twice(x):\n    return x\n", "no function that a question"),
        ("# %% a\n# says: No.\n\ndef double(x:\n", "of the cell"),
        ("# %% a b\n# says: No.\n\ndef double(x):\n    return x\n", "letters, digits and _"),
        (2 * "# %% a\n# says: No.\n\ndef double(x):\n    return x\n", "another cell has this name"),
        (f"# %% a\n# says: {'No. ' * 200}\n\ndef double(x):\n    return x\n", "at most 400"),
        ("# %% a\n# says: No.\n# right: nothing_here\n\ndef double(x):\n    return x\n",
         "the reference has no"),
        (f"# %% a\n# says: No.\n# earns: 1\n\n{RIGHT}", "no share of the points"),
        (f"# %% a\n# says: No.\n# earns: half\n\n{RIGHT}", "no share of the points"),
        (f"# %% a\n# says: No.\n# earns: 0.5\n# earns: 0.2\n\n{RIGHT}", "two prices"),
        (f"# %% a\n# says: No.\n# voids: unmodified\n\n{RIGHT}", "belongs to a price"),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_with_file_and_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    with pytest.raises(AssignmentError, match=problem) as error:
        load_materials(assignment(tmp_path, text))
    assert "mistakes.py" in str(error.value)


def test_a_price_is_read(tmp_path: Path) -> None:
    cell = "# %% a\n# says: You added 1.\n# earns: 0.5\n# voids: unmodified\n\n"
    (mistake,) = load_materials(assignment(tmp_path, cell + RIGHT)).mistakes
    assert (mistake.earns, mistake.voids) == (0.5, {"unmodified"})
    assert mistake.says == {"en": "You added 1."}


def test_a_mistake_without_a_price_has_none(tmp_path: Path) -> None:
    assert {item.earns for item in load_materials(assignment(tmp_path)).mistakes} == {None}


def test_a_price_takes_two_cases_with_drawn_values(tmp_path: Path) -> None:
    cell = f"# %% a\n# says: You added 1.\n# earns: {{}}\n\n{RIGHT}"
    path = assignment(tmp_path, cell.format("0.5"))
    path.write_text(path.read_text().replace("repeats: 2", "repeats: 1"))
    with pytest.raises(AssignmentError, match="2 cases with drawn values"):
        load_materials(path)
    assert load_materials(assignment(tmp_path / "free", cell.format("0"))).mistakes


def run(name: str, *values: Value, says: str = "", telling: bool = True) -> MistakeRun:
    results = {str(number): seen(value) for number, value in enumerate(values)}
    mistake = KnownMistake(name, 1, ("q",), frozenset({"q"}), "", {"en": says or name})
    return MistakeRun(mistake, results, telling)


def recognise(known: list[MistakeRun], *values: Value) -> str | None:
    results = {str(number): seen(value) for number, value in enumerate(values)}
    found = recognised([each for each in known if same_results(results, each.results)])
    return found.name if found else None


def test_one_of_several_that_do_the_same_is_not_named_unless_they_say_the_same() -> None:
    assert recognise([run("a", 1, 2)], 1, 2) == "a"
    assert recognise([run("a", 1, 2)], 1, 3) is None
    assert recognise([run("a", 1, 2)], 1) is None
    assert recognise([run("a", 1, 2), run("b", 1, 2)], 1, 2) is None
    assert recognise([run("a", 1, 2, says="s"), run("b", 1, 2, says="s")], 1, 2) == "a"
    assert recognise([run("a", 1, 2, telling=False)], 1, 2) is None


ON_ZEROS = """
  - id: on_zeros
    title: Of zeros
    points: 1
    entry: [double]
    cases: [{id: zeros, args: {x: {zeros: [3]}}}]
    checks: [{id: values, kind: exact, points: 1}]
"""


def test_lint_is_content_with_one_question_that_shows_a_mistake_and_tells_it_from_others(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    cells = MISTAKES.partition("\n# %% ends_its_process")[0]
    # On zeros this is what adds_one does.
    cells += (
        "\n\n# %% adds_cos\n# says: That is a cosine.\n\ndef double(x):\n    return x + x.cos()\n"
    )
    path = assignment(tmp_path, cells)
    path.write_text(path.read_text() + ON_ZEROS)
    linted = Grader(load_materials(path), sandbox, Options(seed=5, device="virtual"))
    linted.prepare()
    known = KnownMistakes(linted.materials)
    assert list(unfit_mistakes(linted, known, sandbox)) == []


X = np.random.Generator(np.random.PCG64(3)).standard_normal((4, 3))
KERNEL = {"op": "mm", "device": "cuda:0", "count": 1, "flops": 8, "bytes": 8}
TRACE = {"devices": ["cuda:0"], "kernels": [KERNEL], "transfers": [], "memory": {}}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (tensor(X), tensor(X * (1 + 1e-6)), True),
        (tensor(X), tensor(X * (1 + 1e-4)), False),
        (tensor(X, "float64"), tensor(X * (1 + 1e-6), "float64"), False),
        (tensor(X, "float64"), tensor(X), False),
        (tensor(X), tensor(X.T), False),
        (tensor(X), tensor(X, device="cuda:0"), False),
        (tensor([np.nan, 1, np.inf]), tensor([np.nan, 1, np.inf]), True),
        (tensor([np.nan, 1, np.inf]), tensor([1, np.nan, np.inf]), False),
        (tensor([np.inf]), tensor([-np.inf]), False),
        (tensor([1, 2], "int64"), tensor([1, 3], "int64"), False),
        ((1, tensor(X)), (1, tensor(X)), True),
        ((1, tensor(X)), [1, tensor(X)], False),
        ({"a": 1.0}, {"a": 1.0 + 1e-13}, True),
        ({"a": 1.0}, {"b": 1.0}, False),
        (3, 3.0, False),
        (True, 1, False),
        (Opaque("numpy.ndarray", "x"), Opaque("numpy.ndarray", "y"), True),
        (None, None, True),
        # Two spellings of one computation leave different traces.
        ({"loss": 1.0, "did": TRACE}, {"loss": 1.0, "did": {**TRACE, "kernels": []}}, True),
        ({"loss": 1.0, "did": TRACE}, {"loss": 2.0, "did": TRACE}, False),
        ({"did": TRACE}, {"did": {}}, False),
    ],
)
def test_same_results(one: Value, other: Value, same: bool) -> None:
    assert same_result(seen(one), seen(other)) is same
    assert same_result(seen(other), seen(one)) is same


def raised(kind: str) -> Observation:
    return ended(Outcome.RAISED, fault=Fault(kind, "no"))


def test_exceptions_are_the_same_where_their_types_are() -> None:
    assert same_result(raised("ValueError"), raised("ValueError"))
    assert not same_result(raised("ValueError"), raised("TypeError"))
    assert not same_result(raised("ValueError"), seen(1))
    assert not same_result(ended(Outcome.TIMED_OUT), ended(Outcome.TIMED_OUT))


def test_arguments_that_were_changed_otherwise_are_another_result() -> None:
    before, after = (tensor(X),), (tensor(2 * X),)
    assert same_result(seen(1, args_after=before), seen(1, args_after=before))
    assert not same_result(seen(1, args_after=before), seen(1, args_after=after))
    assert same_result(seen(1, args_after=before), seen(1))
