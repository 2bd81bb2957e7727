"""Lint names what an assignment draws or says and no check looks at, and is silent elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy_starter
from faults import no_faults

from grader.authoring.oversights import odd_stand_ins, unchecked_rules, unjudged_dtypes
from grader.grading import Grader, Options
from grader.run.materials import Materials, load_materials

ROOT = Path(__file__).parents[3]
SPEC = """\
schema: torchgrade/assignment/v1
id: toy
version: "1"
title: Toy
hand_in: [toy.py]
questions:
  - id: double
    title: Twice
    points: 4
    cases:
      - {id: wide, dims: {N: [2, 4]}, CALLED: {x: {randn: [N], dtype: float64}}}
      - {id: narrow, CALLED: {x: {randn: [3]}}}SCENARIO
    checks:
CHECKS"""
VALUES = "      - {id: values, kind: close, rtol: 1e-4, atol: 1e-4, points: 2, cases: [CASES]}\n"
DTYPE = "      - {id: dtype, kind: dtype, points: 2}\n"
LOOPS = (
    "      - {id: rule, kind: loops, mode: MODE, points: 2, cases: [wide], requires: [values]}\n"
)
OPS = "      - {id: rule, kind: forbidden_ops, calls: [add], points: 2, cases: [wide]}\n"


def course(
    root: Path,
    checks: str,
    rule: str = "Twice x.",
    *,
    scenario: str = "",
    function: str = "double(x)",
    called: str = "args",
) -> Materials:
    through = "\n      - {id: played, scenario: play, args: {x: {randn: [3]}}}" if scenario else ""
    spec = SPEC.replace("CHECKS", checks).replace("SCENARIO", through).replace("CALLED", called)
    reference = f'def {function}:\n    """{rule}"""\n    return 2 * x\n'
    files = {
        "assignments/toy/assignment.yml": spec,
        "reference/toy/toy.py": reference,
        **({"assignments/toy/scenario.py": scenario} if scenario else {}),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return load_materials(root / "assignments/toy/assignment.yml")


def values(*cases: str) -> str:
    return VALUES.replace("CASES", ", ".join(cases))


def dtypes(materials: Materials) -> list[tuple[str, str]]:
    with toy_starter.lent() as sandbox:
        grader = Grader(materials, sandbox, Options(1))
        grader.prepare()
        return list(unjudged_dtypes(grader.plan))


@pytest.mark.parametrize("called", ["args", "kwargs"])
def test_a_dtype_that_only_its_form_is_judged_of_is_told(tmp_path: Path, called: str) -> None:
    ((where, text),) = dtypes(course(tmp_path, values("wide") + DTYPE, called=called))
    assert where == "double"
    assert "compares values in float32, which only narrow draws" in text


@pytest.mark.parametrize(
    "checks",
    [
        values("wide", "narrow") + DTYPE,
        values("wide") + DTYPE.replace("dtype, kind: dtype", "more, kind: exact"),
        # Nothing is compared at all: that is another question's business.
        DTYPE.replace("points: 2", "points: 4"),
    ],
)
def test_a_dtype_with_values_is_not(tmp_path: Path, checks: str) -> None:
    assert dtypes(course(tmp_path, checks)) == []


BOTH = values("wide", "narrow")
FORM = "".join(
    f"      - {{id: {name}, kind: {name}, points: 1}}\n"
    for name in ("dtype", "shape", "unmodified")
)
PROMISES = [
    ("No loops.", "kind loops, mode: none"),
    ("Work without any loop, please.", "kind loops, mode: none"),
    ("반복문 없이 쓰세요.", "kind loops, mode: none"),
    ("Write one loop.", "mode: required or exactly"),
    ("Not allowed: ``add``.", "kind forbidden_ops"),
    ("``x.add`` is forbidden.", "kind forbidden_ops"),
    ("A second loop is not allowed.", "kind loops"),
    ("That rule is worth half of the points.", "are worth 1 of 4 points"),
]


@pytest.mark.parametrize(("rule", "lacks"), PROMISES)
def test_a_rule_without_a_check_is_told(tmp_path: Path, rule: str, lacks: str) -> None:
    checks = BOTH.replace("points: 2", "points: 1") + FORM
    ((where, text),) = unchecked_rules(course(tmp_path, checks, rule))
    assert where == "double"
    assert lacks in text


@pytest.mark.parametrize(
    ("rule", "check"),
    [
        ("No loops. That rule is worth half of the points.", LOOPS.replace("MODE", "none")),
        ("Write one loop: worth half of the points.", LOOPS.replace("MODE", "required")),
        ("Not allowed: ``add``. That is half of the points.", OPS),
        ("A second loop is not allowed.", LOOPS.replace("MODE", "none")),
        ("Loops are allowed.", DTYPE),
        ("A loop over x is allowed.", DTYPE),
        ("You need no loop.", DTYPE),
        ("No loop is needed.", DTYPE),
        ("A key that nobody is allowed to see.", DTYPE),
        ("Half of the numbers are zero, without a pattern.", DTYPE),
        ("Twice x.\n\n    Hint:\n        It is done with no loops.\n    ", DTYPE),
    ],
)
def test_a_rule_with_its_check_and_what_is_no_rule_are_not(
    tmp_path: Path, rule: str, check: str
) -> None:
    assert list(unchecked_rules(course(tmp_path, BOTH + check, rule))) == []


def test_what_a_scenario_may_judge_is_not(tmp_path: Path) -> None:
    materials = course(tmp_path, BOTH + DTYPE, "No loops.", scenario="def play(x):\n    return x\n")
    assert list(unchecked_rules(materials)) == []


FUNCTION = "double(x: int, k: int = 1)"
PLAY = """\
from grader.scenario_process import actor, callback

NAMES = ("double",)


def play(x):
    def body(PARAMETERS):
        return x

    SET
    return actor.call("double", x)
"""
SET = 'actor.set_attr(actor.module, "double", callback(BODY, most=9))'


def stand_ins(tmp_path: Path, parameters: str, put: str = SET.replace("BODY", "body")) -> list[str]:
    scenario = PLAY.replace("PARAMETERS", parameters).replace("SET", put)
    materials = course(tmp_path, BOTH + DTYPE, scenario=scenario, function=FUNCTION)
    return [f"{where}: {text}" for where, text in odd_stand_ins(materials)]


LOOP = "for name in NAMES:\n        " + SET.replace('"double"', "name").replace("BODY", "body")


@pytest.mark.parametrize(
    ("parameters", "put"),
    [
        ("rows, k=1", SET.replace("BODY", "body")),
        ("x, k", SET.replace("BODY", "body")),
        ("k=1, x=None", SET.replace("BODY", "body")),
        ("x", SET.replace("BODY", "body")),
        ("*args", SET.replace("BODY", "body")),
        ("x, k=1, /", SET.replace("BODY", "body")),
        ("x, k, more", SET.replace("BODY", "body")),
        ("rows, k=1", LOOP),
        ("x, k=1", SET.replace("BODY", "lambda rows, k=1: rows")),
    ],
)
def test_a_stand_in_that_a_right_call_does_not_fit_is_told(
    tmp_path: Path, parameters: str, put: str
) -> None:
    (text,) = stand_ins(tmp_path, parameters, put)
    assert "scenario.py:" in text
    assert "the stand-in for double" in text
    assert "the handout's (x, k=1)" in text


@pytest.mark.parametrize(
    ("parameters", "put"),
    [
        ("x, k=1", SET.replace("BODY", "body")),
        ("x, k=5, **more", SET.replace("BODY", "body")),
        ("*args, **kwargs", SET.replace("BODY", "body")),
        ("x, k=1", LOOP),
        ("rows", 'actor.set_attr(actor.module, "another", callback(body, most=9))'),
        ("rows", 'actor.set_attr(actor.module, "double", 3)'),
        ("rows", 'name = "double"\n    ' + LOOP.split("\n        ")[1]),
    ],
)
def test_one_that_fits_or_that_no_text_shows_is_not(
    tmp_path: Path, parameters: str, put: str
) -> None:
    assert stand_ins(tmp_path, parameters, put) == []


def _oversights(file: Path) -> list[str]:
    materials = load_materials(file)
    return [": ".join(each) for each in (*unchecked_rules(materials), *odd_stand_ins(materials))]


def test_the_assignments_here_keep_what_they_say() -> None:
    files = {path.parent.name: path for path in ROOT.glob("assignments/*/assignment.yml")}
    no_faults(files, _oversights, "check what the text says, or do not say it")
