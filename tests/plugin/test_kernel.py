"""The generated notebook, run from top to bottom by a kernel, as "Run all" does."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
import toy_starter
from nbclient import NotebookClient

pytestmark = pytest.mark.heavy


def run_all(folder: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(folder / "toy.ipynb", as_version=4)
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}},
        allow_errors=True,
    )  # fmt: skip
    client.execute()
    return notebook


def shown(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the page below each check; nothing else than an unwritten function may raise."""
    pages = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                assert output.ename == "NotImplementedError", output.traceback
            if cell.source.startswith("%check") and output.output_type == "execute_result":
                pages.append(output.data["text/html"])
    return pages


def test_unfilled_every_check_says_what_is_to_be_written(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    *each, last = shown(run_all(folder))
    assert len(each) == 3
    assert all("not implemented yet" in page for page in each)
    assert last.count("not implemented yet") == 3


def test_filled_nothing_is_wrong(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    reference = toy_starter.made()[1].reference_folder / "toy.py"
    (folder / "toy.py").write_text(reference.read_text())
    pages = shown(run_all(folder))
    assert len(pages) == 4
    assert "✓ double" in pages[0]
    assert not any("✗" in page or "not implemented" in page for page in pages)
