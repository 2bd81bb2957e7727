"""The generated notebook, run from top to bottom by a kernel, as "Run all" does."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
import toy_starter
from nbclient import NotebookClient

pytestmark = pytest.mark.heavy


def run_all(folder: Path) -> nbformat.NotebookNode:
    return run(nbformat.read(folder / "toy.ipynb", as_version=4), folder)


def run(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
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
    assert "… double" in pages[0]
    assert not any("✗" in page or "not implemented" in page for page in pages)


CELLS = (
    "%load_ext grader\nfrom time import perf_counter",
    """%%vgpu 2 --card v100
import torch
x = torch.ones(4096, 4096, device="cuda:0")
start = perf_counter()
y = (x @ x).to("cuda:1")
torch.cuda.synchronize(1)
print("took", perf_counter() - start)""",
    "print(y.device, perf_counter() - start > 1)",
)


def test_a_cell_on_virtual_gpus_has_its_picture_below_and_the_kernel_its_clock(
    tmp_path: Path,
) -> None:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    _, timed, after = run(made, tmp_path).cells
    printed, shown = timed.outputs
    # 2 × 4096³ FLOP at 15.7 TFLOP/s, and 64 MiB over NVLink.
    assert 0.009 < float(printed.text.split()[1]) < 0.012
    assert "in the time of NVIDIA V100 SXM2" in printed.text
    assert shown.data["text/html"].startswith('<img style="max-width:100%" alt="On NVIDIA V100')
    assert after.outputs[0].text == "cuda:1 True\n"


def test_a_function_typed_into_a_cell_is_checked_there(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    notebook = nbformat.read(folder / "toy.ipynb", as_version=4)
    made = nbformat.v4.new_code_cell("def double(x):\n    return x.nothing")
    place = next(n for n, cell in enumerate(notebook.cells) if cell.source == "%check double")
    notebook.cells.insert(place, made)
    page, *_ = shown(run(notebook, folder))
    assert "double: checked as this notebook has it now; toy.py has another one" in page
    # By the number in brackets beside the cell.
    assert f"line 2 of code cell {made.execution_count}" in page
    # Saved and handed in, it is the same function.
    made.source = "def double(x):\n    return x + x"
    assert "… double" in shown(run(notebook, folder))[0]
