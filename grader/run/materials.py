"""The instructor's files, read once for a run, and what student processes load of them."""

from __future__ import annotations

import hashlib
import io
import tokenize
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.assignment.cells import MISTAKES, KnownMistake, read_mistakes
from grader.assignment.document import read_document
from grader.assignment.find import COURSE_FILE, assignment_digest, locate
from grader.assignment.load import load_assignment
from grader.assignment.translation import translations
from grader.assignment.types import Assignment, Question
from grader.errors import AssignmentError, Problem
from grader.wire.messages import Load


@dataclass(frozen=True, slots=True)
class Materials:
    """An assignment with its files' contents.

    Attributes:
        assignment: What is asked.
        reference: Path → content of the solution.
        support: Path → content of the read-only files that go with every submission.
        scenario: Source of the scenario file, or empty.
        digest: Over all of these; changes whenever grades could.
        starter: Folder of what students start from; need not exist.
        reference_folder: Folder of the solution.
        root: Folder that holds ``assignments/``.
        folder: Folder of the assignment's file, its scenario and its support files.
        given: Source of the functions that run beside a submission for a scenario, or empty.
        mistakes: Wrong functions of which the author says what is wrong with them.
        titles: Language → question → title; the assignment's own is under ``""``.
    """

    assignment: Assignment
    reference: Mapping[str, bytes]
    support: Mapping[str, bytes]
    scenario: str
    digest: str
    starter: Path
    reference_folder: Path
    root: Path
    folder: Path
    given: str = ""
    mistakes: tuple[KnownMistake, ...] = ()
    titles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def starter_digest(self) -> str:
        """Digest over the assignment's files and its known mistakes, which a starter is made of."""
        # Not in ``digest``: a reworded sentence changes no grade, and must not refuse a batch that
        # goes on.
        # Prices that are given are part of ``digest``.
        known = [(item.name, item.module, sorted(item.says.items())) for item in self.mistakes]
        text = f"{self.digest}{known}".encode()
        return hashlib.sha256(text).hexdigest() if known else self.digest

    def file_of(self, question: Question) -> str:
        """Path of the solution's file that holds a question, for whoever writes it."""
        return str(self.reference_folder / self.assignment.file_of(question))

    def program(self, files: Mapping[str, bytes], module: str = "") -> Load:
        """Return a program to load: these files with the assignment's own beside them.

        Args:
            files: Of a submission, or of the solution.
            module: The file whose functions are called; the assignment's own where empty.
        """
        known = self.assignment
        return Load(
            dict(files),
            module or known.module,
            dict(self.support),
            modules=dict(known.modules),
            given=self.given,
        )


def load_materials(file: Path) -> Materials:
    """Read an assignment and everything that belongs to it.

    Raises:
        AssignmentError: The file is broken, or a file that it names is not there.
        UsageError: It cannot be read.
    """
    assignment = load_assignment(file)
    located = locate(file, assignment)
    reference = dict(zip(assignment.hand_in, located.hand_in, strict=True))
    support = dict(zip(assignment.support, located.support, strict=True))
    scenario, given = (
        path.read_text(encoding="utf-8") if path else ""
        for path in (located.scenario, located.given)
    )
    contents = _contents(file, "hand_in", reference)
    solutions = {name: data.decode("utf-8", "replace") for name, data in contents.items()}
    partial = assignment.partial and not _all_or_nothing(located.root / COURSE_FILE)
    mistakes = read_mistakes(located.reference / MISTAKES, assignment, solutions)
    if not partial:
        assignment = assignment.model_copy(update={"partial": False})
        mistakes = tuple(replace(each, earns=None, voids=frozenset()) for each in mistakes)
    ids = [question.id for question in assignment.questions]
    return Materials(
        assignment,
        contents,
        _contents(file, "support", support),
        scenario,
        _with_prices(assignment_digest(located), mistakes),
        located.starter,
        located.reference,
        located.root,
        located.folder,
        given,
        mistakes,
        {
            language: {"": words.title, **words.titles}
            for language, words in translations(located.folder, ids).items()
        },
    )


def _with_prices(digest: str, mistakes: Iterable[KnownMistake]) -> str:
    """Return a digest that the prices of mistakes are part of."""
    # Without any it stays: what was graded before there were prices stands under the same one.
    known = [
        # Without its comments, which hold the sentences.
        (_uncommented(each.module), each.questions, each.earns, sorted(each.voids))
        for each in mistakes
        if each.earns
    ]
    return hashlib.sha256(f"{digest}{known}".encode()).hexdigest() if known else digest


def _uncommented(source: str) -> str:
    """Return a program's text without comments and empty lines: the same under every Python."""
    lines = source.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _all_or_nothing(course: Path) -> bool:
    """Tell whether a course has turned prices off."""
    # A broken file is for whoever reads all of it to report.
    with suppress(AssignmentError, OSError):
        data = read_document(str(course), course.read_bytes()).data
        return isinstance(data, dict) and data.get("partial") is False
    return False


def _contents(file: Path, key: str, paths: Mapping[str, Path]) -> dict[str, bytes]:
    missing = [path for path in paths.values() if not path.is_file()]
    if missing:
        raise AssignmentError(
            Problem(str(file), None, key, f"there is no file {path}; write it, or mend {key}")
            for path in missing
        )
    return {name: path.read_bytes() for name, path in paths.items()}
