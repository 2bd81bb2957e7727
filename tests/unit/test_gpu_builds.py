"""Which build of torch ``make gpu`` takes, and what it says where none fits."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
from gpu import builds, run
from pip_index import wheel

from grader.run.gpu_state import visible_gpus
from grader.sandbox.host.processes import Gpu

ROOT = Path(__file__).parents[2]
NEW, OLD = builds.BUILDS
# As drivers write them, closed and open ones, and the file of the module.
SAID = {
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n"
    "GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)\n": "535.129.03",
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\n": (
        "580.65.06"
    ),
    "570.172.08\n": "570.172.08",
    "": "",
}


@pytest.mark.parametrize(("text", "version"), SAID.items())
def test_the_drivers_version_is_read_from_its_own_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, version: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "version").write_text(text)
    assert builds.driver_version((tmp_path / "gone", tmp_path / "version")) == version


def test_without_a_file_the_drivers_tool_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 550.54.15\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert builds.driver_version(()) == "550.54.15"


@pytest.mark.parametrize(
    ("driver", "cuda", "chosen"),
    [
        ("580.65.06", "", NEW),
        ("595.91.07", "", NEW),
        ("570.172.08", "", OLD),
        ("525.60.13", "", OLD),
        # A card that is too old for the newest build, with a driver that is not.
        ("580.65.06", "12.6", OLD),
    ],
)
def test_the_newest_build_is_taken_that_fits_the_driver(
    driver: str, cuda: str, chosen: builds.Build
) -> None:
    assert builds.choose(driver, cuda) == chosen


def test_where_no_build_fits_it_says_what_would() -> None:
    assert builds.choose("") == builds.NO_DRIVER
    told = str(builds.choose("470.256.02"))
    assert "driver is 470.256.02" in told
    assert "525 or newer. Update the driver. Nothing" in told
    told = str(builds.choose("550.54.15", "13.0"))
    assert "needs 580 or newer. Update the driver, or run `make gpu TORCH_CUDA=12.6`" in told
    assert "TORCH_CUDA= takes 13.0 or 12.6" in str(builds.choose("580.65.06", "11.8"))


def test_nothing_is_installed_where_a_gpu_could_not_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(builds, "driver_version", lambda: "580.65.06")
    assert builds.main("", tmp_path / "dxg") == 0
    assert capsys.readouterr().out == f"{NEW.pip}\n"
    (tmp_path / "dxg").touch()
    assert builds.main("", tmp_path / "dxg") == 1
    assert capsys.readouterr() == ("", f"{builds.WSL}\n")


def test_both_are_the_torch_that_all_tests_run_with() -> None:
    pinned = re.search(r"^torch==(\S+)$", (ROOT / ".ci/constraints.txt").read_text(), re.MULTILINE)
    assert pinned is not None
    for build in builds.BUILDS:
        assert build.torch.split("+")[0] == pinned[1]
        # Another comparison would be met by a build for CPUs as well.
        assert build.pip.endswith(f"torch==={build.torch}")


@pytest.mark.parametrize("build", builds.BUILDS, ids=lambda build: build.cuda)
def test_pip_finds_it_with_the_versions_that_are_pinned(
    tmp_path: Path, build: builds.Build
) -> None:
    """Pip takes no build for CPUs, and what torch requires from where pip looks usually."""
    usual, torchs = tmp_path / "usual", tmp_path / "torchs"
    wheel(usual, "torch", "2.13.0+cpu", "filelock")
    wheel(usual, "filelock", "4.2.11")
    wheel(torchs, "filelock", "3.19.1")
    wheel(torchs if build.index else usual, "torch", build.torch, "filelock")
    (tmp_path / "pins").write_text("torch==2.13.0\nfilelock==4.2.11\n")
    asked = build.pip.replace(build.index or "-", torchs.as_uri()).split()
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PIP_")}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"),
            *("--report", str(tmp_path / "report"), "--constraint", str(tmp_path / "pins"), *asked),
        ],
        env={**environment, "PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": usual.as_uri()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report").read_text())
    found = {each["metadata"]["name"]: each["metadata"]["version"] for each in report["install"]}
    assert found == {"torch": build.torch, "filelock": "4.2.11"}


def test_make_gpu_installs_it_into_an_environment_of_its_own(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            "make",
            "--no-print-directory",
            "--dry-run",
            "gpu",
            f"PYTHON={sys.executable}",
            f"GPU_VENV={tmp_path / 'gpu'}",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    steps = [
        line for line in done.stdout.splitlines() if " -m pip install" in line or "run" in line
    ]
    assert all(str(tmp_path / "gpu/bin/python") in line for line in steps if "pip" in line)
    assert "tests/gpu/builds.py" in done.stdout.splitlines()[0], (
        "asked before anything is installed"
    )
    assert done.stdout.splitlines()[-1].startswith(f"{tmp_path}/gpu/bin/python tests/gpu/run.py")


def would_run(folder: Path, *arguments: str) -> str:
    """What make would run, with an environment that is in a folder."""
    command = ["make", "--no-print-directory", "--dry-run", f"GPU_VENV={folder}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_environment_that_is_there_serves_whichever_build_it_has(tmp_path: Path) -> None:
    """For an old driver or card, a build is asked for once; no later command drops it again."""
    (tmp_path / ".installed-12.6").touch()
    assert "pip" not in would_run(tmp_path, "gpu")
    doctor = would_run(tmp_path, "gpu-doctor").splitlines()
    assert doctor == [f"{tmp_path}/bin/python tests/gpu/doctor.py"]
    assert "builds.py 13.0" in would_run(tmp_path, "gpu-env", "TORCH_CUDA=13.0")
    # Older than the pins: the same build again.
    os.utime(tmp_path / ".installed-12.6", (0, 0))
    again = would_run(tmp_path, "gpu-env")
    assert "builds.py 12.6" in again
    assert f"touch {tmp_path}/.installed-12.6" in again
    assert f"{tmp_path}/none/bin" not in would_run(tmp_path / "none", "gpu-doctor")


@pytest.mark.skipif(bool(visible_gpus()), reason="this machine has a GPU")
def test_make_gpu_without_a_driver_installs_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        ["make", "gpu", f"PYTHON={sys.executable}", f"GPU_VENV={tmp_path / 'gpu'}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr.startswith(builds.NO_DRIVER)
    assert not (tmp_path / "gpu").exists()


@pytest.mark.parametrize(
    ("capability", "enough"),
    [((7, 5), True), ((8, 9), True), ((9, 0), True), ((7, 0), False), ((10, 0), False)],
)
def test_kernels_serve_cards_of_the_same_first_number(
    capability: tuple[int, int], enough: bool
) -> None:
    compiled = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100a"]
    assert builds.has_kernels(capability, compiled) is enough
    assert builds.has_kernels(capability, [*compiled, "compute_70"])


# What is said of the environment, once there is one.

READY: Mapping[str, object] = {
    "__version__": "2.13.0+cu130", "cuda": "13.0", "available": True, "capability": (9, 0),
}  # fmt: skip


@pytest.mark.parametrize(
    ("differs", "driver", "told"),
    [
        ({}, "580.65.06", ""),
        ({"__version__": "2.13.0+cpu", "cuda": None}, "580.65.06", "a build without CUDA"),
        ({}, "570.172.08", "needs 580 or newer. Update the driver, or run `make gpu TORCH_CUDA=12"),
        (
            {"available": False},
            "580.65.06",
            "finds no GPU with driver 580.65.06. `make gpu-doctor`",
        ),
        ({"capability": (7, 0)}, "580.65.06", "no kernels for V100 (compute capability 7.0)"),
    ],
)
def test_what_is_wrong_with_an_environment_is_named_with_what_to_run(
    monkeypatch: pytest.MonkeyPatch, differs: Mapping[str, object], driver: str, told: str
) -> None:
    state = {**READY, **differs}
    torch = SimpleNamespace(
        __version__=state["__version__"],
        version=SimpleNamespace(cuda=state["cuda"]),
        cuda=SimpleNamespace(
            is_available=lambda: state["available"],
            device_count=lambda: 1,
            get_arch_list=lambda: ["sm_75", "sm_90"],
            get_device_capability=lambda _: state["capability"],
            get_device_name=lambda _: "V100",
        ),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr("grader.run.gpu_state.visible_gpus", lambda: (Gpu("GPU-a", 0),))
    monkeypatch.setattr(run, "driver_version", lambda: driver)
    problem = run.unready()
    assert told in problem
    assert bool(problem) is bool(told)
