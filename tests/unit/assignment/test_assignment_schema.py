"""The schema that editors use."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faults import no_faults
from jsonschema import Draft202012Validator

from grader.assignment.document import read_document
from grader.assignment.load import load_assignment
from grader.assignment.types import assignment_schema
from grader.errors import AssignmentError

ROOT = Path(__file__).parents[3]
FILES = {
    str(path.relative_to(ROOT)): path for path in sorted(ROOT.glob("assignments/*/assignment.yml"))
}
SMALL = {"cases": 1, "checks": 2}
VALIDATOR = Draft202012Validator(assignment_schema())


def document() -> Any:
    path = ROOT / "assignments" / "pytorch101" / "assignment.yml"
    data = copy.deepcopy(read_document(str(path), path.read_bytes()).data)
    # One case and two checks: the validator is slow, and real files are validated whole.
    wanted = "batched_matrix_multiply_loop"
    (question,) = (each for each in data["questions"] if each["id"] == wanted)
    data["questions"] = [question | {part: question[part][:n] for part, n in SMALL.items()}]
    return data


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(VALIDATOR.schema)
    assert VALIDATOR.schema["$id"] == "urn:torchgrade:assignment:v1"
    assert VALIDATOR.schema["title"]


def refused(file: Path) -> Iterator[str]:
    for error in VALIDATOR.iter_errors(read_document(str(file), file.read_bytes()).data):
        yield f"the schema refuses {'.'.join(map(str, error.absolute_path))}: {error.message}"
    try:
        load_assignment(file)
    except AssignmentError as error:
        yield f"it cannot be loaded: {error}"


def test_real_assignments_pass_both() -> None:
    no_faults(FILES, refused, "correct the file, or the schema in grader/assignment/types.py")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda d: d.update(titel="x"), []),
        (lambda d: d.update(schema="torchgrade/assignment/v2"), ["schema"]),
        (lambda d: d.pop("version"), []),
        (lambda d: d["questions"][0].update(points="5"), ["questions", 0, "points"]),
        (lambda d: d["questions"][0].update(points=-1), ["questions", 0, "points"]),
        (lambda d: d["questions"][0].update(id="a b"), ["questions", 0, "id"]),
        (lambda d: d["questions"][0].update(visibility="hiden"), ["questions", 0, "visibility"]),
        (lambda d: d["questions"][0]["cases"][0]["args"].update({"a b": 1}),
         ["questions", 0, "cases", 0, "args"]),
        (lambda d: d["questions"][0]["cases"][0]["args"].update(x={"randm": [2]}),
         ["questions", 0, "cases", 0, "args", "x"]),
        (lambda d: d["questions"][0]["cases"][0].update(dims={"N": [1, 2, 3]}),
         ["questions", 0, "cases", 0, "dims", "N"]),
        (lambda d: d["questions"][0]["checks"][0].update(kind="exacct"),
         ["questions", 0, "checks", 0]),
        (lambda d: d["questions"][0]["checks"][0].pop("kind"), ["questions", 0, "checks", 0]),
        (lambda d: d["questions"][0]["checks"][1].pop("factors"), ["questions", 0, "checks", 1]),
    ],
)  # fmt: skip
def test_typos_do_not(change: Any, where: list[str | int]) -> None:
    changed = document()
    change(changed)
    assert [list(error.absolute_path) for error in VALIDATOR.iter_errors(changed)] == [where]


@pytest.mark.parametrize(
    "value",
    [1, 1.5, True, None, "text", [1, [2.5, "x"]], {"tuple": [1, {"value": "2*N"}]},
     {"randn": [2, "N"], "dtype": "float64"}, {"arange": 6, "shape": [2, 3]}, {"tensor": [[1]]}],
)  # fmt: skip
def test_every_form_of_an_argument_passes(value: Any) -> None:
    changed = document()
    changed["questions"][0]["cases"][0]["args"]["x"] = value
    VALIDATOR.validate(changed)


def test_every_key_explains_itself() -> None:
    schema = assignment_schema()
    parts = {"Assignment": schema, **schema["$defs"]}
    silent = [
        f"{name}.{key}"
        for name, part in parts.items()
        for key, field in part.get("properties", {}).items()
        if "description" not in field and key not in ("kind", "id", "points", "visibility")
    ]
    assert silent == []
    assert "Attributes:" not in json.dumps(schema)
