"""A GPU worker's start: a product in a probe guest, and what is said where it fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import device_lab
import pytest
from gpu_double import GPU, play

from grader.assignment.types import Limits, Needs
from grader.errors import InfrastructureError
from grader.grading import Grader, Options
from grader.run import gpus
from grader.run.gpu_state import Leases, choose
from grader.run.gpus import GpuProof, prove_gpus, scrub_gpus
from grader.run.materials import GuestProgram, Materials
from grader.sandbox.host.guests import Gpu, GuestNeeds, Sandbox
from grader.sandbox.host.open import open_sandbox

LIMITS = Limits(memory_mb=512)
PROBE = """
import os

def probe(size):
    {needs}
    return {{"least": {least}, "greatest": 512.0, "tf32": False, "threads": 1}}
"""


@pytest.fixture(scope="module")
def shown() -> Iterator[Sandbox]:
    with open_sandbox("auto", gpus=(GPU,)) as sandbox:
        yield sandbox


@pytest.fixture
def leases(tmp_path: Path) -> Leases:
    return Leases(tmp_path)


def driver(patch: pytest.MonkeyPatch, needs: str = "pass", least: str = "512.0") -> None:
    """Have the probe need something, as a driver's library may."""
    source = PROBE.format(needs=needs, least=least).encode()
    patch.setattr(gpus, "PROGRAM", GuestProgram({"device.py": source}, "device.py"))


def failure(sandbox: Sandbox, leases: Leases) -> str:
    proof = prove_gpus(sandbox, (GPU,), LIMITS, leases)
    assert not proof.proved
    return proof.failed[GPU.uuid]


def test_a_right_product_is_noted_for_the_report(
    shown: Sandbox, leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(monkeypatch)
    assert prove_gpus(shown, (GPU,), LIMITS, leases) == GpuProof({"product on GPU-double": "right"})


def test_a_torch_without_cuda_is_named(shown: Sandbox, leases: Leases) -> None:
    told = failure(shown, leases)
    assert "a product could not be computed" in told
    assert "is a build without CUDA" in told


def test_a_wrong_product_is_a_failure(
    shown: Sandbox, leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(monkeypatch, least="511.0")
    assert "computes 511.0 for 512.0" in failure(shown, leases)


@pytest.mark.parametrize(
    ("needs", "wall"),
    [
        ("os.mkfifo('pipe')", "landlock"),
        ("open('/nowhere')", None),
    ],
)
def test_the_wall_in_the_way_is_named(
    shown: Sandbox,
    leases: Leases,
    monkeypatch: pytest.MonkeyPatch,
    needs: str,
    wall: str | None,
) -> None:
    driver(monkeypatch, needs)
    monkeypatch.setattr(gpus, "_node_problems", lambda _: [])
    # Each wall costs a fork-server of its own; one shows as much as six.
    monkeypatch.setattr(gpus, "_SUSPECTS", gpus._SUSPECTS[:1])
    told = failure(shown, leases)
    expected = f"the wall “{wall}” is in the way" if wall else "no single wall is in the way"
    assert expected in told


def test_a_node_that_is_missing_is_named_before_any_wall(
    shown: Sandbox, leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(monkeypatch, "open('/nowhere')")
    told = failure(shown, leases)
    assert "/dev/nvidia90 is not there" in told
    assert "in the way" not in told


def test_a_gpu_on_which_another_run_is_timing_is_left_alone(
    shown: Sandbox, leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(monkeypatch)
    monkeypatch.setattr(gpus, "_PROOF_PATIENCE", 0.0)
    with leases.hold(GPU.uuid, 0.0) as held:
        assert held
        assert failure(shown, leases) == "another run is timing on it"


def test_a_sandbox_that_shows_no_gpu_says_why(sandbox: Sandbox, leases: Leases) -> None:
    assert "no Landlock" in failure(sandbox, leases)


# What a grading makes of it


PRODUCT = b"""
def mm_on_gpu(x, w):
    return (x.cuda() @ w.cuda()).cpu()


def mm_on_cpu(x, w):
    return x @ w
"""


@pytest.fixture
def materials() -> Materials:
    toy = device_lab.assignment()
    (question,) = toy.questions
    needing = question.model_copy(update={"needs": Needs(cuda=1)})
    toy = toy.model_copy(update={"questions": (needing,)})
    return replace(device_lab.materials(toy), reference={"toy.py": PRODUCT})


def fails(sandbox: Sandbox, gpus: object, limits: Limits) -> GpuProof:
    return GpuProof(failed={GPU.uuid: "CUDA error 304; the wall “landlock” is in the way"})


def grader(
    materials: Materials, sandbox: Sandbox, patch: pytest.MonkeyPatch, device: str
) -> Grader:
    patch.setattr("grader.run.capabilities.visible_gpus", lambda: (GPU,))
    options = Options(5, device, ("mm_on_gpu",))  # type: ignore[arg-type]
    return Grader(materials, sandbox, options, prove=fails)


def test_cuda_insists_and_says_how_to_go_on(
    materials: Materials, shown: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InfrastructureError) as refused:
        grader(materials, shown, monkeypatch, "cuda").prepare()
    told = str(refused.value)
    for words in (
        "GPU-double: CUDA error 304", "landlock", "--device virtual", "--isolation none",
        "can read the reference", "--accept-unwalled",
    ):  # fmt: skip
        assert words in told


def test_auto_goes_on_with_virtual_gpus_and_says_so(
    materials: Materials, shown: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = grader(materials, shown, monkeypatch, "auto")
    made.prepare()
    assert made.plan[0].needs == GuestNeeds(virtual=1)
    assert "graded on virtual GPUs" in made.notes[0]


def test_the_question_runs_on_the_gpu_and_the_report_has_the_proof(
    materials: Materials, shown: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(monkeypatch, tmp_path)
    scrubbed: list[object] = []
    monkeypatch.setattr(
        "grader.run.baseline.scrub_gpus",
        lambda *what: (scrub_gpus(*what), scrubbed.append(made.reference_runs)),
    )
    made = Grader(materials, shown, Options(5, "cuda", ("mm_on_gpu",), clock=True))
    made.prepare()
    assert scrubbed == [made.reference_runs] != [{}], "its answers are in the GPU's memory"
    (tmp_path / "toy.py").write_bytes(PRODUCT)
    report = made.grade(tmp_path / "toy.py", "kim")
    assert (report.score, report.pending, report.environment.device) == (2, 0, "cuda ×1")
    proved = report.environment.isolation.proved
    assert proved["product on GPU-double"] == "right"
    assert proved["other_gpu"] == "none"


def test_gpus_are_those_that_the_usual_variable_names() -> None:
    gpus = (Gpu("GPU-abc", 0), Gpu("GPU-abd", 1), Gpu("GPU-x", 2))
    for named, places in {
        None: [0, 1, 2], "": [], "2,0": [2, 0], "GPU-x": [2], "GPU-ab": [], "1,7,0": [1],
        "-1": [], " 1 , GPU-x": [1, 2], "0,0": [0],
    }.items():  # fmt: skip
        assert choose(gpus, named) == tuple(gpus[place] for place in places), named
