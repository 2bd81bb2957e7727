"""``make gpu-doctor``: it ends at the first thing that is wrong, and says what it means."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from gpu import builds, doctor
from gpu.doctor import Found

from grader.run import gpu_driver
from grader.run.gpu_state import Health, visible_gpus
from grader.run.gpus import GpuProof
from grader.sandbox.host.open import open_sandbox
from grader.sandbox.host.processes import Gpu

ROOT = Path(__file__).parents[2]
TOOL = """#!/bin/sh
[ "$1" = --query-gpu=driver_version ] && exec echo {version}
echo 'uuid, name, driver_version, persistence_mode'
echo 'GPU-44, NVIDIA L4, {version}, Disabled'
"""


def install(folder: Path, name: str, script: str, patch: pytest.MonkeyPatch) -> Path:
    """Put a program of that name on the path."""
    tool = folder / name
    tool.write_text(script)
    tool.chmod(0o755)
    patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return tool


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
    script = TOOL.format(version="580.95.05")
    tool = install(tmp_path, "nvidia-smi", script, monkeypatch)
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


NO_FILES = pytest.mark.skipif(bool(visible_gpus()), reason="this machine's own driver would answer")


@NO_FILES
@pytest.mark.parametrize(
    ("version", "bad", "told"),
    [
        ("580.95.05", "", "torch for CUDA 13.0 fits, for cards from Turing (T4) to Blackwell"),
        ("535.288.01", "", "torch for CUDA 12.6 fits, for cards from Maxwell to Hopper"),
        ("470.256.02", "driver is 470.256.02; torch 2.13.0+cu126 for CUDA 12.6 needs 525", ""),
        ("", "", "does not say its version"),
    ],
)
def test_the_drivers_version_is_held_against_the_builds_of_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, bad: str, told: str
) -> None:
    install(tmp_path, "nvidia-smi", TOOL.format(version=version), monkeypatch)
    found = doctor.driver()
    assert bad in found.bad
    assert bool(found.bad) is bool(bad)
    assert told in str(found.lines)
    assert ("`make gpu-env`" in str(found.lines)) is (" fits" in told)


@NO_FILES
def test_a_driver_whose_tool_is_silent_is_no_reason_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "nvidia-smi", "#!/bin/sh\nexec sleep 60", monkeypatch)
    monkeypatch.setattr(gpu_driver, "_SECONDS", 0.2)
    monkeypatch.setattr(builds, "_TOOL_SECONDS", 0.2)
    monkeypatch.setattr(doctor, "visible_gpus", lambda: (Gpu("GPU-44", 0),))
    found = doctor.driver()
    assert not found.bad
    assert "did not answer within 0.2 s: lowered clocks cannot be seen" in found.lines[0]


MULTILINE = """raise RuntimeError('''CUDA error: no kernel image is available for execution
Search for `cudaErrorNoKernelImageForDevice' in https://docs.nvidia.com/ for more information.
CUDA kernel errors might be asynchronously reported at some other API call.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
''')"""


def test_the_line_that_names_the_error_is_told_and_not_the_last_one() -> None:
    bad = doctor._ran([sys.executable, "-c", MULTILINE]).bad
    assert bad.startswith("RuntimeError: CUDA error: no kernel image is available")
    assert "`make gpu-env TORCH_CUDA=12.6`" in bad


def test_another_user_is_left_out_where_nobody_else_may_enter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As below /root. The sandbox shows student processes the interpreter by itself."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(doctor, "closed_folder", lambda: "/root")
    monkeypatch.setattr(doctor, "_ran", lambda *_: Found(bad="permission denied"))
    found = doctor.another_user()
    assert (found.bad, "may not enter /root" in found.lines[0]) == ("", True)
    monkeypatch.setattr(doctor, "closed_folder", lambda: "")
    assert doctor.another_user().bad.startswith("permission denied; as this user it worked")


TRACED = """\
7 openat(AT_FDCWD, "/usr/lib/libc.so.6", O_RDONLY|O_CLOEXEC) = 3
7 openat(AT_FDCWD, "/proc/self/maps", O_RDONLY) = 3
7 openat(AT_FDCWD, "/sys/devices/system/cpu/online", O_RDONLY) = 3
7 openat(AT_FDCWD, "/proc/driver/nvidia/params", O_RDONLY) = 3
7 openat(AT_FDCWD, "/dev/nvidia0", O_RDWR|O_CLOEXEC) = 4
7 openat(AT_FDCWD, "/dev/nvidia1", O_RDWR|O_CLOEXEC) = 4
7 openat(AT_FDCWD, "/dev/null", O_RDWR) = 4
7 openat(AT_FDCWD, "/run/nvidia-gone", O_RDONLY) = -1 ENOENT (No such file or directory)
7 openat(AT_FDCWD, "/run/nvidia/new", O_RDONLY) = 5
7 memfd_create("driver", 0) = 6
7 socket(AF_UNIX, SOCK_STREAM, 0) = -1 EPERM (Operation not permitted)
"""


def test_what_the_driver_opens_beyond_what_is_shown_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trace").write_text(TRACED)
    script = f'#!/bin/sh\ncp {tmp_path}/trace "$5"\n'
    tool = install(tmp_path, "strace", script, monkeypatch)
    monkeypatch.setattr(doctor, "visible_gpus", lambda: (Gpu("GPU-44", 0),))
    paths, calls = doctor.opened().lines
    assert paths.endswith("cuda.py): /dev/nvidia1, /run/nvidia/new")
    assert calls.endswith(": memfd_create")
    tool.write_text("#!/bin/sh\nexit 1\n")
    assert doctor.opened().lines == ["left out: strace noted nothing here"]


@pytest.mark.parametrize(("after", "left"), [("54", ""), ("900", "GPU-44 had 4 MiB in use")])
def test_nothing_is_left_on_the_card(
    monkeypatch: pytest.MonkeyPatch, after: str, left: str
) -> None:
    used = iter(("4", after))
    monkeypatch.setattr(doctor, "visible_gpus", lambda: (Gpu("MIG-c7", 0, "GPU-44"),))
    monkeypatch.setattr(
        doctor, "ask", lambda card: Health(facts={"memory.used": next(used), "card": card})
    )
    monkeypatch.setattr(doctor, "prove_gpus", lambda *_: GpuProof(memory=512 * 2**20))
    monkeypatch.setattr(doctor, "open_sandbox", lambda *_, **__: open_sandbox("none"))
    found = doctor.sandboxed()
    assert found.bad.startswith(left)
    assert bool(found.bad) is bool(left)
    assert "takes 512 MiB" in found.lines[1]
    assert "allowed 1024 MiB" in found.lines[1]


def test_a_gpu_that_fails_in_the_sandbox_ends_it_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "visible_gpus", lambda: (Gpu("GPU-44", 0),))
    monkeypatch.setattr(doctor, "ask", lambda _: Health())
    monkeypatch.setattr(doctor, "prove_gpus", lambda *_: GpuProof(failed={"GPU-44": "error 304"}))
    monkeypatch.setattr(doctor, "open_sandbox", lambda *_, **__: open_sandbox("none"))
    assert "GPU-44: error 304" in doctor.sandboxed().bad
