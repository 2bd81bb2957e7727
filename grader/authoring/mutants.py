"""Where checks are too weak: the reference with one mistake at a time, graded like a hand-in.

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

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from grader.assignment.dims import AssignmentPart
from grader.assignment.document import read_document, where
from grader.assignment.types import Question
from grader.authoring.mutations import Mutant, mutants_of
from grader.errors import AssignmentError, Problem
from grader.run.grade import Grader, Options
from grader.run.materials import Materials
from grader.sandbox.host.guests import Sandbox

MARKS = "mutants.yml"
LEAST = 0.95
"""Share of mutants that the checks of an assignment should catch."""
MOST_EQUIVALENT = 0.1
"""Share of mutants that may be marked."""

Progress = Callable[[str, int, int], None]
"""Told the question, how many of its mutants are done, and how many there are."""


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
        """Whether a mutant is the one that is meant."""
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
    progress: Progress = lambda *_: None,
) -> list[Tally]:
    """Grade every mutant of the reference.

    Args:
        materials: The assignment and its files.
        sandbox: Where mutants run.
        options: Seed, device, and the questions whose mutants to try.
        progress: Told how far it is.

    Raises:
        AssignmentError: The reference's markers or the marks are at fault, or a mark fits nothing.
    """
    module = materials.assignment.module
    file = materials.root / "assignments" / materials.assignment.id / MARKS
    marks = read_marks(file)
    mutants = mutants_of(materials.reference[module].decode("utf-8"), module)
    _refuse_stale(file, marks, mutants)
    tallies = []
    for function in dict.fromkeys(mutant.function for mutant in mutants):
        chosen = _questions_of(materials.assignment.questions, function)
        if options.questions and not {*chosen} & {*options.questions}:
            continue
        trial = _Trial(materials, Grader(materials, sandbox, _only(options, chosen)), marks)
        own = [mutant for mutant in mutants if mutant.function == function]
        tallies.append(trial.run(chosen[0] if chosen else function, own, progress))
    return tallies


def _only(options: Options, questions: tuple[str, ...]) -> Options:
    return Options(options.seed, options.device, questions)


def _questions_of(questions: Sequence[Question], function: str) -> tuple[str, ...]:
    """Return the ids of the questions that a function answers; there may be several."""
    return tuple(q.id for q in questions if function == q.id or function in q.names)


def _refuse_stale(file: Path, marks: Iterable[Equivalent], mutants: Sequence[Mutant]) -> None:
    """Refuse marks that fit no mutant: they were made for another text of the reference."""
    stale = [mark for mark in marks if not any(mark.marks(mutant) for mutant in mutants)]
    if stale:
        raise AssignmentError(
            Problem(
                str(file), None, mark.function,
                f"no mutant changes “{mark.was}” into “{mark.now}”; remove the mark, or mend it "
                "from the list of survivors",
            )
            for mark in stale
        )  # fmt: skip


class _Trial:
    """Grades the mutants of one question."""

    def __init__(self, materials: Materials, grader: Grader, marks: tuple[Equivalent, ...]) -> None:
        self._materials = materials
        self._grader = grader
        self._marks = marks

    def run(self, name: str, mutants: Sequence[Mutant], progress: Progress) -> Tally:
        self._grader.prepare()
        module = self._materials.assignment.module
        full = self._earned(self._materials.reference[module])
        marked = [m for m in mutants if any(mark.marks(m) for mark in self._marks)]
        tried = [mutant for mutant in mutants if mutant not in marked]
        if not full:
            return Tally(name, 0, (), len(marked), len(tried))
        survivors = []
        for number, mutant in enumerate(tried):
            progress(name, number, len(tried))
            if self._earned(mutant.source.encode()) >= full:
                survivors.append(mutant)
        return Tally(name, len(tried) - len(survivors), tuple(survivors), len(marked))

    def _earned(self, source: bytes) -> float:
        with tempfile.TemporaryDirectory() as folder:
            for path, data in self._materials.reference.items():
                target = Path(folder) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            (Path(folder) / self._materials.assignment.module).write_bytes(source)
            return self._grader.grade(Path(folder), "mutant").score
