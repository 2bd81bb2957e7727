"""The notebook pictures of docs: cells that are run, and what stands below them, in Chromium.

    pip install nbconvert
    python tests/bench/notebooks.py [--out docs/images]

Runs a notebook in a copy of a starter, with two wrong functions in pytorch101.py, and shows it as
nbconvert does. Needs Chromium and its driver.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from pages import browser
from PIL import Image

ROOT = Path(__file__).parents[2]
COLOURS = 255
WIDTH = 920
WRONG = {
    "reverse_rows": "    return x[[-1 - i for i in range(len(x))]][:, [2, 1, 0]]\n",
    "make_one_hot": "    y = torch.zeros(len(x), max(x) + 2)\n    y[range(len(x)), x] = 1\n"
    "    return y\n",
}
HEAD = "%load_ext autoreload\n%autoreload 2\n%load_ext grader\n\nimport torch\n\nimport "
ROWS = """\
x = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]])

print(pytorch101.shuffle_cols(x))  # first row: 1 1 3 2
print(pytorch101.reverse_rows(x))  # first row: 10 11 12
print(pytorch101.take_one_elem_per_col(x))  # 4 2 12"""
PIPELINE = """\
%%vgpu 2 --card v100 --no-arithmetic
model = parallel.PipelineParallelResNet50(split_size=20)
images = torch.empty(120, 3, 128, 128, device="cuda:0");"""
STEP = "%%vgpu 2 --card v100 --no-arithmetic\nmodel(images).square().mean().backward()"


def text(source: str) -> NotebookNode:
    return new_markdown_cell(source)


def code(source: str) -> NotebookNode:
    return new_code_cell(source)


NOTEBOOKS = {
    # picture: assignment, cells, height of what is shown, cells without their printed output
    "notebook-check": ("pytorch101", [
        code(f"{HEAD}pytorch101"),
        text("### `shuffle_cols`, `reverse_rows`, `take_one_elem_per_col`\n\nOne such index each."),
        code(ROWS),
        code("%check shuffle_cols reverse_rows take_one_elem_per_col"),
        text("### `make_one_hot`\n\nThe same index on the left of `=` writes many single entries."),
        code("pytorch101.make_one_hot([1, 4, 3, 2])  # shape (4, 5)"),
        code("%check make_one_hot"),
    ], 1900, ()),
    "notebook-vgpu": ("parallel", [
        code(f"{HEAD}parallel"), code(PIPELINE), code(STEP),
        code("%check PipelineParallelResNet50"),
    ], 1250, (1,)),
}  # fmt: skip


def wrong(source: str) -> str:
    """Return a solution with the bodies of some functions replaced."""
    for name, body in WRONG.items():
        pattern = rf"(def {name}\(.*?\n    \"\"\".*?\"\"\"\n).*?(?=\n\n\ndef |\Z)"
        source, times = re.subn(
            pattern, lambda found, body=body: found[1] + body, source, flags=re.S
        )
        assert times == 1, name
    return source


def run(name: str, cells: list[NotebookNode], silent: tuple[int, ...]) -> NotebookNode:
    """Return a notebook that was run beside the reference of an assignment."""
    with tempfile.TemporaryDirectory(prefix="notebook-") as scratch:
        folder = Path(scratch) / name
        shutil.copytree(ROOT / "starter" / name, folder)
        solution = (ROOT / f"reference/{name}/{name}.py").read_text(encoding="utf-8")
        text = wrong(solution) if name == "pytorch101" else solution
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        notebook = new_notebook(cells=cells)
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    for number in silent:
        cells[number].outputs = []
    nbformat.validate(notebook)
    return notebook


def shoot(driver: Any, notebook: NotebookNode, height: int) -> Image.Image:
    """Return the picture of a notebook's page, cut below what there is."""
    from nbconvert import HTMLExporter  # noqa: PLC0415  not among the tools of the tests

    page, _ = HTMLExporter(template_name="lab").from_notebook_node(notebook)
    with tempfile.TemporaryDirectory(prefix="notebook-") as scratch:
        path = Path(scratch) / "page.html"
        path.write_text(page, encoding="utf-8")
        size = {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(path.as_uri())
        there = driver.execute_script("return document.querySelector('main').offsetHeight")
        picture = Image.open(BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    return picture.crop((0, 0, WIDTH, min(height, there)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs/images")
    out = parser.parse_args().out
    with browser() as driver:
        for picture, (name, cells, height, silent) in NOTEBOOKS.items():
            drawn = shoot(driver, run(name, cells, silent), height)
            drawn.quantize(COLOURS).save(out / f"{picture}.png", optimize=True)


if __name__ == "__main__":
    main()
