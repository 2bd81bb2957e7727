"""Files of cells: what a cell's module holds, and what is refused."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from grader.assignment.cells import LabelledSubmission, labelled_submissions
from grader.errors import UsageError

REFERENCE = '''\
"""A course."""

import functools
import math

from torch import Tensor

SCALE = 2


def helper(x: Tensor) -> Tensor:
    return SCALE * x


@functools.cache
def double(x: Tensor) -> Tensor:
    return helper(x)


def root(x):
    return math.sqrt(x)
'''
HEAD = """\
# Wrong ways to write double.
# right: root

import torch


"""
LABEL = "# Adds.\n# expect:\n#   questions:\n#     double: {status: failed}\n"
CELL = f"# %% adds\n{LABEL}\ndef double(x):\n    return x + 2\n"


def cells(tmp_path: Path, text: str, reference: str = REFERENCE) -> list[LabelledSubmission]:
    (tmp_path / "double.py").write_text(text)
    return labelled_submissions(tmp_path, {"reference.py": reference})


def bound(submission: LabelledSubmission) -> list[str]:
    names = []
    for node in ast.parse(submission.data).body:
        names += [alias.name for alias in getattr(node, "names", ())] or [
            getattr(node, "name", None) or ast.unparse(node)
        ]
    return names


def test_a_cell_is_its_label_the_head_the_right_functions_and_its_own(tmp_path: Path) -> None:
    (cell,) = cells(tmp_path, HEAD + CELL)
    assert (cell.name, cell.group) == ("adds", tmp_path.name)
    assert cell.data.decode().startswith(LABEL)
    assert bound(cell) == ["torch", "math", "root", "double"]


def test_what_a_right_function_uses_comes_along_once(tmp_path: Path) -> None:
    text = HEAD.replace("right: root", "right: double, helper") + CELL.replace("double(", "root(")
    (cell,) = cells(tmp_path, text)
    assert bound(cell) == ["torch", "functools", "Tensor", "SCALE = 2", "helper", "double", "root"]
    assert b"@functools.cache" in cell.data


def test_what_a_cell_defines_is_not_taken_from_the_reference(tmp_path: Path) -> None:
    text = HEAD.replace("right: root", "right: double") + CELL.replace("double(", "helper(")
    (cell,) = cells(tmp_path, text)
    assert bound(cell).count("helper") == 1
    assert "SCALE = 2" not in bound(cell)


def test_what_a_right_function_needs_to_be_defined_is_imported_above_it(tmp_path: Path) -> None:
    imports = CELL.replace("def double", "from torch import Tensor\n\n\ndef double")
    (cell,) = cells(tmp_path, HEAD.replace("right: root", "right: helper") + imports)
    assert bound(cell) == ["torch", "Tensor", "SCALE = 2", "helper", "Tensor", "double"]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("none", ["torch", "double"]),
        ("helper", ["torch", "Tensor", "SCALE = 2", "helper", "double"]),
    ],
)
def test_a_cells_own_line_goes_before_that_of_the_head(
    tmp_path: Path, line: str, names: list[str]
) -> None:
    (cell,) = cells(tmp_path, HEAD + CELL.replace("# expect:", f"# right: {line}\n# expect:"))
    assert bound(cell) == names
    assert cell.data.decode().startswith(LABEL), "the label is as it would be in a file of its own"


def test_annotations_that_are_not_evaluated_stay_so(tmp_path: Path) -> None:
    (cell,) = cells(tmp_path, HEAD + CELL, "from __future__ import annotations\n" + REFERENCE)
    assert bound(cell)[0] == "annotations"
    (alone,) = cells(tmp_path, CELL, "from __future__ import annotations\n" + REFERENCE)
    assert bound(alone) == ["double"]


def test_a_cell_is_written_and_a_whole_file_is_graded_where_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "wrong"
    folder.mkdir()
    (folder / "whole.py").write_text("# %%\nx = 1\n# %% plots\nprint(x)\n")
    (folder / "book.ipynb").write_text("{}")
    (folder / "notes.txt").write_text("not a submission")
    (folder / "a_folder").mkdir()
    found = {each.name: each for each in cells(folder, HEAD + CELL)}
    assert list(found) == ["a_folder", "adds", "book", "whole"]
    assert found["whole"].placed(tmp_path) == folder / "whole.py"
    assert found["a_folder"].placed(tmp_path) == folder / "a_folder"
    assert found["adds"].placed(tmp_path) == tmp_path / "adds.py"
    assert (tmp_path / "adds.py").read_bytes() == found["adds"].data


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CELL + "\n# %% adds again\n" + LABEL, "“adds again” needs a name of letters"),
        (CELL + "\n# %% bare\n# No verdict.\n", "“bare” needs .* “# expect:” right below"),
        (CELL + "\n\n" + CELL, "“adds” is the name of another submission"),
        (CELL + "x = (\n", "the cell “adds”: .*never closed"),
        (HEAD.replace("root", "rot") + CELL, "“adds”: the reference has no “rot”; did you mean"),
    ],
)
def test_a_broken_cell_is_refused_with_file_and_name(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        cells(tmp_path, text)
    assert "double.py" in str(caught.value)
