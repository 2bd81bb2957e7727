"""Notebooks from the starter's folder to what grading makes of the packed archive.

Each is saved, run from top to bottom by a kernel, and packed from its last cell, as students do:
five of a toy assignment, one for each road, and one for each of three assignments.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
import toy_starter
from nbclient import NotebookClient

from grader.grading import Grader, Options
from grader.report.messages.language import VARIABLE
from grader.report.model import Report
from grader.run.materials import load_materials

pytestmark = pytest.mark.heavy

GRADER = f"!{sys.executable} -m grader"
LOAD = "%load_ext grader"
DOUBLE = "def double(x):\n    return x + x"
WRONG = "def double(x):\n    return x * 3"
MEAN = "def mean_of(x):\n    return x.sum() / x.numel()"
COUNTER = (
    "class Counter:\n"
    "    total = 0\n"
    "    def add(self, n):\n"
    "        self.total += n\n"
    "        return self.total"
)
SOLUTION = f"import torch\n\n\n{DOUBLE}\n\n\n{MEAN}\n\n\n{COUNTER}\n"
FULL = {"double": 4.0, "mean_of": 4.0, "Counter": 2.0}
ROOT = Path(__file__).parents[2]
COLAB = (
    "try:\n    from google.colab import drive\n    drive.mount('/content/drive')\n"
    "except ImportError:\n    pass"
)
WRITTEN = {
    "knn": ("predict_labels", "knn_get_best_k"),
    "linear_classifier": ("sample_batch", "predict_linear_classifier"),
    "minibatch": ("make_loader", "build_net"),
}
"""Assignment → the functions that its notebook has; the others are still missing."""


def run(folder: Path, name: str, *cells: str) -> list[str]:
    """Save a notebook, run it, and return what stands below each cell."""
    toy_starter.notebook(folder / name, *cells)
    notebook = nbformat.read(folder / name, as_version=4)
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    return [_shown(cell) for cell in notebook.cells]


def _shown(cell: nbformat.NotebookNode) -> str:
    parts = []
    for output in cell.outputs:
        assert output.output_type != "error", output.traceback
        parts.append(output.text if "text" in output else output.data.get("text/html", ""))
    return " ".join("".join(parts).split())


def graded(folder: Path) -> Report:
    """Grade the archive that was packed there."""
    materials = toy_starter.made()[1]
    grader = Grader(materials, toy_starter.lent(), Options(7))
    grader.prepare()
    return grader.examine(folder / "toy.zip", "student").report


def points(report: Report) -> dict[str, float]:
    return {item.id: item.score for item in report.questions if item.id in FULL}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, "en")
    monkeypatch.setenv("COLUMNS", "200")
    return toy_starter.starter(tmp_path / "toy")


def test_the_file_is_written_beside_the_starters_notebook(folder: Path) -> None:
    write = f"%%writefile toy.py\n{SOLUTION}"
    *_, check, packed = run(
        folder, "toy.ipynb", LOAD, "import toy", write, "%check", f"{GRADER} submit-zip"
    )
    assert check.count("✓") >= len(FULL)
    assert "toy.zip is ready to hand in" in packed
    assert "toy.py" in packed
    assert points(graded(folder)) == FULL


def test_functions_are_typed_into_the_starters_notebook(folder: Path) -> None:
    cells = [LOAD, "import torch\nimport toy", DOUBLE, "%check double", MEAN, COUNTER, "%check"]
    packing = (f"{GRADER} submit-zip", f"{GRADER} submit-zip toy.ipynb")
    shown = run(folder, "toy.ipynb", *cells, *packing)
    assert "double: checked as this notebook has it now; toy.py has another one" in shown[3]
    assert "… double" in shown[3]
    # The file beside it is untouched, and nobody can be asked in a cell.
    assert "toy.ipynb has these (3), and toy.py does not" in shown[-2]
    assert "Nothing was packed" in shown[-2]
    assert "toy.zip is ready to hand in" in shown[-1]
    assert points(graded(folder)) == FULL


def test_a_notebook_of_ones_own_with_what_jupyter_and_colab_allow(folder: Path) -> None:
    cells = [
        COLAB,
        "%matplotlib inline\nimport asyncio\nimport torch\nawait asyncio.sleep(0)\nfiles = !ls",
        DOUBLE, MEAN, COUNTER,
        "print(double(torch.ones(2)), len(files))",
    ]  # fmt: skip
    commands = (f"{GRADER} check mine.ipynb", f"{GRADER} submit-zip mine.ipynb")
    *_, check, packed = run(folder, "mine.ipynb", *cells, *commands)
    assert "Everything that can be checked here is right." in check
    assert "grader submit-zip mine.ipynb" in check
    assert "toy.zip is ready to hand in" in packed
    assert points(graded(folder)) == FULL


def test_a_notebook_that_is_half_done(folder: Path) -> None:
    *_, check, packed = run(
        folder, "mine.ipynb", "import torch", DOUBLE,
        f"{GRADER} check mine.ipynb", f"{GRADER} submit-zip mine.ipynb",
    )  # fmt: skip
    for said in (check, packed):
        assert "Not in mine.ipynb (2): mean_of, Counter." in said
    assert points(graded(folder)) == {"double": 4.0, "mean_of": 0.0, "Counter": 0.0}


def test_a_function_that_is_written_again_below_counts(folder: Path) -> None:
    cells = [LOAD, "import torch", WRONG, "%check double", MEAN, COUNTER, DOUBLE, "%check double"]
    *shown, packed = run(folder, "toy.ipynb", *cells, f"{GRADER} submit-zip toy.ipynb")
    assert "✗ double" in shown[3]
    assert "… double" in shown[7]
    assert "toy.zip is ready to hand in" in packed
    assert points(graded(folder)) == FULL


def definitions(assignment: str, names: tuple[str, ...]) -> list[str]:
    """Return the imports of a solution, and its functions of these names, as cells."""
    source = (ROOT / f"reference/{assignment}/{assignment}.py").read_text(encoding="utf-8")
    source = re.sub(r" *# (?:BEGIN|END) SOLUTION\n", "", source)
    body = ast.parse(source).body
    segments = {node: ast.get_source_segment(source, node) or "" for node in body}
    imports = [text for node, text in segments.items() if isinstance(node, _IMPORTS)]
    named = [
        text
        for node, text in segments.items()
        if isinstance(node, _DEFINITIONS) and node.name in names
    ]
    return ["\n".join(imports), *named]


_IMPORTS = (ast.Import, ast.ImportFrom)
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


@pytest.mark.parametrize("assignment", WRITTEN)
def test_a_notebook_of_each_assignment(
    assignment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its functions earn all that they can, the missing ones nothing."""
    monkeypatch.setenv(VARIABLE, "en")
    monkeypatch.setenv("COLUMNS", "200")
    folder = tmp_path / assignment
    shutil.copytree(ROOT / "starter" / assignment, folder)
    names = WRITTEN[assignment]
    *_, check, packed = run(
        folder, "mine.ipynb", COLAB, f"%matplotlib inline\n{LOAD}",
        *definitions(assignment, names), f"print({names[0]})",
        f"{GRADER} check mine.ipynb {' '.join(names)}", f"{GRADER} submit-zip mine.ipynb",
    )  # fmt: skip
    assert "Everything that can be checked here is right." in check
    assert f"{assignment}.zip is ready to hand in" in packed
    assert "Not in mine.ipynb" in packed
    materials = load_materials(ROOT / f"assignments/{assignment}/assignment.yml")
    grader = Grader(materials, toy_starter.lent(), Options(7))
    grader.prepare()
    report = grader.examine(folder / f"{assignment}.zip", "student").report
    earned = {item.id: item.score for item in report.questions if item.score}
    assert earned == {item.id: item.max_score for item in report.questions if item.id in names}
