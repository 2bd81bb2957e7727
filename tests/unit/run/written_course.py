"""A course of one assignment, written from its texts."""

from __future__ import annotations

from pathlib import Path

from grader.authoring.lint import new_assignment
from grader.run.materials import Materials, load_materials


def written_course(
    root: Path, name: str, text: str, reference: str, mistakes: str = ""
) -> Materials:
    """Return what is read of an assignment that is written.

    Args:
        root: Of the course.
        name: Id of the assignment.
        text: Of ``assignment.yml``.
        reference: Of the solution.
        mistakes: Of ``mistakes.py``; none is written where empty.
    """
    new_assignment(name, root)
    file = root / "assignments" / name / "assignment.yml"
    file.write_text(text)
    folder = root / "reference" / name
    (folder / f"{name}.py").write_text(reference)
    if mistakes:
        (folder / "mistakes.py").write_text(mistakes)
    return load_materials(file)
