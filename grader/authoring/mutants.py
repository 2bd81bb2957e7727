"""Where checks are too weak: the reference with one mistake at a time, graded like a submission.

A mutant that earns what the reference earns has survived: no check sees its mistake. Some mutants
are no mistakes, because they do the same; ``assignments/<id>/mutants.yml`` marks those, each with
its reason::

    equivalent:
      - function: batched_matrix_multiply_loop
        was: z = x.new_empty((x.shape[0], x.shape[1], y.shape[2]))
        now: z = x.new_zeros((x.shape[0], x.shape[1], y.shape[2]))
        reason: every element is written afterwards
"""

from __future__ import annotations

import ast
import difflib
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from grader.assignment.dims import AssignmentPart
from grader.assignment.document import read_document, where
from grader.authoring.student_files import solution_spans
from grader.errors import AssignmentError, Problem
from grader.grading import Grader, Options
from grader.run.materials import Materials
from grader.sandbox.host.processes import Sandbox
from grader.static_analysis.mutation_operators import Alternative, alternatives, variants

MARKS = "mutants.yml"
LEAST = 0.95
"""Share of mutants that the checks of an assignment should catch."""
MOST_EQUIVALENT = 0.1
"""Share of mutants that may be marked."""

MutantProgress = Callable[[str, int, int], None]
"""Called with the question, how many of its mutants are done, and how many there are."""


class Equivalent(AssignmentPart):
    """A mutant that does the same as the reference.

    Attributes:
        function: Function or class that it is in.
        was: The changed line or lines of the reference, as the survivors' list shows them.
        now: The same in the mutant.
        reason: Why no check could tell the two apart.
    """

    function: str
    was: str = ""
    now: str = ""
    reason: Annotated[str, Field(min_length=10)]

    def marks(self, mutant: Mutant) -> bool:
        """Tell whether a mutant is the one that is meant."""
        return (self.function, self.was.strip(), self.now.strip()) == (
            mutant.function, mutant.was.strip(), mutant.now.strip(),
        )  # fmt: skip


class _Marks(AssignmentPart):
    equivalent: tuple[Equivalent, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the mutants of one question.

    Attributes:
        question: Its id, or a helper's name.
        caught: Mutants that lost points.
        survivors: Mutants that earned what the reference earns.
        equivalent: Mutants that are marked as doing the same.
        untried: Mutants of a question that this machine cannot grade.
    """

    question: str
    caught: int
    survivors: tuple[Mutant, ...]
    equivalent: int = 0
    untried: int = 0

    @property
    def total(self) -> int:
        """All mutants."""
        return self.caught + len(self.survivors) + self.equivalent + self.untried


def score_of(tallies: Iterable[Tally]) -> float:
    """Return the share of mutants that were caught, of those that were tried and do differ."""
    known = list(tallies)
    caught = sum(tally.caught for tally in known)
    tried = caught + sum(len(tally.survivors) for tally in known)
    return caught / tried if tried else 1.0


def read_marks(file: Path) -> tuple[Equivalent, ...]:
    """Return the mutants that an instructor marked; none where there is no file.

    Raises:
        AssignmentError: The file is broken.
    """
    if not file.is_file():
        return ()
    document = read_document(str(file), file.read_bytes())
    try:
        return _Marks.model_validate(document.data).equivalent
    except ValidationError as error:
        problems = []
        for detail in error.errors(include_url=False):
            path = tuple(detail["loc"])
            line = document.problem(path, detail["msg"]).line
            problems.append(Problem(str(file), line, where(path), detail["msg"]))
        raise AssignmentError(problems) from None


def try_mutants(
    materials: Materials,
    sandbox: Sandbox,
    options: Options,
    progress: MutantProgress = lambda *_: None,
) -> list[Tally]:
    """Grade every mutant of the reference.

    Args:
        materials: The assignment and its files.
        sandbox: Where mutants run.
        options: Seed, device, and the questions whose mutants to try.
        progress: Called with the progress made.

    Raises:
        AssignmentError: The reference's markers or the marks are at fault, or a mark fits nothing.
    """
    # Each mutant is one change away from the solution: mended, it would show nothing.
    assignment = materials.assignment.model_copy(update={"partial": False})
    materials = replace(materials, assignment=assignment)
    file = materials.root / "assignments" / assignment.id / MARKS
    marks = read_marks(file)
    # Of all questions, also where some are chosen: a mark for another question is not stale.
    mutants = [
        mutant
        for module in assignment.asked
        for mutant in mutants_of(materials.reference[module].decode("utf-8"), module)
    ]
    # A mark that fits no mutant was made for another text of the reference.
    if stale := [mark for mark in marks if not any(map(mark.marks, mutants))]:
        raise AssignmentError(
            Problem(
                str(file), None, mark.function,
                f"no mutant changes “{mark.was}” into “{mark.now}”; remove the mark, or mend it "
                "from the list of survivors",
            )
            for mark in stale
        )  # fmt: skip
    tallies = []
    for module, function in dict.fromkeys((mutant.file, mutant.function) for mutant in mutants):
        asked = [item for item in assignment.questions if assignment.file_of(item) == module]
        # Several questions may ask for one function; a helper answers none.
        chosen = tuple(q.id for q in asked if function == q.id or function in q.names)
        if options.questions and not {*chosen} & {*options.questions}:
            continue
        grader = Grader(materials, sandbox, Options(options.seed, options.device, chosen))
        trial = _Trial(materials, grader, marks)
        own = [mutant for mutant in mutants if (mutant.file, mutant.function) == (module, function)]
        tallies.append(trial.run(chosen[0] if chosen else function, own, progress))
    return tallies


class _Trial:
    """Grades the mutants of one question."""

    def __init__(self, materials: Materials, grader: Grader, marks: tuple[Equivalent, ...]) -> None:
        self._materials = materials
        self._grader = grader
        self._marks = marks

    def run(self, name: str, mutants: Sequence[Mutant], progress: MutantProgress) -> Tally:
        self._grader.prepare()
        full = self._earned({})
        marked = [m for m in mutants if any(mark.marks(m) for mark in self._marks)]
        tried = [mutant for mutant in mutants if mutant not in marked]
        # Here not even the reference earns anything, for want of a GPU, say: each mutant would
        # seem to survive.
        if not full:
            return Tally(name, 0, (), len(marked), len(tried))
        survivors = []
        for number, mutant in enumerate(tried):
            progress(name, number, len(tried))
            if self._earned({mutant.file: mutant.source.encode()}) >= full:
                survivors.append(mutant)
        return Tally(name, len(tried) - len(survivors), tuple(survivors), len(marked))

    def _earned(self, mutated: Mapping[str, bytes]) -> float:
        with tempfile.TemporaryDirectory() as folder:
            for path, data in {**self._materials.reference, **mutated}.items():
                target = Path(folder) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            return self._grader.grade(Path(folder), "mutant").score


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one mistake.

    Attributes:
        function: Function or class at module level that holds the mistake.
        kind: Such as ``operator`` or ``dropped statement``.
        was: The changed lines before, without indentation.
        now: The same after.
        source: The whole module.
        diff: Unified diff of the two.
        file: The module's, in the solution.
    """

    function: str
    kind: str
    was: str
    now: str
    source: str
    diff: str
    file: str = "reference"


def mutants_of(source: str, file: str = "reference") -> list[Mutant]:
    """Return every mutant of a reference module, in the order of its text, no two alike.

    Raises:
        AssignmentError: Its markers are at fault.
    """
    spans = solution_spans(source, file)
    blocks = ast.parse(source).body
    # Of the original too: a diff with its text would show comments and layout as mistakes.
    texts = [ast.unparse(block) for block in blocks]
    found: list[Mutant] = []
    for index, block in enumerate(blocks):
        if isinstance(block, (ast.FunctionDef, ast.ClassDef)):
            for mutated, kind in mistakes(block, spans).items():
                whole = "\n\n\n".join([*texts[:index], mutated, *texts[index + 1 :]]) + "\n"
                mutant = _mutant(block.name, kind, (texts[index], mutated), whole)
                found.append(replace(mutant, file=file))
    return found


def mistakes(block: ast.FunctionDef | ast.ClassDef, spans: list[tuple[int, int]]) -> dict[str, str]:
    """Return the texts of a function or class with one mistake each, and the mistakes' kinds."""
    return {
        variant.text: variant.kind
        for variant in variants(block, lambda node: _inside(node, spans))
        if _is_python(variant.text)
    }


def _is_python(text: str) -> bool:
    try:
        # What Python has to say of a text that nobody wrote is for nobody. Inheriting, it would be
        # compiled under this module's own ``__future__`` lines.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _inside(node: ast.AST, spans: list[tuple[int, int]]) -> Iterator[Alternative]:
    line = getattr(node, "lineno", None)
    if line is not None and any(first < line < last for first, last in spans):
        yield from alternatives(node)


def _mutant(function: str, kind: str, texts: tuple[str, str], source: str) -> Mutant:
    original, mutated = texts
    lines = list(
        difflib.unified_diff(
            original.splitlines(), mutated.splitlines(), "reference", "mutant", lineterm="", n=1
        )
    )
    changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    was, now = (
        "\n".join(line[1:].strip() for line in changed if line.startswith(sign)) for sign in "-+"
    )
    return Mutant(function, kind, was, now, source, "\n".join(lines[2:]))


def print_mutants(tallies: Sequence[Tally], console: Console) -> None:
    """Print how many mutants the checks caught, and those that they did not."""
    table = Table()
    table.add_column("question")
    for name in ("mutants", "caught", "survived", "equivalent", "untried"):
        table.add_column(name, justify="right")
    for tally in tallies:
        table.add_row(tally.question, *(str(number) for number in _row_of(tally)))
    sums = [sum(column) for column in zip(*map(_row_of, tallies), strict=True)] or [0] * 5
    table.add_section()
    table.add_row("all", *(str(number) for number in sums))
    console.print(table)
    for tally in tallies:
        for mutant in tally.survivors:
            console.print(f"[bold]{escape(mutant.function)}[/]: {mutant.kind}", highlight=False)
            console.print(escape(mutant.diff), highlight=False)
    console.print(_summary(tallies, sums), highlight=False)


def _row_of(tally: Tally) -> tuple[int, int, int, int, int]:
    return tally.total, tally.caught, len(tally.survivors), tally.equivalent, tally.untried


def _summary(tallies: Sequence[Tally], sums: Sequence[int]) -> str:
    score = score_of(tallies)
    lines = [f"Caught {score:.1%} of the mutants that were tried (at least {LEAST:.0%} wanted)."]
    if sums[2]:
        lines.append(
            f"Mend a check or add a case for each survivor; mark in {MARKS} what does the same."
        )
    if sums[3] > MOST_EQUIVALENT * sums[0]:
        lines.append(f"More than {MOST_EQUIVALENT:.0%} are marked as equivalent.")
    return "\n".join(lines)
