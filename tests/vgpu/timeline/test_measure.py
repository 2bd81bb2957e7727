"""``vgpu measure`` finds a card's figures again where the card is a virtual one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from grader.vgpu import virtual_gpus
from grader.vgpu.timeline import on_timeline, profile
from grader.vgpu.timeline.measure import NoGpuError, measure, write_profile

FIGURES = ("flops", "bandwidth", "floor", "launch", "latency", "pinned", "pageable", "peer")


@pytest.mark.parametrize("card", ["k80", "v100", "h100"])
def test_the_figures_of_a_virtual_card_are_found_again(card: str, tmp_path: Path) -> None:
    with virtual_gpus(2), on_timeline(card, arithmetic=False):
        found = measure()
    published = profile(card)
    for name in FIGURES:
        expected = getattr(published, name) * (published.sustained if name == "flops" else 1)
        # A reading of the clock costs 0.1 µs, a wait for the GPU as well.
        assert found[name]["value"] == pytest.approx(expected, rel=0.03), name
        assert found[name]["source"].startswith("measured with torch")
    write_profile(tmp_path / "mine.json", found)
    assert profile(str(tmp_path / "mine.json")).flops == found["flops"]["value"]


def test_one_gpu_has_no_link_to_another_that_could_be_measured() -> None:
    with virtual_gpus(1), on_timeline("t4", arithmetic=False):
        found = measure()
    assert found["peer"]["value"] == found["pinned"]["value"] / 2
    assert found["peer"]["source"].startswith("assumed")


def test_without_a_gpu_it_says_so(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(NoGpuError):
        measure()
    command = [sys.executable, "-m", "grader.vgpu", "measure", str(tmp_path / "mine.json")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (ran.returncode, "there is no GPU here" in ran.stderr) == (2, True)
    assert not (tmp_path / "mine.json").exists()


SCRIPT = """
import torch
x = torch.ones(512, 512, device="cuda")
x @ x
"""


def test_a_script_takes_the_time_of_a_measured_card(tmp_path: Path) -> None:
    with virtual_gpus(1), on_timeline("v100", arithmetic=False):
        found = measure()
    found["flops"]["value"] = 1e9
    found["title"]["value"] = "A slow card"
    write_profile(tmp_path / "mine.json", found)
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "grader.vgpu", "--timeline", "mine.json", "script.py"]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=120, cwd=tmp_path
    )
    # 2 · 512³ FLOP at 1 GFLOP/s.
    assert "in the time of A slow card as measured: 268.4 ms" in ran.stderr


def test_a_file_that_is_no_profile_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps({"flops": {"value": 1}}))
    with pytest.raises(ValueError, match="is missing"):
        profile(str(tmp_path / "mine.json"))
    with pytest.raises(ValueError, match="is no device profile"):
        profile(str(tmp_path / "other.json"))
