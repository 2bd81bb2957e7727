"""The instructor's files that a run needs, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.assignment.find import assignment_digest, locate
from grader.assignment.load import load_assignment
from grader.assignment.types import Assignment
from grader.errors import AssignmentError, Problem
from grader.run.program import Program


@dataclass(frozen=True, slots=True)
class Materials:
    """An assignment with its files' contents.

    Attributes:
        assignment: What is asked.
        reference: Path → content of the solution.
        support: Path → content of the read-only files that go with every hand-in.
        scenario: Source of the scenario file, or empty.
        digest: Over all of these; changes whenever grades could.
        starter: Folder of what students start from; need not exist.
        reference_folder: Folder of the solution.
        root: Folder that holds ``assignments/``.
        folder: Folder of the assignment's file, its scenario and its support files.
        given: Source of the functions that run beside a submission for a scenario, or empty.
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

    def program(self, files: Mapping[str, bytes]) -> Program:
        """Return what a guest loads: these hand-in files with the assignment's own beside them."""
        assignment = self.assignment
        return Program(files, assignment.module, self.support, assignment.modules, self.given)


def load_materials(file: Path) -> Materials:
    """Read an assignment and everything that belongs to it.

    Args:
        file: Its ``assignment.yml``.

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
    return Materials(
        assignment,
        _contents(file, "hand_in", reference),
        _contents(file, "support", support),
        scenario,
        assignment_digest(located),
        located.starter,
        located.reference,
        located.root,
        located.folder,
        given,
    )


def _contents(file: Path, key: str, paths: Mapping[str, Path]) -> dict[str, bytes]:
    missing = [path for path in paths.values() if not path.is_file()]
    if missing:
        raise AssignmentError(
            Problem(str(file), None, key, f"there is no file {path}; write it, or mend {key}")
            for path in missing
        )
    return {name: path.read_bytes() for name, path in paths.items()}
