from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
import safetensors.numpy
import toy_starter

from grader.authoring.starter import check_public
from grader.checks.arrays import to_numpy
from grader.errors import UsageError
from grader.selfcheck.files import read_public
from grader.selfcheck.folder import CASES_FILE, TENSORS_FILE
from grader.selfcheck.public import blank, public_part, public_runs
from grader.wire.values import Tensor

ROOT = Path(__file__).parents[3]


def test_nothing_hidden_and_no_solution_leaves_the_house() -> None:
    folder, *_ = toy_starter.made()
    everything = b"".join(path.read_bytes() for path in folder.iterdir()).decode("latin-1")
    for secret in (
        "31337",
        "kept_back",
        "unseen",
        "x + x",
        "x.sum()",
        "count_hidden",
        "tricky",
    ):
        if secret != "unseen":
            assert secret not in everything, secret
    assert "unseen" not in (folder / CASES_FILE).read_text()
    assert "def secret_cases" not in everything


STUBS = {"README.md", "toy.ipynb", "toy.py"}
"""Files for whoever writes the functions; these name every one, of hidden questions too."""
READ_BACK = "as a self-check reads it"
WHERE = {
    "a visible case": (b"example", {CASES_FILE, TENSORS_FILE, "toy.ipynb", READ_BACK}),
    "a right number of a visible case": (struct.pack("<f", 8.0), {TENSORS_FILE}),
    "a visible question": (b"Twice as much", {CASES_FILE, "toy.ipynb", READ_BACK}),
    "a hint": (b"Add it to itself.", {CASES_FILE, "toy.py", READ_BACK}),
    "a visible scenario": (b"def count(n)", {CASES_FILE, READ_BACK}),
    "a check of hidden cases alone": (b"surprise", {CASES_FILE, READ_BACK}),
    "a hidden case": (b"kept_back", set()),
    "an input of a hidden case, as text": (b"31337", set()),
    "an input of a hidden case, as bytes": (struct.pack("<q", 31337), set()),
    "a right number of a hidden case": (struct.pack("<q", 62674), set()),
    "a case with a hidden scenario": (b"tricky", set()),
    "a hidden scenario": (b"count_hidden", set()),
    "a generator of inputs": (b"def secret_cases", set()),
    "the name of a hidden question": (b"unseen", STUBS),
    "the title of a hidden question": (b"Only when graded", {"toy.ipynb"}),
    "a solution": (b"return x + x", set()),
    "another solution": (b"x.sum()", set()),
    "an operation of the reference": (b"aten::sum", set()),
}
"""What an author wrote → by which bytes it is found, and in which of a student's files it is."""


@pytest.mark.parametrize("thing", WHERE)
def test_a_student_finds_what_is_public_in_its_files_and_what_is_hidden_in_none(
    thing: str,
) -> None:
    folder = toy_starter.made()[0]
    contents = {path.name: path.read_bytes() for path in folder.iterdir()}
    contents[READ_BACK] = repr(read_public(folder)).encode()
    word, where = WHERE[thing]
    assert {name for name, content in contents.items() if word in content} == where


def test_a_check_of_hidden_cases_keeps_its_points_and_judges_nothing() -> None:
    _, materials, _ = toy_starter.made()
    double, mean, counter = public_part(materials.assignment).questions
    assert [check.cases for check in double.checks] == [None, None, ()]
    assert (double.points, mean.points, counter.points) == (4, 4, 2)
    assert [case.id for case in double.cases] == ["example", "drawn"]


def test_reading_gives_what_was_written() -> None:
    folder, _, made = toy_starter.made()
    public, written = read_public(folder), made.public
    assert public.assignment == written.assignment
    assert public.plan == written.plan
    assert public.hints == {"double": "Add it to itself."}
    example = public.reference["double"].observations["example"]
    assert example.claims.value == written.reference["double"].observations["example"].claims.value


def test_the_files_hold_what_was_let_through_and_nothing_else() -> None:
    folder, _, made = toy_starter.made()
    read = read_public(folder)
    assert read.reference == made.public.reference
    # What is let through passes once more as it is: there is nothing left to take out.
    assert public_runs(read.plan, read.reference) == read.reference


def test_cases_with_a_hidden_scenario_stay_behind_and_are_named() -> None:
    assert toy_starter.made()[2].left_out == {("Counter", "tricky"): "its scenario is hidden"}


def test_numbers_that_no_check_looks_at_are_left_out() -> None:
    public = read_public(toy_starter.made()[0])
    value = public.reference["mean_of"].observations["large"].claims.value
    assert isinstance(value, Tensor)
    assert to_numpy(value) == 0
    assert blank([1.5, Tensor("uint8", (2,), b"ab")]) == [1.5, Tensor("uint8", (2,), b"\0\0")]


def test_which_operations_the_reference_used_is_not_told() -> None:
    counted = read_public(toy_starter.made()[0]).reference["mean_of"].observations["made#1"].counted
    assert set(counted) == {"", "N"}
    counts = counted["N"].claims.probes["counting"]
    assert isinstance(counts, dict)
    assert counts["greatest"]
    assert (counts["ops"], counts["calls"], counts["lines"]) == ({}, {}, [])


def test_the_tensors_can_be_looked_at() -> None:
    arrays = safetensors.numpy.load_file(toy_starter.made()[0] / TENSORS_FILE)
    assert arrays["double/example/0"].tolist() == [[2, 4], [6, 8]]


def test_cases_that_were_not_kept_are_left_to_grading(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    document = json.loads((folder / CASES_FILE).read_text())
    for key in ("drawn#1", "drawn#2"):
        del document["questions"]["double"]["cases"][key]
    del document["questions"]["mean_of"]
    _edit(folder, **document)
    (double, counter) = read_public(folder).plan
    assert [case.key for case in double.cases] == ["example"]
    assert counter.question.id == "Counter"


def _edit(folder: Path, **change: object) -> None:
    path = folder / CASES_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | change))


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda f: (f / TENSORS_FILE).unlink(), "cannot be read: No such file"),
        (lambda f: (f / TENSORS_FILE).write_bytes(b""), "does not belong to"),
        (lambda f: (f / CASES_FILE).write_text("{"), "is damaged"),
        (lambda f: (f / CASES_FILE).write_text("[]"), "is of version “None”"),
        (lambda f: _edit(f, schema="torchgrade/public-cases/v9"), "public-cases/v9”, and this"),
        (lambda f: _edit(f, seed=1, blobs=[]), "is damaged"),
        (
            lambda f: _edit(f, questions={"double": {"entry": "x", "cases": {"a": {}}}}),
            "damaged: it has no “digest”.",
        ),
        (
            lambda f: _edit(f, assignment={"id": "x"}),
            "does not fit this torchgrade: assignment.schema: Field required.",
        ),
    ],
)
def test_damage_is_named_with_its_remedy(break_it: object, said: str, tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    break_it(folder)  # type: ignore[operator]
    with pytest.raises(UsageError, match="tarter's files again") as error:
        read_public(folder)
    assert said in str(error.value)
    assert "Error(" not in str(error.value)


def test_inputs_that_come_out_differently_are_noticed(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    document = json.loads((folder / CASES_FILE).read_text())
    document["questions"]["double"]["cases"]["drawn#2"]["digest"] = "0" * 64
    _edit(folder, **document)
    with pytest.raises(UsageError, match="The inputs of double, case drawn#2, come out"):
        read_public(folder)


@pytest.mark.parametrize("name", ["pytorch101", "knn"])
def test_starters_are_small(name: str) -> None:
    files = [path for path in (ROOT / "starter" / name).iterdir() if path.is_file()]
    assert sum(path.stat().st_size for path in files if path.name != "handout.ko.md") < 400_000
    # Prose in a second language, on top.
    assert sum(path.stat().st_size for path in files if path.name == "handout.ko.md") < 12_000


def test_drift_is_told_by_what_the_cases_were_made_from(tmp_path: Path, lent: None) -> None:
    materials = toy_starter.author(tmp_path)
    (tmp_path / "starter").mkdir()
    toy_starter.starter(tmp_path / "starter/toy")
    _edit(tmp_path / "starter/toy", made_from=materials.digest)
    assert check_public(materials) == []
    _edit(tmp_path / "starter/toy", made_from="0" * 64)
    (problem,) = check_public(materials)
    assert "made from other files" in problem.text


def test_a_reference_that_fails_its_own_public_cases_is_drift(tmp_path: Path, lent: None) -> None:
    materials = toy_starter.author(tmp_path)
    (tmp_path / "starter").mkdir()
    folder = toy_starter.starter(tmp_path / "starter/toy")
    _edit(folder, made_from=materials.digest)
    module = materials.reference_folder / "toy.py"
    module.write_text(toy_starter.REFERENCE.replace("x + x", "x + x + 1"))
    problems = check_public(materials)
    assert {problem.where for problem in problems} >= {"double.values"}


def test_a_reference_that_another_processor_refutes_is_told(tmp_path: Path) -> None:
    materials = toy_starter.author(tmp_path)
    (tmp_path / "starter").mkdir()
    folder = toy_starter.starter(tmp_path / "starter/toy")
    _edit(folder, made_from=materials.digest)
    plain = 'x + x + (torch.backends.cpu.get_cpu_capability() == "DEFAULT")'
    module = materials.reference_folder / "toy.py"
    module.write_text(toy_starter.REFERENCE.replace("x + x", plain))
    problems = check_public(materials)
    assert [problem.where for problem in problems] == ["double.values"]
    assert "from one processor to another: allow for it (kind: close)" in problems[0].text


def test_a_starter_from_when_questions_noted_that_they_write_files_is_read(tmp_path: Path) -> None:
    folder, _, made = toy_starter.made()
    for file in folder.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    cases = tmp_path / CASES_FILE
    document = json.loads(cases.read_text())
    document["assignment"]["questions"][0]["needs"] = {"scratch": True}
    cases.write_text(json.dumps(document))
    assert read_public(tmp_path).assignment == made.public.assignment
