"""``make gpu-doctor``: it ends at the first thing that is wrong, and says what it means."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from gpu import doctor
from gpu.doctor import Found

from grader.run.gpu_state import visible_gpus

ROOT = Path(__file__).parents[2]
TOOL = """#!/bin/sh
echo 'uuid, name, driver_version, persistence_mode'
echo 'GPU-44, NVIDIA L4, 580.95.05, Disabled'
"""


@pytest.mark.skipif(bool(visible_gpus()), reason="this machine has a GPU")
def test_without_a_gpu_it_ends_at_the_first_step_with_a_sentence() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/gpu/doctor.py")],
        capture_output=True, text=True, check=False, env={**os.environ, "PATH": "/nowhere"},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "1. The driver answers"
    assert lines[-1].startswith("   Stopped here: nvidia-smi was not found, and ")
    assert lines[-1].endswith(": take a machine with a GPU")
    assert "2." not in done.stdout


def test_it_stops_at_the_first_bad_step(capsys: pytest.CaptureFixture[str]) -> None:
    def never() -> Found:
        raise AssertionError

    steps = (("One", lambda: Found(["seen"])), ("Two", lambda: Found(bad="no")), ("Three", never))
    assert doctor.main(steps) == 1
    assert capsys.readouterr().out == "1. One\n   seen\n2. Two\n   Stopped here: no\n"
    assert doctor.main(steps[:1]) == 0
    assert capsys.readouterr().out.endswith("All is well. Next: make gpu\n")


def test_a_slow_driver_is_told_and_is_no_reason_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = doctor.driver()
    assert not found.bad
    assert "GPU-44, NVIDIA L4, 580.95.05, Disabled" in found.lines
    assert "nvidia-persistenced" not in str(found)
    monkeypatch.setattr(doctor, "_SLOW", -1.0)
    found = doctor.driver()
    assert not found.bad
    assert "nvidia-persistenced" in str(found)
    tool.write_text("#!/bin/sh\necho Driver/library version mismatch\nexit 18")
    assert "version mismatch" in doctor.driver().bad


@pytest.mark.skipif(torch.version.cuda is not None, reason="this torch has CUDA")
def test_a_torch_without_cuda_is_told_with_what_to_do() -> None:
    for found in (doctor.torch_alone(), doctor.after_a_fork()):
        assert "Torch not compiled with CUDA enabled" in found.bad
        assert "a build without CUDA" in found.bad


def test_a_right_product_is_no_reason_to_stop() -> None:
    found = doctor._ran([sys.executable, "-c", "print('product: 512.0')"])
    assert (found.lines, found.bad) == (["product: 512.0"], "")
    assert doctor._ran([sys.executable, "-c", "print('product: 511.0')"]).bad == "product: 511.0"
