"""Does honest, unusual code wait for a person? ``python tests/bench/unusual.py [ASSIGNMENT…]``

Writes each program of ``tests/unusual/programs.py`` around the solution of an assignment, grades
it with the default options, and compares each question with what the solution earns on the same
machine. Without arguments the programs are dealt out to four assignments in turn; each assignment
that is named gets all of them.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from variants import reference_of  # noqa: E402  tests/ is no package

from grader.grading import Grader, Options  # noqa: E402
from grader.report.model import Report  # noqa: E402
from grader.run.materials import load_materials  # noqa: E402
from grader.sandbox.host.open import open_sandbox  # noqa: E402

PROGRAMS = ROOT / "tests/unusual/programs.py"
ASSIGNMENTS = ("pytorch101", "knn", "linear_classifier", "attention")
SEED = 2020


def programs() -> dict[str, str]:
    """Return name → text of each program, with the line where the solution goes."""
    _, *cells = re.split(r"^# %% ", PROGRAMS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text for name, _, text in (cell.partition("\n") for cell in cells)}


def around(program: str, solution: str, questions: frozenset[str]) -> str:
    """Return a submission: a program with a solution in its middle, decorated where it says so."""
    if wish := re.search(r"^# decorate: (\w+)$", program, flags=re.MULTILINE):
        solution = re.sub(
            r"^def (\w+)\(",
            lambda found: f"@{wish[1]}\n{found[0]}" if found[1] in questions else found[0],
            solution,
            flags=re.MULTILINE,
        )
    return program.replace("# solution\n", solution, 1)


def graded(grader: Grader, source: str) -> Report:
    """Grade a submission of one file."""
    with tempfile.TemporaryDirectory() as folder:
        name = grader.materials.assignment.module
        (Path(folder) / name).write_text(source, encoding="utf-8")
        return grader.grade(Path(folder), "unusual")


def differing(report: Report, right: Report) -> Iterator[tuple[str, bool]]:
    """Yield each question that does not earn what the solution earns, and whether it waits."""
    for mine, wanted in zip(report.questions, right.questions, strict=True):
        if mine.score < wanted.score:
            yield mine.id, mine.score + mine.pending >= wanted.score + wanted.pending


def main() -> None:
    """Grade all programs and print what came of them."""
    named = tuple(sys.argv[1:])
    work = (
        [(name, each) for name in named for each in programs().items()]
        if named
        else list(zip(cycle(ASSIGNMENTS), programs().items()))
    )
    questions = waiting = refused = files = 0
    with open_sandbox("auto") as sandbox:
        for assignment in dict.fromkeys(name for name, _ in work):
            materials = load_materials(ROOT / "assignments" / assignment / "assignment.yml")
            grader = Grader(materials, sandbox, Options(SEED, "auto", clock=True))
            grader.prepare()
            solution = reference_of(assignment)
            right = graded(grader, solution)
            ids = frozenset(question.id for question in right.questions)
            for _, (name, program) in (each for each in work if each[0] == assignment):
                report = graded(grader, around(program, solution, ids))
                found = dict(differing(report, right))
                questions += len(ids)
                waiting += sum(found.values())
                refused += len(found) - sum(found.values())
                files += bool(found)
                if found:
                    print(f"{assignment} {name}: {_listed(found)}", flush=True)
    print(
        f"{len(work)} programs, {files} with a difference. "
        f"{questions} questions: {waiting} wait for a person, {refused} are refused."
    )


def _listed(found: dict[str, bool]) -> str:
    return ", ".join(f"{name} {'waits' if waits else 'refused'}" for name, waits in found.items())


if __name__ == "__main__":
    main()
