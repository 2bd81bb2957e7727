"""A class on a Ray cluster of three nodes, one of which is lost in the middle."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from in_process import Here

from grader.batch import ray_engine
from grader.batch.discover import ClassSubmission, discover
from grader.batch.graded import GradedSubmission
from grader.batch.ray_engine import RayWorkers
from grader.batch.schedule import grade_all
from grader.errors import UsageError
from grader.grading import Grader, Options
from grader.run.materials import load_materials
from grader.sandbox.host.open import open_sandbox
from grader.sandbox.host.processes import Sandbox

SIZE = 24
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed (extra “ray”)"
)


def test_without_ray_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'ray>=2\.10'"):
        ray_engine._ray()


@pytest.fixture
def cluster() -> Iterator[Any]:
    import ray  # noqa: PLC0415
    from ray.cluster_utils import Cluster  # noqa: PLC0415  it may not be there

    small = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args=small)
    others = [cluster.add_node(**small) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False)
    cluster.wait_for_nodes()
    yield cluster, others
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def grader(course: Path, sandbox: Sandbox) -> Grader:
    materials = load_materials(course / "assignments/tiny/assignment.yml")
    grader = Grader(materials, sandbox, Options(7, "cpu"))
    grader.prepare()
    return grader


@pytest.fixture
def submissions(course: Path) -> tuple[ClassSubmission, ...]:
    """A class of different ones that take their time, so that a node is lost in the middle."""
    right = (course / "class/ann.py").read_text()
    for number in range(SIZE):
        slow = right.replace(
            "return -x", f"__import__('time').sleep(0.3)\n    return -x * {number}"
        )
        (course / f"class/s{number:02}.py").write_text(slow)
    return discover(course / "class", course / "out").submissions


def outcome(results: Iterator[GradedSubmission]) -> dict[str, Any]:
    last = {each.submission.name: each for each in results}
    return {
        name: each.report.model_dump(exclude={"timing", "environment"})
        for name, each in sorted(last.items())
    }


@needs_ray
@pytest.mark.heavy
def test_a_node_is_lost_in_the_middle(
    cluster: Any,
    grader: Grader,
    submissions: tuple[ClassSubmission, ...],
    sandbox: Sandbox,
    tmp_path: Path,
) -> None:
    nodes, others = cluster
    out = tmp_path / "remote"
    workers = RayWorkers(grader, partial(open_sandbox, "auto"), out, 9)
    results = grade_all(workers, submissions, lambda _: False)
    lost_at, seen = 0, []
    for graded in results:
        seen.append(graded)
        if len(seen) == SIZE // 3:
            nodes.remove_node(others[0], allow_graceful=False)
            lost_at = len(seen)
    remote = outcome(iter(seen))
    assert 0 < lost_at < len(remote) == len(submissions)

    here = Here(grader, tmp_path / "here")
    assert remote == outcome(grade_all(here, submissions, lambda _: False))
    written = {path.parent.name for path in out.glob("*/report.json")}
    assert written == {submission.name for submission in submissions}
    kept = {graded.submission.name: graded.observations for graded in seen}
    assert kept["ann"]
