from __future__ import annotations

import json

import nbformat
import pytest

from grader.authoring.student_files import NotebookCell, build_notebook, split_handout, unshown
from grader.errors import AssignmentError

HANDOUT = """\
# Title

Words.

```text
no code
```

## First

```python
mod.f(1)
```

More.

## Second
```python
x = (
    1,
)
```
"""


def test_prose_and_examples_alternate_and_headings_begin_cells() -> None:
    assert split_handout(HANDOUT, "h.md") == [
        NotebookCell(False, "# Title\n\nWords.\n\n```text\nno code\n```"),
        NotebookCell(False, "## First"),
        NotebookCell(True, "mod.f(1)"),
        NotebookCell(False, "More."),
        NotebookCell(False, "## Second"),
        NotebookCell(True, "x = (\n    1,\n)"),
    ]


def test_a_broken_example_is_named_with_its_line_in_the_handout() -> None:
    with pytest.raises(AssignmentError, match=r"^h\.md:5: this example does not compile"):
        split_handout("# T\n\n```python\nx = 1\ny = = 2\n```\n", "h.md")


def test_an_open_fence_is_named_with_its_line() -> None:
    with pytest.raises(AssignmentError, match=r"^h\.md:5: a ``` fence is opened here"):
        split_handout("```text\nclosed\n```\n\n```python\nx = 1\n", "h.md")


def test_the_notebook_is_valid_and_without_outputs() -> None:
    data = build_notebook(split_handout(HANDOUT, "h.md"), {"mod.py": {"f": "f"}})
    notebook = nbformat.reads(data.decode(), as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert [cell.id for cell in notebook.cells] == [f"cell-{n:02d}" for n in range(1, 11)]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert "import mod" in code[0].source.splitlines()
    assert "%autoreload 2" in code[0].source.splitlines()


def test_the_module_is_imported_after_the_first_words() -> None:
    cells = json.loads(build_notebook(split_handout(HANDOUT, "h.md"), {"mod.py": {"f": "f"}}))[
        "cells"
    ]
    assert [cell["cell_type"] for cell in cells[:3]] == ["markdown", "code", "markdown"]


def test_a_check_stands_after_the_first_example_and_at_the_end() -> None:
    handout = HANDOUT + "\n```python\nmod.f(2) + mod.g()\n```\n"
    cells = split_handout(handout, "h.md")
    notebook = json.loads(build_notebook(cells, {"mod.py": {"f": "first", "g": "second"}}))
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code[1:3] == ["mod.f(1)", "%check first"]
    assert code[-3:] == ["mod.f(2) + mod.g()", "%check second", "%check"]


def test_same_handout_same_bytes() -> None:
    cells = split_handout(HANDOUT, "h.md")
    assert build_notebook(cells, {"mod.py": {}}) == build_notebook(list(cells), {"mod.py": {}})


def test_names_without_an_example_are_found() -> None:
    cells = [NotebookCell(True, "mod.f(1)\nother.g()"), NotebookCell(False, "mod.h(1)")]
    assert unshown(cells, [("mod", each) for each in "fgh"]) == ["mod.g", "mod.h"]
