"""Labelled submissions of an assignment: whole files, and files of cells.

A file of cells holds many small submissions for one question. Each cell is a name, a label and the
functions that differ from the reference::

    # Wrong ways to write normalize_columns.
    # right: batched_matrix_multiply_loop, mm_on_gpu

    import torch

    # %% divides_by_m
    # Divides by M where M - 1 is asked for.
    # expect:
    #   questions:
    #     normalize_columns: {status: failed, code: wrong_value}
    #     "*": {status: passed}

    def normalize_columns(x):
        ...

``grader.assignment.cells`` says what module a cell stands for.

A file whose cells bear no label is a whole file: an exported notebook has such lines, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.assignment.cells import split_cells
from grader.errors import UsageError

LABELLED = Path("tests/submissions")
_ENDINGS = (".py", ".ipynb", ".zip")
_EXPECT = "# expect:"


@dataclass(frozen=True, slots=True)
class LabelledSubmission:
    """One labelled submission.

    Attributes:
        name: The cell's name, or the file's without its ending.
        path: The file that holds it, or its folder.
        module: Text of a cell's module; None where ``path`` itself is the submission.
    """

    name: str
    path: Path
    module: str | None = None

    @property
    def group(self) -> str:
        """Name of the folder that holds it, such as ``wrong``."""
        return self.path.parent.name

    @property
    def data(self) -> bytes:
        """Content of the file that is submitted."""
        return self.path.read_bytes() if self.module is None else self.module.encode()

    def placed(self, folder: Path) -> Path:
        """Return a path to grade. A cell's module is written into the folder."""
        if self.module is None:
            return self.path
        path = folder / f"{self.name}.py"
        path.write_bytes(self.data)
        return path


def labelled_submissions(folder: Path, reference: str) -> list[LabelledSubmission]:
    """Return the submissions of a folder, sorted by name.

    Args:
        folder: Holds files, files of cells, and folders with one submission each.
        reference: Text of the reference.

    Raises:
        UsageError: A cell is broken, or two submissions have the same name.
    """
    found: dict[str, LabelledSubmission] = {}
    for path in sorted(folder.iterdir()):
        if not path.is_dir() and path.suffix not in _ENDINGS:
            continue
        for submission in _submissions(path, reference):
            if submission.name in found:
                raise UsageError(
                    f"{path}: “{submission.name}” is the name of another submission in "
                    f"{found[submission.name].path}; choose another"
                )
            found[submission.name] = submission
    return [found[name] for name in sorted(found)]


def _submissions(path: Path, reference: str) -> Iterator[LabelledSubmission]:
    text = path.read_bytes().decode(errors="replace") if path.suffix == ".py" else ""
    cells = split_cells(text)
    if not any(_is_label(cell.comment) for cell in cells):
        yield LabelledSubmission(path.stem, path)
        return
    for cell in cells:
        if not cell.name.isidentifier() or not _is_label(cell.comment):
            raise UsageError(
                f"{path}: the cell “{cell.name}” needs a name of letters, digits and _, and a "
                f"comment with “{_EXPECT}” right below it"
            )
        try:
            module = cell.module(reference)
        except (SyntaxError, UsageError) as error:
            raise UsageError(f"{path}: the cell “{cell.name}”: {error}") from None
        yield LabelledSubmission(cell.name, path, module)


def _is_label(comment: str) -> bool:
    return _EXPECT in comment.splitlines()
