"""Hand-ins that start processes, and let them talk: graded where walls allow it, else pending."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from labels import submissions_of

from grader.grading import Grader, Options
from grader.run.materials import load_materials
from grader.sandbox.host.processes import Tier

if TYPE_CHECKING:
    from grader.report.model import CheckResult
    from grader.sandbox.host.processes import Sandbox

ROOT = Path(__file__).parents[2]
QUESTIONS = ("pool_map", "ddp_worker")


@pytest.fixture(scope="package")
def grader(sandbox: Sandbox) -> Grader:
    materials = load_materials(ROOT / "assignments/parallel/assignment.yml")
    grader = Grader(materials, sandbox, Options(seed=5, device="virtual", questions=QUESTIONS))
    grader.prepare()
    return grader


def checks(grader: Grader, path: Path) -> list[CheckResult]:
    report = grader.grade(path, path.stem)
    return [check for item in report.questions if item.id in QUESTIONS for check in item.checks]


def test_pools_and_gloo_work_or_are_pending_with_the_reason(
    grader: Grader, sandbox: Sandbox
) -> None:
    found = checks(grader, ROOT / "reference/parallel")
    if sandbox.isolation.tier is Tier.RESTRICTED:
        assert {check.code.value for check in found} == {"no_permission"}
        assert all(check.pending == check.max_score for check in found)
        assert all("processes" in check.message for check in found)
    else:
        assert {check.code.value for check in found} == {"ok"}
        assert all(check.score == check.max_score for check in found)


def test_a_group_that_is_never_left_costs_its_points_and_no_more(
    grader: Grader, sandbox: Sandbox, tmp_path: Path
) -> None:
    if sandbox.isolation.tier is Tier.RESTRICTED:
        pytest.skip("starts no processes")
    wrong = {each.name: each for each in submissions_of("parallel", "wrong")}
    path = wrong["ddp_stays_in_the_group"].placed(tmp_path)
    found = {check.id: check for check in checks(grader, path)}
    assert found["group_closed"].code.value == "wrong_type"
    assert found["weights"].code.value == "ok"
