"""A GPU worker's start: a product in a probe process, and what is said where it fails."""

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
from grader.run.gpu_driver import advice
from grader.run.gpu_state import Health, Leases, choose
from grader.run.gpus import GpuProof, prove_gpus, scrub_gpus
from grader.run.materials import Materials
from grader.sandbox.host.open import open_sandbox
from grader.sandbox.host.processes import Gpu, Sandbox
from grader.sandbox.walls import cuda
from grader.wire.messages import Load

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
    patch.setattr(gpus, "PROGRAM", Load({"device.py": source}, "device.py"))


def failure(sandbox: Sandbox, leases: Leases) -> str:
    proof = prove_gpus(sandbox, (GPU,), LIMITS, leases)
    assert not proof.proved
    return proof.failed[GPU.uuid]


def test_a_right_product_is_noted_for_the_report(
    shown: Sandbox, leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(monkeypatch)
    proof = prove_gpus(shown, (GPU,), LIMITS, leases)
    assert proof == GpuProof({"product on GPU-double": "right"}, memory=proof.memory)


def test_what_the_driver_takes_of_the_hosts_memory_is_measured(
    shown: Sandbox, leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More than the limit: a context alone may take as much as a submission is allowed.
    driver(monkeypatch, "global kept; kept = [os.urandom(2**20) for _ in range(600)]")
    proof = prove_gpus(shown, (GPU,), LIMITS, leases)
    assert not proof.failed
    assert 600 * 2**20 <= proof.memory < 700 * 2**20
    assert proof.gpu_memory >= 1.5 * proof.memory
    assert GpuProof().gpu_memory == cuda.MEMORY, "nobody has measured it"


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
        # Two walls refuse one thing each.
        ("os.mkfifo('pipe'); __import__('socket').socket()", None),
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
    monkeypatch.setattr(gpus, "node_problems", lambda _: [])
    # Each wall costs a fork-server of its own; one shows as much as six.
    monkeypatch.setattr(gpus, "_SUSPECTS", gpus._SUSPECTS[:1])
    told = failure(shown, leases)
    assert "outside the sandbox it is right" in told
    expected = f"the wall “{wall}” is in the way" if wall else "no single wall is in the way"
    assert expected in told


SENTENCES = {
    "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed "
    "a driver from http://www.nvidia.com/Download/index.aspx": "ldconfig",
    "The NVIDIA driver on your system is too old (found version 12040). Please update your GPU "
    "driver by downloading and installing a new version from the URL: "
    "http://www.nvidia.com/Download/index.aspx Alternatively, go to: https://pytorch.org to "
    "install a PyTorch version that has been compiled with your version of the CUDA driver.":
    "update the driver",
    "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
    "NumCudaDevices() that might have already set an error? Error 304: OS call failed or operation "
    "not supported on this OS": "nvidia-modprobe",
    "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
    "NumCudaDevices() that might have already set an error? Error 802: system not yet initialized":
    "nvidia-fabricmanager",
    "CUDA error: CUDA-capable device(s) is/are busy or unavailable\nSearch for "
    "`cudaErrorDevicesUnavailable' in https://docs.nvidia.com/cuda/cuda-runtime-api/"
    "group__CUDART__TYPES.html for more information.": "exclusive compute mode",
    "CUDA error: no kernel image is available for execution on the device\nSearch for "
    "`cudaErrorNoKernelImageForDevice' in https://docs.nvidia.com/cuda/cuda-runtime-api/"
    "group__CUDART__TYPES.html for more information.": "compute capability",
    "CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in "
    "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more "
    "information.": "nvidia-smi lists them",
    "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
    "NumCudaDevices() that might have already set an error? Error 803: system has unsupported "
    "display driver / cuda driver combination": "restart the machine",
    "Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
    "NumCudaDevices() that might have already set an error? Error 804: forward compatibility was "
    "attempted on non supported HW": "cuda-compat",
    "CUDA error: MPS client failed to connect to the MPS control daemon or the MPS server":
    "stop it",
    "No CUDA GPUs are available": "CUDA_VISIBLE_DEVICES",
    "CUDA driver initialization failed, you might not have a CUDA gpu.": "dmesg",
    "CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env "
    "variable CUDA_VISIBLE_DEVICES after program start. Setting the available devices to be zero.":
    "nvidia_uvm",
    "CUDA error: the provided PTX was compiled with an unsupported toolchain.": "update the driver",
    "CUDA error: no CUDA-capable device is detected": "CUDA_VISIBLE_DEVICES",
    "Torch not compiled with CUDA enabled": "a build without CUDA",
}  # fmt: skip
"""What torch raises, word for word → words of the advice."""


@pytest.mark.parametrize(("sentence", "words"), SENTENCES.items())
def test_every_sentence_of_torchs_has_its_advice(sentence: str, words: str) -> None:
    assert words in advice(f"a product could not be computed: RuntimeError: {sentence[:300]}")


def test_what_fails_outside_the_sandbox_too_is_put_on_no_wall(
    shown: Sandbox, leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []
    monkeypatch.setattr(gpus, "without_wall", lambda *what: tried.append(what))
    driver(monkeypatch, "raise RuntimeError('Error 802: system not yet initialized')")
    told = failure(shown, leases)
    assert "outside the sandbox it fails too; " in told
    assert "nvidia-fabricmanager" in told
    assert "/dev/nvidia90" not in told
    assert not tried


def test_a_card_for_one_process_is_refused_at_the_start(
    shown: Sandbox, leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The probe is one process, and timing takes four: it would fail in the middle of a class."""
    driver(monkeypatch)
    monkeypatch.setattr(gpus, "ask", lambda _: Health("its compute mode is Exclusive_Process"))
    assert failure(shown, leases) == "its compute mode is Exclusive_Process"


def test_a_node_that_is_missing_is_named_before_any_wall(
    shown: Sandbox, leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver(monkeypatch, "open('/nowhere')")
    told = failure(shown, leases)
    assert "/dev/nvidia90 is not there: `nvidia-modprobe -u -c 90` makes it" in told
    assert "in the way" not in told
    # Containers are often started without it, and CUDA does without.
    assert cuda.TOOLS not in told


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
    assert (made.plan[0].process.virtual_gpus, made.plan[0].process.cuda) == (1, 0)
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
    # What the probe measured holds in every sandbox that the grader is given.
    assert made._sandbox.gpu_memory != cuda.MEMORY
    with open_sandbox("none") as another:
        made.with_sandbox(another)
        assert another.gpu_memory == shown.gpu_memory


def test_gpus_are_those_that_the_usual_variable_names() -> None:
    gpus = (Gpu("GPU-abc", 0), Gpu("GPU-abd", 1), Gpu("GPU-x", 2))
    for named, places in {
        None: [0, 1, 2], "": [], "2,0": [2, 0], "GPU-x": [2], "GPU-ab": [], "1,7,0": [1],
        "-1": [], " 1 , GPU-x": [1, 2], "0,0": [0],
    }.items():  # fmt: skip
        assert choose(gpus, named) == tuple(gpus[place] for place in places), named


def test_a_part_of_a_gpu_is_chosen_by_its_name_and_by_its_boards() -> None:
    parts = (Gpu("MIG-c7", 0, "GPU-44"), Gpu("MIG-d1", 0, "GPU-44"), Gpu("GPU-x", 1))
    for named, places in {
        None: [0, 1, 2], "MIG-d1": [1], "MIG-d1,MIG-c7": [1, 0], "GPU-44": [0], "0": [0],
        "1": [2], "2": [], "MIG-": [], "MIG-d1,1": [1, 2],
    }.items():  # fmt: skip
        assert choose(parts, named) == tuple(parts[place] for place in places), named
