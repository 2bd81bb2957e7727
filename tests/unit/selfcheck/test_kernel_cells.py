"""Functions typed into cells of a running notebook: checked as the kernel has them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import toy_starter
import two_files
from toy_starter import fill

from grader.authoring.starter import build_starter, make_public, write_starter
from grader.integrations.kernel import KernelCells
from grader.integrations.notebook import NotebookCheck
from grader.report.messages.language import VARIABLE
from grader.selfcheck.files import to_files

WRONG = "def double(x):\n    return x * 3"
RIGHT = "def double(x):\n    return x + x"


@pytest.fixture
def kernel() -> Iterator[Callable[..., NotebookCheck]]:
    made: list[NotebookCheck] = []

    def run(*cells: str) -> NotebookCheck:
        values: dict[str, Any] = {"__name__": "__main__"}
        for cell in cells:
            if not cell.startswith("%"):
                exec(cell, values)
        history = SimpleNamespace(input_hist_raw=["", *cells])
        made.append(NotebookCheck(SimpleNamespace(user_ns=values, history_manager=history)))
        return made[-1]

    yield run
    for notebook in made:
        notebook.close()


def test_a_function_in_a_cell_is_checked_and_the_files_is_said_to_differ(
    folder: Path, kernel: Callable[..., NotebookCheck], monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = kernel(RIGHT, "1 / 1\nraw = double(2)")
    said = repr(notebook.check("double"))
    assert said.startswith("double: checked as this notebook has it now; toy.py has another one")
    assert "double: 3 + 1? / 4" in said
    monkeypatch.setenv(VARIABLE, "ko")
    assert "double: 지금 이 노트북에 있는 것을 점검했습니다." in repr(notebook.check("double"))


def test_a_cell_that_is_the_file_s_function_is_no_other_one(
    folder: Path, kernel: Callable[..., NotebookCheck]
) -> None:
    fill(folder, "double", "    return x + x")
    text = (folder / "toy.py").read_text()
    own = text[text.index("def double") : text.index("def mean_of")]
    assert "checked as" not in repr(kernel(own).check("double"))
    # Imported, it is the file's, whatever was typed before.
    values = "import sys; sys.path.insert(0, '.')\nfrom toy import double"
    assert "checked as" not in repr(kernel(WRONG, values).check("double"))


def test_what_is_wrong_is_named_by_the_cells_own_number(
    folder: Path, kernel: Callable[..., NotebookCheck]
) -> None:
    cells = (WRONG, "%load_ext grader", "n = 99\nm = n", "def double(x):\n    return x[m]")
    said = repr(kernel(*cells).check(""))
    assert "IndexError in notebook.ipynb, line 2 of code cell 4" in said
    assert "mean_of: 0" in said


def test_what_an_argument_is_called_like_stays_away(
    folder: Path, kernel: Callable[..., NotebookCheck]
) -> None:
    # As the starter's notebook does above: it is run there, and would fail where it is handed in.
    tried = "import sys; sys.path.insert(0, '.')\nimport toy\ntoy.other = abs\nx = toy.other(-3)"
    typed = "def double(x):\n    return [y + y for y in [x]][0]\ny = toy.other(-4)"
    assert "double: 3 + 1? / 4" in repr(kernel(tried, typed).check("double"))


def test_what_the_functions_need_comes_along_and_nothing_else() -> None:
    cells = [
        "import math\nimport torch.nn.functional as F\nimport torch",
        "raise SystemExit",
        "SCALE = 2\nOTHER = train()",
        "def helper(x):\n    return x * SCALE + math.pi",
        "def double(x):\n    return 1",
        "@torch.no_grad()\ndef double(x, times=(lambda: 1)):\n    return helper(x)",
        "broken = (",
        "from os.path import *",
    ]
    made = json.loads(KernelCells(cells, "toy.py").notebook(["double"]))
    assert [cell["source"] for cell in made["cells"]] == [
        "import math\n# import torch.nn.functional as F\nimport torch",
        "# raise SystemExit",
        "SCALE = 2\n# OTHER = train()",
        cells[3],
        "# def double(x):\n#     return 1",
        cells[5],
        "# broken = (",
        cells[7],
    ]


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A starter whose questions stand in two files."""
    root = tmp_path_factory.mktemp("nets")
    materials = two_files.materials(root)
    files = build_starter(materials.assignment, materials.folder, root / "reference" / "nets")
    with toy_starter.lent() as sandbox:
        files |= to_files(make_public(materials, sandbox).public)
    write_starter(files, materials.starter)
    return materials.starter


def test_with_several_files_a_cell_stands_for_the_one_that_asks_for_its_function(
    nets: Path, kernel: Callable[..., NotebookCheck], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(nets)
    right = "def net_scores(W1, W2, X):\n    return scores(W2, scores(W1, X).clamp(min=0))"
    typed = "def scores(W, X):\n    return X @ W"
    # The other file imports what was typed for this one, and keeps what was not.
    said = repr(kernel(typed, f"{right} + 1").check("scores net_scores predict"))
    assert "scores: checked as this notebook has it now; linear_classifier.py has" in said
    assert "net_scores: checked as this notebook has it now; two_layer_net.py has" in said
    assert "What two_layer_net.py has is handed in: copy it there." in said
    assert "scores: 2 + 1? / 3" in said
    assert "net_scores: 0" in said
    assert "predict: 0 / 2" in said
    assert "net_scores: 3 / 3" in repr(kernel(typed, right).check("net_scores"))
