"""Input, expected and returned values at a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import toy_starter
from observed import seen, tensor
from toy_starter import fill

from grader.checks.compare_trees import Leaf
from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.values import Place, _Blocks, _is_public, printed_lines
from grader.selfcheck.warm_sandbox import open_for_check
from grader.selfcheck.workplace import open_workplace

pytestmark = pytest.mark.xdist_group("toy")


@pytest.fixture
def check(tmp_path: Path, lent: None) -> Iterator[SelfCheck]:
    place = open_workplace(toy_starter.starter(tmp_path / "toy"))
    with SelfCheck(place, open_for_check()) as found:
        yield found


def lines(check: SelfCheck, name: str, body: str, of: str = "values") -> list[str]:
    fill(check.workplace.folder, name, body)
    report = check.check([name], on_result=lambda _: None)
    question = next(item for item in report.questions if item.id == name)
    return list(check.details(question).get(of, ()))


def test_small_tensors_stand_side_by_side_with_the_wrong_numbers_marked(check: SelfCheck) -> None:
    assert lines(check, "double", "    return x * torch.tensor([2.0, 3.0])") == [
        "x                expected         returned (* = wrong)",
        "float32 (2, 2)   float32 (2, 2)   float32 (2, 2)",
        "1 2              2 4               2   6*",
        "3 4              6 8               6  12*",
    ]


def test_of_large_tensors_it_tells_the_form_alone(check: SelfCheck) -> None:
    body = "    return x * 2 if x.dim() == 2 else torch.cat([x * 2, torch.zeros(100)])"
    found = lines(check, "double", body)
    assert any("float32 (10" in line for line in found[:2])
    assert "0 0 0" not in " ".join(found)
    assert max(map(len, found)) <= 72


def test_differences_beyond_six_digits_are_seen(check: SelfCheck) -> None:
    found = lines(check, "double", "    return x * 2 + 1e-6 * (x == 1)")
    assert "2.0000009" in " ".join(found)


def test_what_the_public_cases_do_not_hold_is_not_shown(check: SelfCheck) -> None:
    found = lines(check, "mean_of", "    return x.sum() / len(x) if len(x) != 5 else x", "shape")
    assert found[:1] == ["expected: float32 ()"]
    assert [line.split() for line in found[1:]][-1] == ["1"] * 10
    assert not any("0" in line.replace("float32", "") for line in found)


def test_an_exception_shows_the_line_of_the_file_and_the_input(check: SelfCheck) -> None:
    found = lines(check, "double", "    y = x.reshape(9)\n    return y")
    text = check.workplace.module("double").read_text().splitlines()
    number = next(n for n, line in enumerate(text, start=1) if "reshape(9)" in line)
    assert found[0] == f"{number} │ y = x.reshape(9)"
    assert found[1:] == ["x", "float32 (2, 2)", "1 2", "3 4"]


def test_what_a_question_printed_is_kept_and_bounded(check: SelfCheck) -> None:
    lines(check, "double", "    print('shape', tuple(x.shape))\n    return x")
    told = check.printed("double")
    assert told[:2] == ("Printed by the public cases:", "│ shape (2, 2)")
    assert check.printed("mean_of") == ()
    flood = printed_lines("\n".join("a" * 5000 for _ in range(40)) + "\x1b[31m")
    assert len(flood) == 7
    assert max(map(len, flood)) <= 74
    assert flood[-1].endswith("… and 35 more")


def test_beside_large_inputs_what_was_returned_stands_whole() -> None:
    blocks = _Blocks()
    for name in "abcdefg":
        blocks.add(name, tensor([[float(n)] * 6 for n in range(8)]))
    blocks.add("pair", [tensor([1.0]), tensor([2.0]), 3])
    blocks.add_result("expected", tensor([4.0, 5.0]))
    blocks.add_result("returned", tensor([6.0, 7.0]))
    found = list(blocks.lines())
    assert found[-3].endswith("expected       returned")
    assert found[-1].endswith("4 5            6 7")
    assert found[0] == "pair[2] = 3"
    assert {"pair[0]", "pair[1]", *"abcdefg"} <= {word for line in found for word in line.split()}
    assert len(found) <= 21


def test_a_list_that_is_returned_for_a_pair_is_shown_item_by_item(check: SelfCheck) -> None:
    found = lines(check, "double", "    return [x, x * 2]")
    assert found[0].split() == ["x", "expected", "returned[0]", "returned[1]"]


def test_an_argument_without_a_name_has_that_of_the_students_function(check: SelfCheck) -> None:
    # The inputs of this case come from the reference's file, so that the case names none.
    found = lines(check, "mean_of", "    return x.sum()")
    assert found[1].split()[:2] == ["x", "returned"]


def test_properties_show_what_their_case_is_made_from(check: SelfCheck) -> None:
    folder = check.workplace.folder
    text = (
        (folder / "toy.py")
        .read_text()
        .replace('raise NotImplementedError("Counter.add is not written yet")', "return n")
    )
    (folder / "toy.py").write_text(text)
    report = check.check(["Counter"], on_result=lambda _: None)
    question = next(item for item in report.questions if item.id == "Counter")
    assert check.details(question)["total"] == (
        "This case is made from:", "n = 3, expected = 6, returned = 3",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("looked_at", "item", "place", "public"),
    [
        # A check of the form of a whole result, whose numbers in one item are looked at.
        ("loss", None, "result[loss]", True),
        ("loss", None, "result[steps]", False),
        ("loss", None, "", False),
        ("log.loss", "log", "result[loss]", True),
        ("log.loss", "log", "result[loss][0]", True),
        ("1", None, "result[1]", True),
        ("1", None, "result[0]", False),
        (None, "log", "result[steps]", True),
    ],
)
def test_right_numbers_are_shown_where_the_starter_has_them(
    looked_at: str | None, item: str | None, place: str, public: bool
) -> None:
    planned = next(
        each for each in toy_starter.made()[2].public.plan if each.question.id == "double"
    )
    values, form, _ = planned.question.checks
    checks = (values.model_copy(update={"item": looked_at}), form.model_copy(update={"item": item}))
    question = planned.question.model_copy(update={"checks": checks})
    planned = replace(planned, question=question)
    where = Place(planned, checks[1], planned.cases[0], seen(1.0), seen(1.0))
    assert _is_public(where, Leaf(place, 1.0, 1.0) if place else None) is public
