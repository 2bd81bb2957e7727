from __future__ import annotations

import ast
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
import toy_starter
from rich.console import Console

from grader.assignment.cells import labelled_submissions
from grader.authoring.labelled import write_proposals
from grader.authoring.mutants import (
    Mutant,
    Tally,
    mutants_of,
    print_mutants,
    read_marks,
    score_of,
    try_mutants,
)
from grader.errors import AssignmentError
from grader.grading import Grader, Options
from grader.run.materials import load_materials
from grader.sandbox.host.processes import Sandbox

MODULE = '''\
"""A module."""

import torch

LEFT_ALONE = 1 + 2


def given(x):
    return x - 1


def solve(x, by=2):
    """Return it."""
    # BEGIN SOLUTION
    {}
    # END SOLUTION
'''


def now(*lines: str) -> dict[str, str]:
    """Changed line → kind, for every mutant of a solution."""
    source = MODULE.format("\n    ".join(lines))
    return {mutant.now: mutant.kind for mutant in mutants_of(source)}


@pytest.mark.parametrize(
    ("line", "mutated", "kind"),
    [
        ("return x + by", "return x - by", "operator"),
        ("return x - by", "return by - x", "swapped operands"),
        ("return x - by", "return x", "dropped operand"),
        ("return x < by", "return x <= by", "comparison"),
        ("return x < by", "return x >= by", "comparison"),
        ("return x[1:by]", "return x[0:by]", "off by one"),
        ("return x[1:by]", "return x[1:by + 1]", "off by one"),
        ("return x[1:by]", "return x[:by]", "dropped lower bound"),
        ("return x[0]", "return x[-1]", "off by one"),
        ("return x[-1]", "return x[1]", "dropped sign"),
        ("return x.sum(dim=0)", "return x.sum(dim=1)", "off by one"),
        ("return x.sum(dim=0)", "return x.sum()", "dropped dim"),
        ("return x.sum(dim=0)", "return x.prod(dim=0)", "other name"),
        ("return x.sum(dim=0)", "return x", "dropped call"),
        ("return torch.zeros(3, dtype=x.dtype)", "return torch.zeros(3)", "dropped dtype"),
        ("return torch.mm(x, by)", "return torch.mm(by, x)", "swapped arguments"),
        ("return x.sub_(by)", "return x.sub(by)", "dropped in-place"),
        ("return x.T", "return x", "dropped transpose"),
        ("return x ** 0.5", "return x ** 1.5", "constant"),
        ("return x.any(keepdim=True)", "return x.any(keepdim=False)", "constant"),
        ("return x and by", "return x or by", "logic"),
        ("return x", "x", "dropped return"),
        ("return x[1, by]", "return x[by, 1]", "swapped indices"),
        ("return (x, by)", "return (by, x)", "swapped entries"),
        ("return x if by else 0", "return x if not by else 0", "negated condition"),
        ("return [a for a in x if a]", "return [a for a in x]", "dropped filter"),
        ("return not x", "return x", "dropped sign"),
    ],
)
def test_kinds_of_mistakes(line: str, mutated: str, kind: str) -> None:
    assert now(line)[mutated] == kind


@pytest.mark.parametrize(
    ("lines", "mutated", "kind"),
    [
        (("x += by", "return x"), "x = x + by", "dropped in-place"),
        (("x[0] = by", "return x"), "pass", "dropped statement"),
        (("for i in range(by):", "    x[i] = 0", "return x"), "for i in range(by - 1):",
         "off by one"),
        (("for i in range(by):", "    x[i] = 0", "return x"), "break", "first turn only"),
    ],
)  # fmt: skip
def test_kinds_of_mistakes_in_several_lines(
    lines: tuple[str, ...], mutated: str, kind: str
) -> None:
    assert now(*lines)[mutated] == kind


def test_a_mutant_differs_in_the_solution_only_and_is_python() -> None:
    source = MODULE.format("y = x.clone()\n    y += by * 2\n    return y")
    mutants = mutants_of(source)
    before = ast.parse(source).body
    assert len({mutant.source for mutant in mutants}) == len(mutants) > 10
    for mutant in mutants:
        after = ast.parse(mutant.source).body
        assert [ast.unparse(node) for node in after[:-1]] == [
            ast.unparse(node) for node in before[:-1]
        ]
        assert ast.unparse(after[-1]) != ast.unparse(before[-1])
        assert mutant.function == "solve"
        assert mutant.diff.startswith("@@")


def test_a_method_of_a_class_belongs_to_its_class() -> None:
    source = (
        "class Model:\n    def fit(self, x):\n        # BEGIN SOLUTION\n"
        "        self.x = x + 1\n        # END SOLUTION\n"
    )
    assert {mutant.function for mutant in mutants_of(source)} == {"Model"}


def test_markers_at_fault_are_told() -> None:
    with pytest.raises(AssignmentError, match="no “END SOLUTION”"):
        mutants_of("def f(x):\n    # BEGIN SOLUTION\n    return x\n")


ASSIGNMENT = """\
schema: torchgrade/assignment/v1
id: demo
version: "1"
title: Demo
hand_in: [demo.py]
questions:
  - id: double
    title: Double
    points: 1
    cases:
      - {id: zero, args: {x: {tensor: CONTENT}}}
    checks:
      - {id: value, kind: exact, points: 1}
"""
REFERENCE = """\
def double(x):
    # BEGIN SOLUTION
    return x * 2
    # END SOLUTION
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with toy_starter.lent() as sandbox:  # its processes start in milliseconds
        yield sandbox


def assignment(root: Path, content: str, marks: str = "") -> Path:
    for name in ("assignments", "reference"):
        (root / name / "demo").mkdir(parents=True)
    folder = root / "assignments/demo"
    (folder / "assignment.yml").write_text(ASSIGNMENT.replace("CONTENT", content))
    (root / "reference/demo/demo.py").write_text(REFERENCE)
    if marks:
        (folder / "mutants.yml").write_text(marks)
    return folder / "assignment.yml"


def test_survivors_show_a_check_that_is_too_weak(tmp_path: Path, sandbox: Sandbox) -> None:
    file = assignment(tmp_path, "[0, 2]")
    seen = []
    (tally,) = try_mutants(
        load_materials(file), sandbox, Options(1), lambda *args: seen.append(args)
    )
    assert tally.question == "double"
    assert tally.survivors == ()
    assert tally.caught == tally.total >= 6
    assert seen[0] == ("double", 0, tally.total)


MARK = """\
equivalent:
  - function: double
    was: return x * 2
    now: return x * 3
    reason: nothing times anything is nothing
"""


def test_marked_mutants_are_not_tried(tmp_path: Path, sandbox: Sandbox) -> None:
    file = assignment(tmp_path, "[0, 0]", MARK)
    (tally,) = try_mutants(load_materials(file), sandbox, Options(1))
    assert tally.equivalent == 1
    assert {"return x * 1", "return x"} <= {mutant.now for mutant in tally.survivors}
    assert "return x * 3" not in {mutant.now for mutant in tally.survivors}
    out = io.StringIO()
    print_mutants([tally], Console(file=out, width=100))
    assert "+    return x * 1" in out.getvalue()
    assert "mutants.yml" in out.getvalue()


def test_a_mark_that_fits_nothing_is_refused(tmp_path: Path, sandbox: Sandbox) -> None:
    file = assignment(tmp_path, "[1]", MARK.replace("x * 3", "x * 9"))
    with pytest.raises(AssignmentError, match=r"no mutant changes “return x . 2” into"):
        try_mutants(load_materials(file), sandbox, Options(1))


def test_a_broken_mark_has_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mutants.yml"
    assert read_marks(file) == ()
    file.write_text("equivalent:\n  - function: f\n    reason: short\n")
    with pytest.raises(AssignmentError, match=r"mutants.yml:3: equivalent\[0\].reason"):
        read_marks(file)


def test_the_score_counts_what_was_tried() -> None:
    mutant = Mutant("f", "operator", "a", "b", "", "")
    assert score_of([]) == 1.0
    tallies = [Tally("f", 3, (mutant,), equivalent=2), Tally("g", 0, (), untried=9)]
    assert score_of(tallies) == 0.75
    assert [tally.total for tally in tallies] == [6, 9]


HELPED = """\
import operator

TIMES = 2


def twice(x):
    \"\"\"Return it twice.\"\"\"
    # BEGIN SOLUTION
    return operator.mul(x, TIMES)
    # END SOLUTION


def double(x):
    # BEGIN SOLUTION
    return twice(x) + 0 * x
    # END SOLUTION
"""


def test_survivors_are_written_as_cells_that_earn_everything(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    file = assignment(tmp_path, "[0, 0]")
    (tmp_path / "reference/demo/demo.py").write_text(HELPED)
    materials = load_materials(file)
    tallies = try_mutants(materials, sandbox, Options(1))
    folder = tmp_path / "tests/submissions/demo/proposed"
    # A helper's mutants are graded with the whole assignment.
    assert write_proposals(tallies, materials) == [folder / "twice.py", folder / "double.py"]
    proposed = labelled_submissions(folder, {"demo.py": HELPED})
    assert len(proposed) == sum(len(tally.survivors) for tally in tallies) > 5
    grader = Grader(materials, sandbox, Options(1))
    grader.prepare()
    for submission in proposed:
        text = submission.data.decode()
        assert "double: {status: failed}" in text
        assert "BEGIN" not in text.rpartition("\n\n\n")[2]
        path = submission.placed(tmp_path)
        assert grader.grade(path, submission.name).score == 1, text
        path.unlink()


def test_proposals_go_once_a_case_catches_them(tmp_path: Path, sandbox: Sandbox) -> None:
    file = assignment(tmp_path, "[0, 0]")
    materials = load_materials(file)
    (path,) = write_proposals(try_mutants(materials, sandbox, Options(1)), materials)
    assert path.read_text().startswith("# Wrong ways to write double? Proposed by")
    file.write_text(file.read_text().replace("[0, 0]", "[0, 2]"))
    materials = load_materials(file)
    assert write_proposals(try_mutants(materials, sandbox, Options(1)), materials) == []
    assert not path.exists()
