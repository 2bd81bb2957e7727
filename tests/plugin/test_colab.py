"""The cells of docs/colab.md, as a notebook: a student copies them as they stand there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from grader import __version__
from grader.submission.notebook import to_python

ROOT = Path(__file__).parents[2]
INSTALL, FETCH, CHECK = re.findall(
    r"^```python\n(.*?)^```$", (ROOT / "docs/colab.md").read_text(), re.MULTILINE | re.DOTALL
)


def test_the_first_cell_installs_a_file_of_this_version() -> None:
    # The package is on no registry: a bare name would install what somebody else called so.
    assert f"%pip install torchgrade-{__version__}-py3-none-any.whl\n" == INSTALL


@pytest.mark.heavy
def test_the_other_cells_fetch_and_check(tmp_path: Path) -> None:
    shutil.make_archive(str(tmp_path / "pytorch101"), "zip", ROOT / "starter/pytorch101")
    cells = [nbformat.v4.new_code_cell(text) for text in (FETCH, CHECK)]
    client = NotebookClient(
        nbformat.v4.new_notebook(cells=cells), timeout=300, kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )  # fmt: skip
    *_, check = client.execute().cells
    page = next(each.data["text/html"] for each in check.outputs if "data" in each)
    assert page.count("not implemented yet") == 20
    assert "create_sample_tensor" in page


def test_the_cells_do_nothing_in_a_notebook_that_is_handed_in() -> None:
    cells = [INSTALL, FETCH, CHECK, "def right():\n    return 1\n"]
    lines = [line for cell in cells for line in to_python(cell, "pytorch101.py")[0]]
    found: dict[str, Any] = {}
    exec("\n".join(lines), found)  # as grading does, with no zip there
    assert found["right"]() == 1
