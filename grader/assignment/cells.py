"""Files of cells: many small modules in one file, with parts of the reference around them.

A cell begins with a line ``# %% name`` and a comment. It stands for a module: the code above the
first cell, right functions from the reference, and its own code. The line ``# right:``, in the
comment of the file or of the cell, names the right functions; what they use comes along, and what a
cell defines itself is left out. A cell whose comment has such a line goes by that one:
``# right: none`` for a cell that stands alone.

Labelled submissions are such cells, many small ones for one question::

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

A file whose cells bear no label is a whole file: an exported notebook has such lines, too.

Known mistakes, in ``reference/<id>/mistakes.py``, are such cells too: wrong functions of which the
author says what is wrong with them, in ``# says: …`` and ``# says-ko: …`` in place of a label, and
may say what they are worth, in ``# earns: 0.5`` and ``# voids: a rule, another``.
Nothing is executed here; ``grader.run.mistakes`` does that, in student processes.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from grader.assignment.types import Assignment, Question
from grader.errors import AssignmentError, Problem, UsageError, nearest
from grader.static_analysis.scope import first_line

LABELLED = Path("tests/submissions")
_ENDINGS = (".py", ".ipynb", ".zip")
_EXPECT = "# expect:"
_MARK = "# %% "
_RIGHT = re.compile(r"^# right: (.*)\n", re.MULTILINE)
_NONE = ["none"]

MISTAKES = "mistakes.py"
_SAYS = re.compile(r"^# says(?:-(ko))?: (.+(?:\n#   .+)*)", re.MULTILINE)
_LONGEST = 400
"""Characters of a sentence; messages cut what is longer."""

_EARNS = re.compile(r"^# earns:(.*)$", re.MULTILINE)
_VOIDS = re.compile(r"^# voids:(.*)$", re.MULTILINE)
_SHARE = re.compile(r"0|0?\.\d{1,2}")
DRAWN_CASES = 2
"""Cases with drawn values that a price takes: what is right in one alone may be known before."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as it is written.

    Attributes:
        name: What stands behind the mark.
        line: Of the mark, from 1.
        comment: The comment below it.
        code: All that follows.
        head: What stands above the first cell of the file.
    """

    name: str
    line: int
    comment: str
    code: str
    head: str

    @property
    def text(self) -> str:
        """The cell as it stands in its file, mark and all."""
        return f"{_MARK}{self.name}\n{self.comment}{self.code}"

    def module(self, reference: str) -> str:
        """Return the text of the module that the cell stands for.

        Raises:
            SyntaxError: The cell is no Python.
            UsageError: The reference has no such function.
        """
        about = _comment(self.head)
        shared = self.head.removeprefix(about).strip()
        own = set(self.binds())
        right = _RIGHT.search(self.comment) or _RIGHT.search(about)
        added = text_of(reference).functions(right[1].split(", "), own) if right else ""
        future = text_of(reference).future if added else ""
        text = (_RIGHT.sub("", self.comment), future, shared, added, self.code.strip())
        return "\n\n\n".join(filter(None, text)) + "\n"

    def binds(self) -> list[str]:
        """Return the names that the cell, or what stands above the first one, binds.

        Raises:
            SyntaxError: The cell is no Python.
        """
        return [name for node in self._body() for name in binds(node)]

    def defines(self) -> set[str]:
        """Return the names that it binds by anything but an import: another file has those.

        Raises:
            SyntaxError: The cell is no Python.
        """
        own = (node for node in self._body() if not isinstance(node, (ast.Import, ast.ImportFrom)))
        return {name for node in own for name in binds(node)}

    def _body(self) -> list[ast.stmt]:
        shared = self.head.removeprefix(_comment(self.head)).strip()
        return ast.parse(f"{shared}\n{self.code}").body


def split_cells(text: str) -> list[Cell]:
    """Return the cells of a file; none where it is no file of cells."""
    head, *cells = re.split(rf"^{_MARK}", text, flags=re.MULTILINE)
    found, line = [], head.count("\n") + 1
    for cell in cells:
        name, _, body = cell.partition("\n")
        comment = _comment(body)
        found.append(Cell(name, line, comment, body.removeprefix(comment), head))
        line += cell.count("\n")
    return found


def _comment(text: str) -> str:
    lines = text.splitlines(keepends=True)
    code = next((number for number, line in enumerate(lines) if line[:1] != "#"), len(lines))
    return "".join(lines[:code])


def binds(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds: those of a reference that ``# right:`` can take."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    else:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id


@functools.lru_cache(maxsize=8)
def text_of(module: str) -> ModuleText:
    """Return the text of a module, parsed once."""
    return ModuleText(module)


class ModuleText:
    """The text of a module, the reference's for one, of which parts can be had.

    Attributes:
        future: Its ``from __future__`` lines, without which its annotations may not be evaluated.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._nodes = ast.parse(text).body
        self._by_name = {name: node for node in self._nodes for name in binds(node)}
        imports = (node for node in self._nodes if isinstance(node, ast.ImportFrom))
        self.future = "\n".join(self._text(node) for node in imports if node.module == "__future__")

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
            self._text(node) for node in self._nodes if taken.intersection(binds(node))
        )

    def _text(self, node: ast.stmt) -> str:
        return "\n".join(self._lines[first_line(node) - 1 : node.end_lineno])


@dataclass(frozen=True, slots=True)
class LabelledSubmission:
    """One labelled submission.

    Attributes:
        name: The cell's name, or the file's without its ending.
        path: The file that holds it, or its folder.
        module: Text of a cell's module; None where ``path`` itself is the submission.
        file: What the module is called where questions stand in several files; else empty.
        beside: The solution's other files then, which are submitted with it.
    """

    name: str
    path: Path
    module: str | None = None
    file: str = ""
    beside: Mapping[str, str] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """Name of the folder that holds it, such as ``wrong``."""
        return self.path.parent.name

    @property
    def where(self) -> str:
        """Its file, and its cell in that, for messages."""
        return str(self.path) if self.module is None else f"{self.path}, cell “{self.name}”"

    @property
    def data(self) -> bytes:
        """Content of the file that is submitted."""
        return self.path.read_bytes() if self.module is None else self.module.encode()

    def placed(self, folder: Path) -> Path:
        """Return a path to grade. A cell's module is written into the folder."""
        if self.module is None:
            return self.path
        path = folder / f"{self.name}.py"
        if not self.file:
            path.write_bytes(self.data)
            return path
        path.with_suffix("").mkdir(exist_ok=True)
        for name, text in {**self.beside, self.file: self.module}.items():
            (path.with_suffix("") / name).write_text(text, encoding="utf-8")
        return path.with_suffix("")


def labelled_submissions(
    folder: Path,
    reference: Mapping[str, str],
    asked: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> list[LabelledSubmission]:
    """Return the submissions of a folder, sorted by name.

    Args:
        folder: Holds files, files of cells, and folders with one submission each.
        reference: File of the solution → its text. A cell belongs into the first.
        asked: File → functions that are asked for in it. Where these are several files, a cell
            belongs into the one of which it defines a function.

    Raises:
        UsageError: A cell is broken, or two submissions have the same name.
    """
    found: dict[str, LabelledSubmission] = {}
    for path in sorted(folder.iterdir()):
        if not path.is_dir() and path.suffix not in _ENDINGS:
            continue
        for submission in _submissions(path, reference, asked if len(asked) > 1 else {}):
            if submission.name in found:
                raise UsageError(
                    f"{path}: “{submission.name}” is the name of another submission in "
                    f"{found[submission.name].path}; choose another"
                )
            found[submission.name] = submission
    return [found[name] for name in sorted(found)]


def _submissions(
    path: Path, reference: Mapping[str, str], asked: Mapping[str, Collection[str]]
) -> Iterator[LabelledSubmission]:
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
            # A caller of the function may be in another file: what it defines itself counts.
            file = next((name for name in asked if cell.defines() & {*asked[name]}), "")
            module = cell.module(reference[file or next(iter(reference))])
        except (SyntaxError, UsageError) as error:
            raise UsageError(f"{path}: the cell “{cell.name}”: {error}") from None
        beside = {name: text for name, text in reference.items() if file not in ("", name)}
        yield LabelledSubmission(cell.name, path, module, file, beside)


def _is_label(comment: str) -> bool:
    return _EXPECT in comment.splitlines()


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
        earns: Share of the points of each check that its results fail; None where it has no price.
        voids: Checks that mean nothing where it is made: these earn what they earn without a price.
    """

    name: str
    line: int
    questions: tuple[str, ...]
    binds: frozenset[str]
    module: str
    says: Mapping[str, str] = field(default_factory=dict)
    earns: float | None = None
    voids: frozenset[str] = frozenset()


def read_mistakes(
    file: Path, assignment: Assignment, solutions: Mapping[str, str]
) -> tuple[KnownMistake, ...]:
    """Return the known mistakes of an assignment; none where there is no such file.

    Args:
        file: Of cells; need not exist.
        assignment: Whose questions the cells answer.
        solutions: File of the solution → its text, parts of which a cell may use.

    Raises:
        AssignmentError: A cell has no name, no sentence or no function of a question, or a price
            that cannot be.
    """
    if not file.is_file():
        return ()
    cells = split_cells(file.read_text(encoding="utf-8"))
    names = Counter(cell.name for cell in cells)
    problems = []
    if not cells:
        text = "it has no cell; begin each with “# %% name”"
        problems.append(Problem(str(file), None, "", text))
    for cell in cells:
        texts = [*_amiss(cell, assignment)]
        if names[cell.name] > 1:
            texts.append("another cell has this name")
        problems += [Problem(str(file), cell.line, cell.name, text) for text in texts]
    if problems:
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
    earns = _EARNS.search(cell.comment)
    return KnownMistake(
        cell.name,
        cell.line,
        ids,
        binds,
        module,
        _says(cell),
        None if earns is None else float(earns[1]),
        frozenset(_voids(cell)),
    )


def _asked(cell: Cell, assignment: Assignment) -> tuple[Question, ...]:
    names = cell.defines()
    return tuple(item for item in assignment.questions if names.intersection(item.names))


def _says(cell: Cell) -> dict[str, str]:
    return {
        language or "en": re.sub(r"\n#\s+", " ", text)
        for language, text in _SAYS.findall(cell.comment)
    }


def _voids(cell: Cell) -> list[str]:
    found = _VOIDS.search(cell.comment)
    return [name.strip() for name in found[1].split(",")] if found else []


def _amiss(cell: Cell, assignment: Assignment) -> Iterator[str]:
    """Yield what is wrong with a cell."""
    if not cell.name.isidentifier():
        yield "the name of a cell has letters, digits and _ alone"
    says = _says(cell)
    if not says:
        yield "say what is wrong with it, in a line “# says: …” right below the name"
    for text in says.values():
        if len(text) > _LONGEST:
            yield f"its sentence has {len(text)} characters; write at most {_LONGEST}"
    try:
        asked = _asked(cell, assignment)
    except SyntaxError as error:
        yield f"{error.msg} (line {(error.lineno or 1)} of the cell)"
        return
    if not asked:
        yield "it defines no function that a question asks for"
    if len(files := {assignment.file_of(question) for question in asked}) > 1:
        yield f"its functions belong into {' and '.join(sorted(files))}; write a cell for each"
    yield from _amiss_in_price(cell, asked)


def _amiss_in_price(cell: Cell, asked: Sequence[Question]) -> Iterator[str]:
    earns, voids = _EARNS.findall(cell.comment), _voids(cell)
    drawn = [sum(case.repeats for case in each.cases if case.varies) for each in asked]
    if len(earns) > 1 or len(_VOIDS.findall(cell.comment)) > 1:
        yield "it has two prices; keep one line “# earns: …”, and one “# voids: …”"
    elif earns and not _SHARE.fullmatch(earns[0].strip()):
        yield f"“# earns:{earns[0]}” is no share of the points; write 0, or one such as 0.5 or 0.25"
    elif earns and float(earns[0]) and all(count < DRAWN_CASES for count in drawn):
        yield (
            "a price would be earned without the work: no question that it answers has "
            f"{DRAWN_CASES} cases with drawn values; add some, or leave out “# earns: …”"
        )
    if voids and not earns:
        yield "“# voids: …” belongs to a price; write “# earns: …”, too"


def unknown_voids(mistake: KnownMistake, assignment: Assignment) -> Iterator[str]:
    """Yield what is wrong with the checks that a mistake is said to void."""
    asked = (item for item in assignment.questions if item.id in mistake.questions)
    checks = [check.id for question in asked for check in question.listed]
    for name in sorted(mistake.voids - {*checks}):
        yield f"“# voids:” names “{name}”, which is no check of it{nearest(name, checks)}"
