"""A self-check says what an author says of a known mistake, which the starter holds sealed."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
import toy_starter
from observed import ended, seen, tensor
from rich.console import Console

from grader.assignment.cells import KnownMistake
from grader.authoring.lint import new_assignment
from grader.authoring.starter import (
    build_starter,
    check_public,
    make_public,
    write_starter,
)
from grader.checks.arrays import to_numpy
from grader.observation import Observation, Outcome
from grader.report.model import CheckResult, Report
from grader.report.student import StudentView
from grader.run.materials import load_materials
from grader.run.mistakes import MistakeRun
from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.files import read_public, to_files
from grader.selfcheck.folder import CASES_FILE
from grader.selfcheck.sealed_mistakes import SealedMistakes, seal
from grader.selfcheck.workplace import Workplace
from grader.verdict import Status
from grader.wire.values import Tensor, Value

MISTAKES = """\
import torch


# %% adds_one
# says: You added 1; multiply by 2.

def double(x):
    return x + 1


# %% in_place
# says: You changed x itself.

def double(x):
    return x.mul_(2)
"""

UNSEEN = """

# %% wrong_for_hidden_cases_alone
# says: You doubled large numbers once too often.
# earns: 0.5

def double(x):
    return x * 2
"""
X = np.random.Generator(np.random.PCG64(3)).standard_normal((4, 3))


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_with(tmp_path_factory.mktemp("sealed"), MISTAKES)


def made_with(root: Path, mistakes: str) -> Path:
    new_assignment("toy_two", root)
    (root / "reference/toy_two/mistakes.py").write_text(mistakes)
    materials = load_materials(root / "assignments/toy_two/assignment.yml")
    made = make_public(materials, toy_starter.lent())
    files = build_starter(materials.assignment, materials.folder, materials.reference_folder)
    write_starter(files | to_files(made.public), materials.starter)
    return materials.starter


def is_known(check: CheckResult) -> bool:
    return check.params.get("cause") == "known_mistake"


def checked(starter: Path, folder: Path, body: str) -> Report:
    file = folder / "toy_two.py"
    file.write_text(f"import torch\ndef double(x):\n    return {body}\n")
    place = Workplace(starter, read_public(starter), file)
    with SelfCheck(place, toy_starter.lent(), "virtual") as own:
        return own.check()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [("torch.add(x, 1)", "You added 1; multiply by 2."), ("x.add_(x)", "You changed x itself.")],
)
def test_it_says_what_the_author_says(
    starter: Path, tmp_path: Path, body: str, sentence: str
) -> None:
    (question,) = checked(starter, tmp_path, body).questions
    (told,) = (check.message for check in question.checks if is_known(check))
    assert told.endswith(sentence)


@pytest.mark.parametrize("body", ["x + 1.001", "x.double() + 1", "x + 1 if x.sum() > 1e9 else x"])
def test_another_mistake_opens_nothing(starter: Path, tmp_path: Path, body: str) -> None:
    (question,) = checked(starter, tmp_path, body).questions
    assert question.score < question.max_score
    assert not any(is_known(check) for check in question.checks)


def test_a_terminal_shows_what_each_check_earned(tmp_path: Path) -> None:
    priced = made_with(tmp_path, MISTAKES.replace("multiply by 2.", "multiply by 2.\n# earns: 0.5"))
    report = checked(priced, tmp_path, "torch.add(x, 1)")
    out = io.StringIO()
    StudentView(Console(file=out, width=999), {}).report(report)
    (question,) = report.questions
    earned = re.findall(r"◐ (\w+): .*That earns (\S+) of \S+ points", out.getvalue())
    partly = [check for check in question.checks if check.status is Status.PARTIAL]
    earned += re.findall(r"(\w+) (\S+) / \S+: in full once values passes", out.getvalue())
    assert len(partly) > 1
    assert dict(earned) == {check.id: f"{check.score:g}" for check in partly}


def test_nothing_of_it_can_be_read_in_the_starter(starter: Path) -> None:
    text = (starter / CASES_FILE).read_text()
    assert not any(word in text for word in ("added", "multiply", "adds_one", "in_place"))
    (sealed,) = read_public(starter).mistakes.values()
    assert len(sealed) == 2


def test_another_sentence_is_drift(starter: Path) -> None:
    root = starter.parents[1]
    mistakes = root / "reference/toy_two/mistakes.py"
    mistakes.write_text(MISTAKES.replace("You changed x itself.", "Leave x alone."))
    changed = load_materials(root / "assignments/toy_two/assignment.yml")
    mistakes.write_text(MISTAKES)
    (problem,) = check_public(changed)
    assert "was made from other files" in str(problem)
    assert check_public(load_materials(root / "assignments/toy_two/assignment.yml")) == []


def test_a_starter_made_before_there_were_any_is_read(starter: Path, tmp_path: Path) -> None:
    for file in starter.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    cases = tmp_path / CASES_FILE
    document = json.loads(cases.read_text())
    assert document.pop("mistakes")
    cases.write_text(json.dumps(document))
    assert read_public(tmp_path).mistakes == {}


def run(says: str, *results: Observation, telling: bool = True) -> MistakeRun:
    known = KnownMistake("known", 1, ("f",), frozenset({"f"}), "", {"en": says})
    return MistakeRun(known, {f"case{i}": item for i, item in enumerate(results)}, telling)


def opened(sealed: list[str], *results: Observation) -> str:
    known = SealedMistakes({"f": sealed})
    says = known.says("f", {f"case{i}": item for i, item in enumerate(results)})
    return says.get("en", "")


@pytest.mark.parametrize(
    ("made", "did", "opens"),
    [
        (tensor(X), tensor(X), True),
        (tensor(X), tensor(X * 1.01), False),
        (tensor(X), tensor(X, "float64"), False),
        (tensor(X), tensor(X.reshape(3, 4)), False),
        (tensor(np.arange(6.0) / 2), tensor(np.arange(6.0) / 2 * (1 + 1e-6)), True),
        (tensor([0.0, 0.0]), tensor([0.0, -0.0]), True),
        (tensor([1.0, np.nan]), tensor([np.nan, 1.0]), False),
        (tensor([1, 2], "int64"), tensor([1, 3], "int64"), False),
        ({"a": 1.5, "b": (2,)}, {"b": (2,), "a": 1.5 + 1e-12}, True),
        ((1,), [1], False),
        (True, 1, False),
    ],
)
def test_results_that_open(made: Value, did: Value, opens: bool) -> None:
    sealed = seal("f", [run("So.", seen(1), seen(made))])
    assert opened(sealed, seen(1), seen(did)) == ("So." if opens else "")


def test_what_a_call_did_to_its_arguments_opens_where_only_a_self_check_tells_it() -> None:
    """A check of where the result lies asks for the arguments; mistakes run without such checks."""
    told = seen(tensor(X), args_after=(tensor(X),))
    assert opened(seal("f", [run("So.", seen(tensor(X)))]), told) == "So."
    otherwise = seen(tensor(X), args_after=(tensor(X + 1),))
    assert opened(seal("f", [run("So.", otherwise)]), told) == ""


def test_rounding_opens_always() -> None:
    dice = np.random.Generator(np.random.PCG64(5))
    opens = 0
    for _ in range(200):
        value = tensor(dice.standard_normal((10, 10)))
        assert isinstance(value, Tensor)
        near = to_numpy(value) * (1 + 1e-7 * dice.standard_normal((10, 10)))
        sealed = seal("f", [run("So.", seen(value))])
        opens += opened(sealed, seen(tensor(near))) == "So."
    assert opens == 200


def test_what_tells_too_little_is_left_out() -> None:
    assert seal("f", [run("One.", seen(3), telling=False)]) == []
    assert seal("f", [run("One.", ended(Outcome.TIMED_OUT))]) == []


def test_of_two_that_no_public_case_tells_apart_both_are_said() -> None:
    one, other, third = (run(f"{name}.", seen(3)) for name in ("One", "Other", "Third"))
    assert opened(seal("f", [one, one]), seen(3)) == "One."
    assert opened(seal("f", [other, one]), seen(3)) == "One of two things: One. Or: Other."
    # Of three nobody would read which it was.
    assert opened(seal("f", [one, other, third]), seen(3)) == ""


def test_the_sentences_of_one_question_do_not_open_in_another() -> None:
    assert opened(seal("g", [run("One.", seen(3))]), seen(3)) == ""


def test_a_damaged_text_opens_nothing() -> None:
    (sealed,) = seal("f", [run("One.", seen(3))])
    assert opened(["\N{SNOWMAN}", "", sealed[:-5]], seen(3)) == ""


def test_a_mistake_that_no_public_case_shows_is_not_sealed(tmp_path: Path, starter: Path) -> None:
    """It would open with right results, and be told to whoever has them."""
    new_assignment("toy_two", tmp_path)
    (tmp_path / "reference/toy_two/mistakes.py").write_text(MISTAKES + UNSEEN)
    materials = load_materials(tmp_path / "assignments/toy_two/assignment.yml")
    made = make_public(materials, toy_starter.lent()).public
    assert len(made.mistakes["double"]) == len(read_public(starter).mistakes["double"]) == 2
