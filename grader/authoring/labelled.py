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

A cell stands for a module: its label, the code above the first cell, right functions from the
reference, and its own code. The line ``# right:`` names the right functions; what they use comes
along, and what a cell defines itself is left out. A cell whose label has such a line goes by that
one: ``# right: none`` for a cell that stands alone.

A file whose cells bear no label is a whole file: an exported notebook has such lines, too.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UsageError, nearest

LABELLED = Path("tests/submissions")
_ENDINGS = (".py", ".ipynb", ".zip")
_MARK = "# %% "
_RIGHT = re.compile(r"^# right: (.*)\n", re.MULTILINE)
_NONE = ["none"]
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
    head, *cells = re.split(rf"^{_MARK}", text, flags=re.MULTILINE)
    if not any(_label(cell.partition("\n")[2]) for cell in cells):
        yield LabelledSubmission(path.stem, path)
        return
    for cell in cells:
        name, _, body = cell.partition("\n")
        label = _label(body)
        if not name.isidentifier() or not label:
            raise UsageError(
                f"{path}: the cell “{name}” needs a name of letters, digits and _, and a comment "
                f"with “{_EXPECT}” right below it"
            )
        try:
            module = _module(head, label, body.removeprefix(label), _parts(reference))
        except (SyntaxError, UsageError) as error:
            raise UsageError(f"{path}: the cell “{name}”: {error}") from None
        yield LabelledSubmission(name, path, module)


def _label(body: str) -> str:
    """Return the comment that a cell begins with, or nothing where it is no label."""
    comment = _comment(body)
    return comment if _EXPECT in comment.splitlines() else ""


def _comment(text: str) -> str:
    lines = text.splitlines(keepends=True)
    code = next((number for number, line in enumerate(lines) if line[:1] != "#"), len(lines))
    return "".join(lines[:code])


def _module(head: str, label: str, code: str, reference: _Reference) -> str:
    about = _comment(head)
    shared = head.removeprefix(about).strip()
    own = {name for node in ast.parse(f"{shared}\n{code}").body for name in _binds(node)}
    right = _RIGHT.search(label) or _RIGHT.search(about)
    added = reference.functions(right[1].split(", "), own) if right else ""
    future = reference.future if added else ""
    parts = (_RIGHT.sub("", label), future, shared, added, code.strip())
    return "\n\n\n".join(filter(None, parts)) + "\n"


def _binds(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    else:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


@functools.lru_cache(maxsize=8)
def _parts(reference: str) -> _Reference:
    return _Reference(reference)


class _Reference:
    """The reference's text, of which parts can be had.

    Attributes:
        future: Its ``from __future__`` lines, without which its annotations may not be evaluated.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._nodes = ast.parse(text).body
        self._by_name = {name: node for node in self._nodes for name in _binds(node)}
        self.future = "\n".join(self._text(node) for node in self._nodes if _is_future(node))

    def functions(self, names: list[str], there: Set[str]) -> str:
        """Return the text of functions with all that they use, in the reference's order.

        Args:
            names: Of the functions; ``none`` alone for none.
            there: What the cell itself binds: that is left out.

        Raises:
            UsageError: The reference has no such function.
        """
        taken: set[str] = set()
        left = names if names != _NONE else []
        while left:
            name, *left = left
            if name not in self._by_name:
                raise UsageError(f"the reference has no “{name}”{nearest(name, self._by_name)}")
            node = self._by_name[name]
            # An import of the cell's comes too late for a base class or an annotation above it.
            imports = isinstance(node, (ast.Import, ast.ImportFrom))
            if name in taken or (name in there and not imports):
                continue
            taken.add(name)
            walked = ast.walk(node)
            used = {node.id for node in walked if isinstance(node, ast.Name)}
            left += sorted(used.intersection(self._by_name))
        return "\n\n\n".join(
            self._text(node) for node in self._nodes if taken.intersection(_binds(node))
        )

    def _text(self, node: ast.stmt) -> str:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        return "\n".join(self._lines[first - 1 : node.end_lineno])
