"""Known mistakes: wrong functions of which the author says what is wrong with them.

``reference/<id>/mistakes.py`` is a file of cells (``grader.assignment.cells``). Each cell is one
mistake: its sentence, and the functions that have it::

    # %% by_columns
    # says: You divided by N, the number of columns; the divisor is M - 1.
    # says-ko: 열의 수 N으로 나누었습니다. 나눌 수는 M - 1입니다.

    def normalize_columns(x):
        ...

Nothing is executed here; ``grader.run.mistakes`` does that, in student processes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.assignment.cells import Cell, split_cells
from grader.assignment.types import Assignment, Question
from grader.errors import AssignmentError, Problem, UsageError

MISTAKES = "mistakes.py"
_SAYS = re.compile(r"^# says(?:-(ko))?: (.+(?:\n#   .+)*)", re.MULTILINE)
_MOST = 400
"""Characters of a sentence; messages cut what is longer."""


@dataclass(frozen=True, slots=True)
class KnownMistake:
    """A wrong way to write the function of a question.

    Attributes:
        name: Of its cell.
        line: Of its cell.
        questions: Ids of the questions whose function it defines.
        binds: Names that its cell defines.
        module: Text of a module with that function.
        says: Language, ``en`` or ``ko`` → what the author says of it.
    """

    name: str
    line: int
    questions: tuple[str, ...]
    binds: frozenset[str]
    module: str
    says: Mapping[str, str] = field(default_factory=dict)


def read_mistakes(
    file: Path, assignment: Assignment, solutions: Mapping[str, str]
) -> tuple[KnownMistake, ...]:
    """Return the known mistakes of an assignment; none where there is no such file.

    Args:
        file: Of cells; need not exist.
        assignment: Whose questions the cells answer.
        solutions: File of the solution → its text, parts of which a cell may use.

    Raises:
        AssignmentError: A cell has no name, no sentence or no function of a question.
    """
    if not file.is_file():
        return ()
    cells = split_cells(file.read_text(encoding="utf-8"))
    if problems := list(_problems(file, cells, assignment)):
        raise AssignmentError(problems)
    return tuple(_mistake(file, cell, assignment, solutions) for cell in cells)


def _mistake(
    file: Path, cell: Cell, assignment: Assignment, solutions: Mapping[str, str]
) -> KnownMistake:
    asked, binds = _asked(cell, assignment), frozenset(cell.binds())
    try:
        module = cell.module(solutions[assignment.file_of(asked[0])])
    except UsageError as error:
        raise AssignmentError([Problem(str(file), cell.line, cell.name, str(error))]) from None
    ids = tuple(question.id for question in asked)
    return KnownMistake(cell.name, cell.line, ids, binds, module, _says(cell))


def _asked(cell: Cell, assignment: Assignment) -> tuple[Question, ...]:
    names = cell.defines()
    return tuple(item for item in assignment.questions if names.intersection(item.names))


def _says(cell: Cell) -> dict[str, str]:
    return {
        language or "en": re.sub(r"\n#\s+", " ", text)
        for language, text in _SAYS.findall(cell.comment)
    }


def _problems(file: Path, cells: Sequence[Cell], assignment: Assignment) -> Iterator[Problem]:
    if not cells:
        yield Problem(str(file), None, "", "it has no cell; begin each with “# %% name”")
    names = Counter(cell.name for cell in cells)
    for cell in cells:
        for text in _amiss(cell, assignment):
            yield Problem(str(file), cell.line, cell.name, text)
        if names[cell.name] > 1:
            yield Problem(str(file), cell.line, cell.name, "another cell has this name")


def _amiss(cell: Cell, assignment: Assignment) -> Iterator[str]:
    """Yield what is wrong with a cell."""
    if not cell.name.isidentifier():
        yield "the name of a cell has letters, digits and _ alone"
    says = _says(cell)
    if not says:
        yield "say what is wrong with it, in a line “# says: …” right below the name"
    for text in says.values():
        if len(text) > _MOST:
            yield f"its sentence has {len(text)} characters; write at most {_MOST}"
    try:
        asked = _asked(cell, assignment)
    except SyntaxError as error:
        yield f"{error.msg} (line {(error.lineno or 1)} of the cell)"
        return
    if not asked:
        yield "it defines no function that a question asks for"
    if len(files := {assignment.file_of(question) for question in asked}) > 1:
        yield f"its functions belong into {' and '.join(sorted(files))}; write a cell for each"
