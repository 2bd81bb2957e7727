"""What a platform cannot grade is left out, and the rest is an assignment with the right total."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grader.assignment.load import load_assignment
from grader.assignment.types import Assignment
from grader.authoring.instructions import files_beside, narrowed
from grader.errors import UsageError
from grader.run.materials import Materials, load_materials

ROOT = Path(__file__).parents[3]
SPEED = ("mm_on_gpu", "speed")
PROCESSES = ("in_processes", "values")


def narrow(toy: Materials, *without: tuple[str, str], scale: bool = False) -> Assignment:
    path = toy.folder / "assignment.yml"
    path.write_bytes(narrowed(str(path), path.read_bytes(), without, scale))
    return load_assignment(path)


def points(assignment: Assignment) -> dict[str, float]:
    return {
        f"{question.id}.{check.id}": check.points
        for question in assignment.questions
        for check in question.checks
    }


def test_checks_and_questions_without_any_are_gone(toy: Materials) -> None:
    left = narrow(toy, SPEED, PROCESSES)
    assert points(left) == {"mm_on_gpu.precise": 1.25, "mm_on_gpu.shape": 0.75, "double.values": 2}
    assert left.points == 4
    assert left.questions[0].points == 2


def test_the_rest_is_worth_all_in_hundredths(toy: Materials) -> None:
    left = narrow(toy, SPEED, scale=True)
    # 9 / 8 of each: 1.40625, 0.84375, 4.5, 2.25.
    assert points(left) == {
        "mm_on_gpu.precise": 1.41, "mm_on_gpu.shape": 0.84, "in_processes.values": 4.5,
        "double.values": 2.25,
    }  # fmt: skip
    assert left.points == 9


@pytest.mark.parametrize("name", ["pytorch101", "knn", "parallel", "minibatch", "tensors"])
def test_a_question_can_go_and_the_total_stays(name: str, tmp_path: Path) -> None:
    path = ROOT / "assignments" / name / "assignment.yml"
    whole = load_assignment(path)
    folder = tmp_path / name
    for file in path.parent.iterdir():
        if file.is_file():
            (folder / file.name).parent.mkdir(exist_ok=True)
            (folder / file.name).write_bytes(file.read_bytes())
    for question in whole.questions[::4]:
        gone = {(question.id, check.id) for check in question.checks}
        (folder / path.name).write_bytes(narrowed(str(path), path.read_bytes(), gone, scale=True))
        left = load_assignment(folder / path.name)
        assert round(left.points, 6) == whole.points
        assert [each.id for each in left.questions] == [
            each.id for each in whole.questions if each.id != question.id
        ]


def test_a_case_goes_with_the_last_check_that_judges_it(toy: Materials) -> None:
    path = toy.folder / "assignment.yml"
    text = path.read_text().replace(
        "atol: 1e-5, points: 2}", "atol: 1e-5, points: 2, cases: [some]}"
    )
    text += "      - {id: other, kind: shape, points: 0, cases: [rest], requires: [values]}\n"
    path.write_text(
        text.replace("- {id: some,", "- {id: rest, args: {x: {rand: [4]}}}\n      - {id: some,")
    )
    assert len(load_assignment(path).questions[2].cases) == 2
    left = narrow(toy, ("double", "other"))
    assert [case.id for case in left.questions[2].cases] == ["some"]


def test_what_rested_on_a_check_that_is_gone_rests_on_the_others(toy: Materials) -> None:
    left = narrow(toy, ("mm_on_gpu", "precise"), SPEED)
    assert left.questions[0].checks[0].requires == ()


def test_an_assignment_of_which_nothing_is_left_is_refused(toy: Materials) -> None:
    path = toy.folder / "assignment.yml"
    data: dict[str, Any] = json.loads(narrowed(str(path), path.read_bytes(), (), scale=False))
    every = {(each["id"], check["id"]) for each in data["questions"] for check in each["checks"]}
    with pytest.raises(UsageError, match="grader batch"):
        narrowed(str(path), path.read_bytes(), every, scale=False)


def test_files_that_name_questions_lose_those_that_are_gone(toy: Materials) -> None:
    whole = (toy.folder / "assignment.yml").read_bytes()
    korean = {"double": ("두 배", '"2x"'), "in_processes": ("프로세스", "")}
    lines = [
        f"[{name}]\ntitle = {json.dumps(text)}\nhint = {json.dumps(hint)}\n"
        for name, (text, hint) in korean.items()
    ]
    (toy.folder / "ko.toml").write_text('title = "연습"\n' + "".join(lines))
    cells = [
        f"# %% {name}_wrong\n# says: No.\n\ndef {name}(*args):\n    return 1\n" for name in korean
    ]
    known = toy.reference_folder / "mistakes.py"
    known.write_text("# Known.\n" + "".join(cells))
    assert files_beside(toy, whole) == {}
    path = toy.folder / "assignment.yml"
    packed = narrowed(str(path), whole, [PROCESSES], scale=False)
    beside = files_beside(toy, packed)
    path.write_bytes(packed)
    for name, data in beside.items():
        assert data is not None
        (toy.root / name).write_bytes(data)
    left = load_materials(path)
    assert left.titles["ko"] == {"": "연습", "double": "두 배"}
    assert [each.name for each in left.mistakes] == ["double_wrong"]
    without = narrowed(str(path), whole, [PROCESSES, ("double", "values")], scale=False)
    assert files_beside(toy, without)[known.relative_to(toy.root).as_posix()] is None
