"""Which points can be earned is found by grading the reference as the platform would."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import two_files

from grader.authoring import platform_dry_run
from grader.authoring.instructions import Terms, points_text, time_text
from grader.authoring.platform_dry_run import Reach, Why, gradable, try_reference
from grader.errors import InfrastructureError
from grader.run.materials import Materials, load_materials

BY_HAND = """\
  - id: report
    title: What you saw
    points: 3
    file: report.pdf
    checks:
      - {id: content, kind: by_hand, points: 3}
  - id: style
    title: Style
    points: 1
    entry: [scores]
    cases:
      - {id: example, args: {W: {tensor: [[1.0]]}, X: {tensor: [[3.0]]}}}
    checks:
      - {id: style, kind: by_hand, points: 1}
"""


def refused(*_: object, **__: object) -> None:
    raise InfrastructureError("isolation “restricted” was asked for:\n  flat: no Landlock\nSo …")


def without_sandbox(materials: Materials, monkeypatch: pytest.MonkeyPatch) -> Reach:
    monkeypatch.setattr(platform_dry_run, "open_sandbox", refused)
    return try_reference(materials, "restricted", lambda _: None)


def test_what_the_platform_cannot_give_is_told_apart_from_what_is_lost(
    toy: Materials, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = without_sandbox(toy, monkeypatch)
    assert [(each.question, each.check, each.points, each.why) for each in found.unearned] == [
        ("mm_on_gpu", "speed", 1, Why.OUT_OF_REACH),
        ("in_processes", "values", 4, Why.OUT_OF_REACH),
    ]
    assert (found.maximum, found.within) == (9, 4)
    assert found.no_walls == "flat: no Landlock"
    # Two questions of ten seconds each; the third is not run there.
    assert found.hanging == 20
    assert found.seconds > 0


@pytest.mark.parametrize(
    ("tier", "ids"),
    [
        ("restricted", ["mm_on_gpu", "double"]),
        ("auto", ["mm_on_gpu", "double"]),
        ("full", ["mm_on_gpu", "in_processes", "double"]),
        ("none", ["mm_on_gpu", "in_processes", "double"]),
    ],
)
def test_what_a_tier_grants(tier: platform_dry_run.Choice, ids: list[str], toy: Materials) -> None:
    assert [each.id for each in gradable(toy.assignment, tier)] == ids


def test_the_assignments_here_lose_on_gradescope_what_needs_processes() -> None:
    root = Path(__file__).parents[3] / "assignments"
    beyond = {}
    for name in ("pytorch101", "knn", "parallel", "minibatch", "tensors"):
        assignment = load_materials(root / name / "assignment.yml").assignment
        there = gradable(assignment, "restricted")
        beyond[name] = sum(each.points for each in assignment.questions if each not in there)
    assert beyond == {"pytorch101": 0, "knn": 0, "parallel": 14, "minibatch": 1, "tensors": 0}


def terms(toy: Materials, *unearned: platform_dry_run.Unearned, **more: str) -> Terms:
    found = Reach(9, unearned, no_walls=more.get("no_walls", ""))
    return Terms(toy.assignment, "Gradescope", more.get("tier", "restricted"), "keep", found)


def test_a_pack_that_loses_nothing_says_so_in_a_line(toy: Materials) -> None:
    assert points_text(terms(toy)) == (
        "On Gradescope students can earn all 9 points.\n"
        "Found by grading the reference on tier restricted, without a GPU.\n"
    )


def test_points_that_a_person_gives_are_told_beside_all_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = two_files.course(tmp_path)
    path.write_text(path.read_text() + BY_HAND)
    materials = load_materials(path)
    found = without_sandbox(materials, monkeypatch)
    assert {each.why for each in found.unearned} == {Why.BY_HAND}
    text = points_text(Terms(materials.assignment, "Gradescope", "restricted", "keep", found))
    assert text.startswith(
        "On Gradescope students can earn all 14 points; 4 of them wait for a person.\n"
        "A person gives these (`grader decide`)."
    )
    assert "  report     3 points: a person reads report.pdf\n" in text
    assert "  style       1 point: a person reads the function\n" in text
    assert "mend before you upload" not in text


def test_the_page_that_is_named_says_how_points_are_brought_back(toy: Materials) -> None:
    text = points_text(
        terms(toy, platform_dry_run.Unearned("mm_on_gpu", "speed", 1, Why.OUT_OF_REACH, "slow"))
    )
    found = re.search(r"bring the scores back \((docs/[\w-]+\.md)\)", text)
    assert found
    page = (Path(__file__).parents[3] / found[1]).read_text(encoding="utf-8")
    assert "\n### Bring points back" in page


def test_what_the_reference_did_not_earn_is_said_with_the_cause(toy: Materials) -> None:
    text = points_text(
        terms(
            toy,
            platform_dry_run.Unearned("double", "values", 2, Why.LOST, "Case some: 3 of 4 differ."),
            platform_dry_run.Unearned("mm_on_gpu", "shape", 0.75, Why.UNDECIDED, "too busy"),
            no_walls="flat: no Landlock",
            tier="auto",
        )
    )
    assert "  double     2 points: Case some: 3 of 4 differ." in text
    assert "  mm_on_gpu (shape)  0.75 points: too busy" in text
    assert "The reference itself did not earn these here." in text
    assert "under the rules of tier restricted" in text
    assert "flat: no Landlock" in text


@pytest.mark.parametrize(
    ("hanging", "advice"),
    [
        (60, "that fits."),
        (800, "set its time limit to 18 min."),
        (3600, "40 min, the most that it has"),
    ],
)
def test_a_time_limit_is_advised_where_the_usual_one_is_too_short(
    hanging: float, advice: str
) -> None:
    assert advice in time_text(60, hanging)


def test_what_needs_a_gpu_is_out_of_the_maximum_of_a_course_without_one(toy: Materials) -> None:
    speed = platform_dry_run.Unearned("double", "speed", 1, Why.UNCOUNTED, "is timed on a real GPU")
    text = points_text(replace(terms(toy), reach=Reach(8, (), uncounted=(speed,))))
    assert text.startswith("On Gradescope students can earn all 8 points.\nThese need a real GPU")
    assert "double      1 point: is timed on a real GPU\n" in text
