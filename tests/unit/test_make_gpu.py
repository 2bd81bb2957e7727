"""``make gpu``: says so where there is no GPU, and writes down what it found where there is one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from gpu import run

from grader.run.gpu_driver import why_none
from grader.run.gpu_state import Health, visible_gpus
from grader.sandbox.host.processes import Gpu

ROOT = Path(__file__).parents[2]
PLAYED = """
import sys
from pathlib import Path

import pytest
from gpu import run
from gpu_double import play

out = Path(sys.argv[1])
with pytest.MonkeyPatch.context() as patch:
    play(patch, out / "leases")
    patch.setattr(run, "unready", lambda: "")
    sys.exit(run.main(out, sys.argv[2:]))
"""


@pytest.mark.skipif(bool(visible_gpus()), reason="this machine has a GPU")
def test_without_a_gpu_it_ends_with_1_and_a_plain_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/gpu/run.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.strip()) == (1, run.NO_GPU.format(why=why_none()))
    assert not list(tmp_path.iterdir())


def test_a_part_of_a_card_is_noted_with_what_the_driver_says_of_the_card(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = {"GPU-44": {"name": "NVIDIA A100", "driver_version": "580.65.06"}}
    monkeypatch.setattr("grader.run.gpu_state.visible_gpus", lambda: (Gpu("MIG-c7", 0, "GPU-44"),))
    monkeypatch.setattr("grader.run.gpu_state.ask", lambda card: Health(facts=facts.get(card, {})))
    assert run.machine()["gpu 0"] == "NVIDIA A100, driver 580.65.06"


def played(out: Path, *arguments: str) -> tuple[int, str]:
    """Run it on a machine whose GPU is played."""
    done = subprocess.run(
        [sys.executable, "-c", PLAYED, str(out), *arguments],
        cwd=ROOT / "tests",
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_figures_and_outcomes_are_written_into_one_file(tmp_path: Path) -> None:
    status, said = played(
        tmp_path, "gpu/test_worker.py", "-k", "computes_in_the_sandbox or every_node"
    )
    assert status == 0, said
    document = json.loads((tmp_path / "gpu-figures.json").read_text())
    assert document["machine"]["gpu 0"] == "GPU-double"
    assert document["figures"]["probe of one GPU, from a fork to a product"].endswith(" s")
    assert document["figures"]["probe of one GPU, memory of the host"].endswith(" MiB")
    assert {test["outcome"] for test in document["tests"].values()} == {"passed"}
    text = (tmp_path / "gpu-figures.md").read_text()
    assert "2 of 2 tests passed." in text
    assert "| isolation tier | full |" in text or "| isolation tier | restricted |" in text


def test_where_no_test_ran_it_fails(tmp_path: Path) -> None:
    status, said = played(tmp_path, "gpu/test_worker.py", "-k", "of_no_such_name")
    assert status != 0
    assert run.NOTHING_RAN in said


def test_what_failed_or_was_skipped_is_named() -> None:
    found = run.Figures(
        tests={
            "a.py::one": {"outcome": "passed", "seconds": 1.0, "why": ""},
            "a.py::two": {"outcome": "skipped", "seconds": 0.0, "why": "needs 2 real GPUs"},
            "a.py::three": {"outcome": "failed", "seconds": 0.5, "why": ""},
        },
        figures={"a product": "3 ms"},
    )
    text = run.page({"gpu 0": "L4, driver 570"}, found)
    assert "| gpu 0 | L4, driver 570 |" in text
    assert "1 of 3 tests passed." in text
    assert "- skipped: `a.py::two` needs 2 real GPUs\n- failed: `a.py::three`\n" in text
