"""Grades files of the corpus under a small assignment of its own, and reads their labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.assignment.types import Assignment
from grader.grading import Grader, Options
from grader.report.model import CheckResult
from grader.run.materials import Materials
from grader.sandbox.host.processes import Sandbox

CORPUS = Path(__file__).parents[1] / "submissions" / "pytorch101" / "loops"
FILES = sorted(CORPUS.glob("*/*.py"))

REFERENCE = b"""
import torch


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)
"""

LOOP = b"""

def with_a_loop(x, y):
    return torch.stack([torch.mm(a, b) for a, b in zip(x, y)])
"""
TIMED = {"case": "whole_numbers", "loop": "with_a_loop", "dims": {"B": 512, "N": 2, "M": 3, "P": 2}}

QUESTION: dict[str, Any] = {
    "id": "batched_matrix_multiply_noloop",
    "title": "Batched matrix product without a loop",
    "points": 2,
    "cases": [
        {
            "id": "whole_numbers",
            "dims": {"B": [3, 9], "N": [2, 6], "M": [7, 16], "P": [17, 20]},
            "args": {
                "x": {"integers": ["B", "N", "M"], "low": -8, "high": 8, "dtype": "float32"},
                "y": {"integers": ["B", "M", "P"], "low": -8, "high": 8, "dtype": "float32"},
            },
        }
    ],
    "checks": [
        {"id": "product", "kind": "exact", "points": 1},
        {"id": "loops", "kind": "loops", "mode": "none", "points": 1, "requires": []},
    ],
}


@dataclass(frozen=True)
class Graded:
    """What the two checks said of one file."""

    product: CheckResult
    loops: CheckResult

    def says(self, witness: str) -> str:
        """Return one witness's word."""
        return next(str(item["says"]) for item in self.loops.witnesses if item["name"] == witness)


def grader(
    sandbox: Sandbox, reference: bytes = REFERENCE, clock: bool = False, **question: Any
) -> Grader:
    """Return a prepared grader for one question."""
    content = {
        "schema": "torchgrade/assignment/v1", "id": "pytorch101", "version": "1",
        "title": "Loops", "hand_in": ["pytorch101.py"], "questions": [{**QUESTION, **question}],
    }  # fmt: skip
    assignment = Assignment.model_validate(content)
    nowhere = Path("nowhere")
    files: Mapping[str, bytes] = {"pytorch101.py": reference}
    materials = Materials(assignment, files, {}, "", "", *[nowhere] * 4)
    ready = Grader(materials, sandbox, Options(seed=5, device="cpu", clock=clock))
    ready.prepare()
    return ready


def grade(ready: Grader, path: Path) -> Graded:
    """Grade one file."""
    report = ready.grade(path, path.stem)
    checks = {check.id: check for check in report.questions[0].checks}
    return Graded(checks["product"], checks["loops"])


def label(path: Path) -> tuple[str, str]:
    """Return what a file is, and the code that it must get."""
    text = path.read_text(encoding="utf-8")
    found = re.match(r"# (.+)\n# expect: (\w+)\n", text)
    assert found is not None, f"{path} has no label"
    return found[1], found[2]


def timed_label(path: Path) -> str | None:
    """Return the code that a file must get with the clock on, if its label names one."""
    found = re.search(r"^# timed: (\w+)\n", path.read_text(encoding="utf-8"), re.M)
    return found[1] if found else None
