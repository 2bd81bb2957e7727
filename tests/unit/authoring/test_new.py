"""A new assignment grades, lints and can be handed out before anything was written in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import toy_starter

from grader.assignment.find import find_assignment, locate
from grader.assignment.load import load_assignment
from grader.authoring.lint import lint_assignment, new_assignment
from grader.authoring.starter import build_starter, check_starter, write_starter
from grader.errors import UsageError
from grader.run.materials import load_materials


def test_it_is_whole(tmp_path: Path) -> None:
    paths = new_assignment("first_steps", tmp_path)
    assert all(path.is_file() for path in paths)
    file = find_assignment("first_steps", tmp_path)
    spec = load_assignment(file)
    located = locate(file, spec)
    files = build_starter(spec, located.folder, located.reference)
    write_starter(files, located.starter)
    assert check_starter(files, located.starter) == []
    with toy_starter.lent() as sandbox:
        assert lint_assignment(load_materials(file), sandbox) == []
    assert spec.title == "First steps"


BY_HAND = """  - id: why
    title: An essay
    points: 2
    cases: [{id: text}]
    checks: [{id: content, kind: by_hand, points: 2}]
"""
ESSAY = (
    '\n\ndef why():\n    """Say why."""\n    # BEGIN SOLUTION\n    return "x"\n    # END SOLUTION\n'
)


def test_nobody_asks_for_a_submission_that_a_person_refuses(tmp_path: Path) -> None:
    new_assignment("first_steps", tmp_path)
    file = find_assignment("first_steps", tmp_path)
    file.write_text(file.read_text() + BY_HAND)
    reference = tmp_path / "reference/first_steps/first_steps.py"
    reference.write_text(reference.read_text() + ESSAY)
    (file.parent / "handout.md").unlink()
    located = locate(file, load_assignment(file))
    files = build_starter(load_assignment(file), located.folder, located.reference)
    write_starter(files, located.starter)
    with toy_starter.lent() as sandbox:
        assert lint_assignment(load_materials(file), sandbox) == []


def test_points_that_rest_on_the_word_of_a_process_are_noted(tmp_path: Path) -> None:
    new_assignment("first_steps", tmp_path)
    file = find_assignment("first_steps", tmp_path)
    spec = load_assignment(file)
    located = locate(file, spec)
    # By its name alone: autograd's work is operations like any other.
    by_name = "      - {id: by_hand, kind: forbidden_ops, points: 0.5, calls: [backward]}\n"
    lines = file.read_text().replace("    checks:\n", f"    checks:\n{by_name}", 1)
    file.write_text(
        re.sub(r"points: (\d+)\n", lambda found: f"points: {int(found[1]) + 0.5}\n", lines, count=1)
    )
    write_starter(build_starter(spec, located.folder, located.reference), located.starter)
    notes: list[str] = []
    with toy_starter.lent() as sandbox:
        lint_assignment(load_materials(file), sandbox, labels=False, note=notes.append)
    assert len(notes) == 1
    assert "by_hand (0.5)" in notes[0]


def test_what_another_processor_would_refute_is_found(tmp_path: Path) -> None:
    new_assignment("first_steps", tmp_path)
    file = find_assignment("first_steps", tmp_path)
    reference = tmp_path / "reference/first_steps/first_steps.py"
    # Stands for last bits, which differ in a way of their own on each machine.
    odd = "2 * x + 1e-3 * (torch.backends.cpu.get_cpu_capability() == 'DEFAULT')"
    text = reference.read_text().replace("2 * x", odd)
    reference.write_text(
        text.replace("from torch import Tensor", "import torch\nfrom torch import Tensor")
    )
    located = locate(file, spec := load_assignment(file))
    write_starter(build_starter(spec, located.folder, located.reference), located.starter)
    with toy_starter.lent() as sandbox:
        (found,) = lint_assignment(load_materials(file), sandbox)
    assert found.where == "double.values"
    assert "from one processor to another: allow for it (kind: close)" in found.text


@pytest.mark.parametrize("name", ["", "First", "a-b", "1a", "class", "a/b", "../a"])
def test_what_is_no_module_is_no_id(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be an id"):
        new_assignment(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    new_assignment("a", tmp_path)
    with pytest.raises(UsageError, match="is there already"):
        new_assignment("a", tmp_path)
