"""assignment.yml → Assignment: the forms that are read, and the words on each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.assignment.load import load_assignment
from grader.assignment.types import Assignment, Case, Computed, FixedTensor, RandomTensor, TupleOf
from grader.checks import KINDS as KNOWN
from grader.errors import AssignmentError, UsageError

KINDS = ", ".join(KNOWN)
TEXT = """\
schema: torchgrade/assignment/v1
id: demo
version: "1"
title: Demo
hand_in: [demo.py]
questions:
  - id: add
    title: Add
    points: 3
    visibility: hidden
    cases:
      - id: first
        dims: {N: [2, 4], M: 3}
        args:
          x: {randn: [N, M]}
          y: {ones: [N]}
      - id: second
        args: {x: 1, y: 2.0}
    checks:
      - {id: value, kind: close, points: 2, rtol: 1e-5, atol: 0}
      - {id: shape, kind: shape, points: 1, cases: [first], requires: [value]}
"""


def load(folder: Path, text: str) -> Assignment:
    file = folder / "assignment.yml"
    file.write_text(text)
    return load_assignment(file)


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(AssignmentError) as caught:
        load(folder, text)
    prefix = f"{folder / 'assignment.yml'}:"
    assert all(str(problem).startswith(prefix) for problem in caught.value.problems)
    return [str(problem).removeprefix(prefix) for problem in caught.value.problems]


def test_a_folder_or_its_file(tmp_path: Path) -> None:
    assignment = load(tmp_path, TEXT)
    assert load_assignment(tmp_path) == assignment
    assert (assignment.id, assignment.points) == ("demo", 3)


def test_types_are_kept_as_written(tmp_path: Path) -> None:
    forms = """{a: true, b: 1, c: 1.0, d: null, e: "1", f: [1, [2.0]], g: {tuple: [1, false]},
               h: {value: "2*N"}, i: {randn: [2, N]}, j: {tensor: [[1, 2]]}}"""
    text = TEXT.replace("{x: 1, y: 2.0}", forms + "\n        dims: {N: 2}")
    args = load(tmp_path, text).questions[0].cases[1].args
    expected = {
        "a": True, "b": 1, "c": 1.0, "d": None, "e": "1", "f": [1, [2.0]],
        "g": TupleOf(tuple=[1, False]), "h": Computed(value="2*N"),
        "i": RandomTensor(randn=(2, "N")), "j": FixedTensor(tensor=[[1, 2]]),
    }  # fmt: skip
    assert args == expected
    assert {name: type(value) for name, value in args.items()} == {
        name: type(value) for name, value in expected.items()
    }


ARGS = "args: {x: 1, y: 2.0}"
SHORT = {
    "@x": "18: questions[0].cases[1].args.x",
    "@a": "questions[0].cases[0].args",
    "@d": "questions[0].cases[0].dims",
    "@checks": "questions[0].checks",
    "@": "questions[0]",
}
"""Places of the text above, so that a mistake and its words fit on a line."""


def argument(form: str) -> tuple[str, str]:
    return ARGS, f"args: {{x: {form}}}"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        # keys
        ("title: Add", "titel: Add", "8: @.titel: unknown key “titel”; did you mean “title”?"),
        ("title: Demo", "zzz: Demo",
         "1: title: is missing\n"
         "4: zzz: unknown key “zzz”; expected one of schema, id, version, title, hand_in, support,"
         " modules, given, limits, partial, slip, right_cases, questions"),
        ("    title: Add\n", "", "7: @.title: is missing"),
        ("rtol: 1e-5, ", "", "20: @checks[0].rtol: is missing"),
        ("rtol: 1e-5", "rtoll: 1e-5",
         "20: @checks[0].rtoll: unknown key “rtoll”; did you mean “rtol”?"),
        ("kind: shape", "kind: shape, rtol: 1",
         "21: @checks[1].rtol: unknown key “rtol”; expected one of id, points, cases,"
         " requires, visibility, item, claim, bonus, diagnostic, message, hint, kind"),
        # words
        ("kind: close", "kind: closse",
         f"20: @checks[0]: unknown check kind “closse”; expected one of {KINDS};"
         " did you mean “close”?"),
        ("kind: close", "kind: 3",
         f"20: @checks[0]: found the number 3; expected one of {KINDS}"),
        ("kind: shape", "knd: shape",
         f"21: @checks[1]: “kind” is missing; expected one of {KINDS}; “knd” looks like it"),
        ("kind: shape, ", "",
         f"21: @checks[1]: “kind” is missing; expected one of {KINDS}"),
        ("visibility: hidden", "visibility: hiden",
         "10: @.visibility: unknown word “hiden”; expected one of visible, hidden,"
         " after_due_date, after_published; did you mean “hidden”?"),
        ("visibility: hidden", "visibility: true",
         "10: @.visibility: found the boolean true; expected one of visible, hidden,"
         " after_due_date, after_published"),
        ("assignment/v1", "assignment/v9",
         "1: schema: unknown word “torchgrade/assignment/v9”; expected one of"
         " torchgrade/assignment/v1; did you mean “torchgrade/assignment/v1”?"),
        # types
        ("id: add", "id: true",
         '7: @.id: found the boolean true; expected text; put it in quotes: "true"'),
        ('version: "1"', "version: 1.0",
         '3: version: found the number 1.0; expected text; put it in quotes: "1.0"'),
        ("title: Demo", "title:", "4: title: found nothing; expected text"),
        ("title: Demo", 'title: ""',
         "4: title: found the text “”; expected text that is not empty"),
        ("id: add", "id: 2add",
         "7: @.id: found the text “2add”; expected a name: a letter or _, then at most"
         " 63 letters, digits, “_”, “-” and “.”"),
        ("{x: 1, ", "{a b: 1, ",
         "18: @.cases[1].args.a b: found the text “a b”; expected a name: a letter or _,"
         " then at most 63 letters, digits, “_”, “-” and “.”"),
        ("points: 3", 'points: "3"',
         "9: @.points: found the text “3”; expected a number; remove the quotes"),
        ("points: 3", "points: true", "9: @.points: found the boolean true; expected a number"),
        ("points: 3", "points: -3", "9: @.points: found the number -3; expected at least 0.0"),
        ("points: 3", "points: .inf",
         "9: @.points: found the number inf; expected a finite number"),
        ("visibility: hidden", "needs: {loopback: yes}",
         "10: @.needs.loopback: found the text “yes”; expected true or false; write true"),
        ("visibility: hidden", "needs: {loopback: off}",
         "10: @.needs.loopback: found the text “off”; expected true or false; write false"),
        ("visibility: hidden", "needs: {loopback: 1}",
         "10: @.needs.loopback: found the number 1; expected true or false"),
        ("visibility: hidden", "needs: {cuda: 1.5}",
         "10: @.needs.cuda: found the number 1.5; expected a whole number"),
        ("visibility: hidden", "needs: {cuda: 65}",
         "10: @.needs.cuda: found the number 65; expected at most 64"),
        ("visibility: hidden", "needs: {scratch: true}",
         "10: @.needs.scratch: “scratch” is gone; remove it: every student process has a "
         "folder for files"),
        ("visibility: hidden", "limits: {second: 1}",
         "10: @.limits.second: unknown key “second”; did you mean “seconds”?"),
        ("visibility: hidden", "limits: {seconds: 0}",
         "10: @.limits.seconds: found the number 0; expected more than 0.0"),
        ("visibility: hidden", "limits: fast",
         "10: @.limits: found the text “fast”; expected a mapping of “key: value”"),
        ("visibility: hidden", "timed: {case: first, lop: g}",
         "10: @.timed.lop: unknown key “lop”; did you mean “loop”?"),
        ("kind: shape,", "kind: vectorised, credit: {stepz: []},",
         "21: @checks[1].credit.stepz: unknown key “stepz”; did you mean “steps”?"),
        ("kind: shape,", "kind: vectorised, credit: {steps: [{within: 1, credt: 1}]},",
         "21: @checks[1].credit.steps[0].credt: unknown key “credt”; did you mean “credit”?"),
        ("kind: shape,",
         "kind: vectorised, credit: {linear: [{at: 1, credit: 1}, {at: -2, credit: 0}]},",
         "21: @checks[1].credit.linear[1].at: found the number -2; expected at least 0.0"),
        ("kind: shape,", "kind: vectorised, credit: half,",
         "21: @checks[1].credit: found the text “half”; expected {steps: [{within: …, credit: …}]}"
         " or {linear: [{at: …, credit: …}, …]}"),
        ("hand_in: [demo.py]", "hand_in: demo.py",
         "5: hand_in: found the text “demo.py”; expected a list; write [demo.py]"),
        ("hand_in: [demo.py]", "hand_in: []",
         "5: hand_in: found a list of 0; expected a list of at least 1"),
        ("hand_in: [demo.py]", "hand_in: {}",
         "5: hand_in: found an empty mapping; expected a list"),
        ("hand_in: [demo.py]", "hand_in: [../demo.py]",
         "5: hand_in[0]: “../demo.py” is not a path inside the folder"),
        ("title: Demo", "title: " + "x" * 130,
         f"4: title: found the text “{'x' * 60}”; expected text of at most"
         " this many characters: 120"),
        # dims
        ("N: [2, 4]", "N: [4, 2]",
         "13: @d.N: low 4 is greater than high 2; write [2, 4]"),
        ("N: [2, 4]", "N: [2]", "13: @d.N[1]: is missing; the list has 1 items"),
        ("N: [2, 4]", "N: [2, 3, 4]",
         "13: @d.N: found a list of 3; expected a list of at most 2"),
        ("N: [2, 4]", "N: -1", "13: @d.N: found the number -1; expected at least 0"),
        ("N: [2, 4]", "N: {choise: [1]}",
         "13: @d.N.choise: unknown key “choise”; did you mean “choice”?"),
        ("N: [2, 4]", "N: two",
         "13: @d.N: found the text “two”; expected a number, [low, high],"
         " or {choice: [2, 3, 5]}"),
        # arguments
        (*argument("{rndn: [2]}"),
         "@x.rndn: unknown key “rndn”; did you mean “randn”?"),
        (*argument("{shape: [2]}"),
         "@x: found a mapping with shape; expected a number, text,"
         " list, or one of {randn, rand, integers, permutation, tensor, zeros, ones, arange, value,"
         " tuple: …}"),
        (*argument("{randn: [2], rand: [2]}"),
         "@x: found “randn” and “rand”; expected exactly one of"
         " randn, rand, integers, permutation"),
        (*argument("{randn: [2], zeros: [2]}"),
         "@x.zeros: found randn and zeros together; keep the one"
         " that is meant"),
        (*argument("{randn: ~}"),
         "@x: found none; expected exactly one of randn, rand,"
         " integers, permutation"),
        (*argument("{tensor: ~}"),
         "@x: found none; expected exactly one of tensor, zeros,"
         " ones, arange"),
        (*argument("{randn: [2.5]}"),
         "@x.randn[0]: found the number 2.5; expected a whole number"),
        (*argument("{randn: [2, -1]}"),
         "@x.randn[1]: found the size -1; a size is 0 or more"),
        (*argument("{randn: 2}"),
         "@x.randn: found the number 2; expected a list; write [2]"),
        (*argument("{randn: [2**9]}"),
         "@x.randn[0]: “2**9” is not a size such as 4, N or 2*N+1"),
        (*argument("{randn: [2], dtype: float}"),
         "@x.dtype: unknown dtype “float”; expected one of bool,"
         " uint8, uint16, uint32, uint64, int8, int16, int32, int64, bfloat16, float16, float32,"
         " float64; did you mean “float64”?"),
        (*argument("{randn: [2], dtype: torch.float32}"),
         "@x.dtype: unknown dtype “torch.float32”; expected one of"
         " bool, uint8, uint16, uint32, uint64, int8, int16, int32, int64, bfloat16, float16,"
         " float32, float64; did you mean “float32”?"),
        (*argument("{randn: [2], dtype: complex64}"),
         "@x.dtype: complex64 cannot be written here; make it in a"
         " generate function"),
        (*argument("{integers: [2], low: 5, high: 1}"),
         "@x: low 5 is greater than high 1"),
        (*argument("{integers: [2], low: -1, dtype: uint8}"),
         "@x: low -1 … high 9 is beyond the whole numbers that uint8"
         " holds exactly, 0 … 255"),
        (*argument("{integers: [2], high: 300, dtype: bfloat16}"),
         "@x: low 0 … high 300 is beyond the whole numbers that"
         " bfloat16 holds exactly, -256 … 256"),
        (*argument("{randn: [2], low: 1}"),
         "@x: “low” has no meaning with “randn”; remove it"),
        (*argument("{permutation: 3, scale: 2.0}"),
         "@x: “scale” has no meaning with “permutation”; remove it"),
        (*argument("{rand: [2], dtype: int64}"),
         "@x: rand draws real numbers, int64 cannot hold them"),
        (*argument("{zeros: [2], shape: [2]}"),
         "@x: “shape” has no meaning with “zeros”; remove it"),
        (*argument("{tensor: [[1], [2, 3]]}"),
         "@x: rows of different lengths; a tensor needs them equal"),
        (*argument("{tensor: [1, a]}"),
         "@x: expected numbers only, or booleans only"),
        (*argument("{tensor: [1, true]}"),
         "@x: expected numbers only, or booleans only"),
        (*argument("{tensor: [1.5], dtype: int64}"),
         "@x: 1.5 does not fit into int64 (-9223372036854775808 …"
         " 9223372036854775807)"),
        (*argument("{tensor: [.nan, 256], dtype: uint8}"),
         "@x: nan does not fit into uint8 (0 … 255)"),
        (*argument("{tensor: [[[[[[[[[1]]]]]]]]]}"),
         "@x: more than 8 lists inside one another"),
        (*argument("{randn: [1, 1, 1, 1, 1, 1, 1, 1, 1]}"),
         "@x.randn: found a list of 9; expected a list of at most 8"),
        (*argument("{arange: 6, shape: [4]}"),
         "@x: 6 elements do not fill the shape [4]"),
        (*argument("{permutation: 300, dtype: uint8}"),
         "@x: 0…299 do not fit into uint8"),
        (*argument("[{tuple: [{randn: [Q]}]}]"),
         "@x[0].tuple[0]: “Q” has no size under dims"),
        (*argument("{value: K+1}"), "@x: “K” has no size under dims"),
        (*argument("{integers: [2], high: K-1}"), "@x: “K” has no size under dims"),
        (*argument("{integers: [2], low: 3-1, high: 1}"), "@x: low 2 is greater than high 1"),
        (*argument("{arange: K, shape: [L, 2]}"),
         "@x: “K” has no size under dims\n"
         "@x: “L” has no size under dims"),
        ("x: {randn: [N, M]}", "x: {randn: [n, M]}",
         "15: @a.x: “n” has no size under dims; known are N, M"),
        ("dims: {N: [2, 4], M: 3}", "dims: {Nrows: [2, 4], M: 3, Ncol: 1}",
         "15: @a.x: “N” has no size under dims; known are Nrows, M, Ncol\n"
         "16: @a.y: “N” has no size under dims; known are Nrows, M, Ncol"),
        ("x: {randn: [N, M]}", "x: {randn: [N-3, M]}",
         "15: @a.x: the size “N-3” is -1 where M=3, N=2"),
        ("x: {randn: [N, M]}", "x: {randn: [M//(N-2)]}",
         "15: @a.x: “M//(N-2)” divides by zero where M=3, N=2"),
        ("x: {randn: [N, M]}", "x: {value: M//(N-2)}",
         "15: @a.x: “M//(N-2)” divides by zero where M=3, N=2"),
        ("x: {randn: [N, M]}", "x: {randn: [N*1000, 1000, 1000]}",
         "12: @.cases[0]: the inputs take up to 8000000008 bytes; the most is 1073741824"),
        # cases
        (ARGS, ARGS + "\n        generate: make",
         "17: @.cases[1]: found both “generate” and “args”; keep the one that is meant"),
        (ARGS, "kwargs: {x: 1}\n        generate: make",
         "17: @.cases[1]: found both “generate” and “kwargs”; keep the one that is meant"),
        (ARGS, "generate: make\n        dims: {seed: 1}",
         "19: @.cases[1].dims.seed: a generate function gets “seed” already; rename the dim"),
        (ARGS, ARGS + "\n        scenario: run",
         "19: @.cases[1].scenario: no scenario.py beside assignment.yml"),
        # what must agree
        ("points: 3", "points: 4",
         "9: @.points: found 4, but the points of its checks add up to 3"),
        ("id: second", "id: first",
         "17: @.cases[1].id: the case “first” is already cases[0]"),
        ("id: shape", "id: value",
         "21: @checks[1].id: the check “value” is already checks[0]"),
        ("cases: [first]", "cases: [frist]",
         "21: @checks[1].cases[0]: no case is called “frist”; did you mean “first”?"),
        ("cases: [first]", "cases: []",
         "21: @checks[1].cases: an empty list judges nothing; remove it to judge every case"),
        ("requires: [value]", "requires: [xyz]",
         "21: @checks[1].requires[0]: no check is called “xyz”; known are value, shape"),
        ("atol: 0", "atol: 0, requires: [shape]",
         "20: @checks[0].requires: “value” ends up requiring itself\n"
         "21: @checks[1].requires: “shape” ends up requiring itself"),
        ("atol: 0", "atol: 0, cases: [first]",
         "17: @.cases[1].id: no check judges the case “second”"),
        ("atol: 0", "atol: 0, claim: true",
         "20: @checks[0].claim: a claim earns points only beside values; name a check of values"
         " under “requires”"),
        ("title: Demo", "title: Demo\ngiven: [add]",
         "5: given[0]: “add” is a question; what the starter gives is not graded"),
        ("hand_in: [demo.py]", "hand_in: [demo.py, demo.py]",
         "5: hand_in[1]: the file “demo.py” is already hand_in[0]"),
        ("title: Demo", "title: Demo\nsupport: [demo.py]",
         "5: support[0]: “demo.py” is also under hand_in; keep one of the two\n"
         "5: support[0]: no file “demo.py” beside assignment.yml"),
        ("title: Demo", "title: Demo\nsupport: [assignment.yml]\nmodules:\n  no-name: own.py",
         "7: modules.no-name: “no-name” is no name of a module, such as torchvision.models\n"
         "7: modules.no-name: “own.py” is not under support, so no student process has it"),
        ("title: Demo", "title: Demo\nsupport: [assignment.yml]\nmodules: {a.b: assignment.yml}",
         "6: modules.a.b: “assignment.yml” is no Python file"),
        ("title: Demo", "title: Demo\nsupport: [assignment.yaml]",
         "5: support[0]: no file “assignment.yaml” beside assignment.yml; did you mean"
         " “assignment.yml”?"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert TEXT.count(old) >= 1
    found = "\n".join(problems(tmp_path, TEXT.replace(old, new, 1)))
    for sign, meant in SHORT.items():
        said = said.replace(sign, meant)
    assert found == said


def test_all_mistakes_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = TEXT.replace("Demo", "").replace("points: 3", "points: 4").replace("N, M", "N, Q")
    text = text.replace("rtol: 1e-5", "rtol: small")
    second = text[text.index("  - id: add") :].replace("rtol: small", "rtol: 1e-5")
    found = problems(tmp_path, text + second.replace("id: add", "id: add2"))
    assert [line.split(":")[0] for line in found] == ["4", "20", "24", "30"]
    # The first question's points are left alone: it could not be read.
    assert [line.split(": ")[1] for line in found] == [
        "title", "questions[0].checks[0].rtol", "questions[1].points",
        "questions[1].cases[0].args.x",
    ]  # fmt: skip


def test_a_repeated_question(tmp_path: Path) -> None:
    text = TEXT + TEXT[TEXT.index("  - id: add") :]
    assert problems(tmp_path, text) == [
        "22: questions[1].id: the question “add” is already questions[0]"
    ]


def test_what_aliases_repeat_is_said_once(tmp_path: Path) -> None:
    text = TEXT.replace("cases:\n", "cases: &cases\n").replace("N, M", "N, Q")
    text += (
        "  - {id: b, title: B, points: 1, cases: *cases,"
        " checks: [{id: a, kind: exact, points: 1}]}\n"
    )
    assert problems(tmp_path, text) == [
        "15: questions[0].cases[0].args.x: “Q” has no size under dims; known are N, M"
    ]


@pytest.mark.parametrize("text", ["[1]", "word", "schema: x\nquestions: 3"])
def test_what_is_no_assignment_at_all(tmp_path: Path, text: str) -> None:
    assert problems(tmp_path, text)


def test_yaml_and_encoding_mistakes_carry_the_file_too(tmp_path: Path) -> None:
    assert problems(tmp_path, "a:\n\tb: 1")[0].startswith("2: not valid YAML")


def test_the_id_is_the_folders(tmp_path: Path) -> None:
    folder = tmp_path / "assignments" / "dmeo"
    folder.mkdir(parents=True)
    assert problems(folder, TEXT) == ["2: id: found “demo” in a folder called “dmeo”; rename one"]


def test_a_scenario_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "scenario.py").write_text("")
    text = TEXT.replace(ARGS, ARGS + "\n        scenario: run")
    assert load(tmp_path, text).questions[0].cases[1].scenario == "run"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"assignment\.yml: cannot be read: No such file"):
        load_assignment(tmp_path)


def test_forms_may_be_built_in_python_too() -> None:
    form = RandomTensor(randn=(2, "N"))
    assert Case(id="one", args={"x": form, "y": [form]}).args == {"x": form, "y": [form]}


def test_helpers_of_the_types(tmp_path: Path) -> None:
    assignment = load(tmp_path, TEXT)
    question = assignment.questions[0]
    assert assignment.module == "demo.py"
    assert question.names == ("add",)
    assert assignment.limits_of(question) is assignment.limits


CHECKS = "      - {id: value, kind: close, points: 2, rtol: 1e-5, atol: 0}\n"


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ("kind: returns_input, argument: y", None),
        ("kind: returns_input, argument: 1", None),
        ("kind: product, factors: [x, z], cases: [first]",
         "the case “first” has no argument “z”; it has x, y"),
        ("kind: view_of, argument: 2", "the case “first” has no argument “2”; it has x, y"),
        ("kind: product, factors: [x, y], partial: true", "“partial” needs “requires”"),
        ("kind: product, factors: [x, 1.5]", "checks[0].factors[1]: found 1.5; expected the name"),
        ("kind: product, factors: [x]", "checks[0].factors"),
        ("kind: product, factors: [x, -1]", "checks[0].factors[1]: found -1; expected the name"),
        ("kind: type, type: integer", "unknown word “integer”; expected one of bool, int"),
    ],
)  # fmt: skip
def test_arguments_that_a_check_names_exist(tmp_path: Path, check: str, said: str | None) -> None:
    text = TEXT.replace(CHECKS, f"      - {{id: value, points: 2, {check}}}\n")
    if said is None:
        load(tmp_path, text)
    else:
        assert any(said in line for line in problems(tmp_path, text))
