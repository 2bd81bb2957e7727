"""Processes that a script starts have its devices; one that dies is named with its line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.vgpu import processes, virtual_gpus
from grader.vgpu.core.machine import Shared

CHILD = """
import os, sys
before = "torch" in sys.modules
import torch
print(before, torch.cuda.device_count(), torch.ones(8, device="cuda:1").mul_(2).sum().item())
"""


def run(folder: Path, script: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(script)
    command = [sys.executable, "-m", "grader.vgpu", "--gpus", "2", *options, "script.py"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, cwd=folder,
        env=environment,
    )  # fmt: skip


@pytest.mark.parametrize("environment", ["", ", env={'PATH': '/usr/bin'}"])
def test_a_started_python_has_the_devices(environment: str, tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    ran = run(
        tmp_path,
        f"import subprocess, sys\nsubprocess.run([sys.executable, 'child.py']{environment})",
    )
    assert ran.stdout == "False 2 16.0\n", ran.stderr
    rows = [line.split() for line in ran.stderr.splitlines()]
    # Its work is in the summary: a fill, a product, a sum.
    assert ["cuda:1", "3", "16", "FLOP", "1", "KiB", "0", "B", "1×"] in rows


def test_the_child_of_a_child_has_them_and_the_cards_time(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(
        "import multiprocessing, torch\n"
        "def work(x):\n    print(torch.ones(1, device='cuda:1').item())\n"
        "if __name__ == '__main__':\n"
        "    process = multiprocessing.get_context('spawn').Process(target=work, args=(0,))\n"
        "    process.start()\n    process.join()\n    print(process.exitcode)\n"
    )
    script = "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'])"
    ran = run(tmp_path, script, "--timeline", "t4")
    assert ran.stdout == "1.0\n0\n", ran.stderr


ISOLATED = """
import subprocess, sys, warnings
for options in (["-I"], ["-sE"], ["-u"], ["-c", "pass", "-I"]):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        subprocess.run([sys.executable, *options], stdin=subprocess.DEVNULL)
    print(len(told))
"""


def test_a_python_that_shuts_the_devices_out_is_told_of_at_once(tmp_path: Path) -> None:
    ran = run(tmp_path, ISOLATED)
    assert ran.stdout.split() == ["1", "1", "0", "0"], ran.stderr


def test_another_sitecustomize_is_still_run(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "sitecustomize.py").write_text("print('customized')")
    program = "import sys; print('torch' in sys.modules)"
    with virtual_gpus(1) as machine:
        machine.shared = Shared(tmp_path)
        before = dict(os.environ)
        with processes.devices_for_children(machine):
            paths = [os.environ["PYTHONPATH"], str(tmp_path / "there")]
            told = subprocess.run(
                [sys.executable, "-c", program], capture_output=True, text=True, check=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )  # fmt: skip
        assert dict(os.environ) == before
    assert told.stdout == "customized\nFalse\n"


def test_the_command_inside_a_script_makes_devices_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "vgpu").write_text("from grader.vgpu.__main__ import command\ncommand()\n")
    (tmp_path / "child.py").write_text("import torch\nprint(torch.cuda.device_count())\n")
    ran = run(
        tmp_path,
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, 'vgpu', '--gpus', '3', 'child.py'])\n",
    )
    assert ran.stdout == "3\n", ran.stderr


DIES = """
import ctypes, os, signal, sys, time
import torch
torch.ones(1, device="cuda")
def reads_nothing():
    ctypes.string_at(0)
if os.environ.get("RANK", "1") == "1":
    reads_nothing() if sys.argv[1:] == [] else os.kill(os.getpid(), signal.SIGKILL)
time.sleep(99)
"""


def test_a_rank_that_dies_is_named_with_its_line(tmp_path: Path) -> None:
    ran = run(tmp_path, DIES, "--nproc", "2")
    assert ran.returncode == 128 + signal.SIGSEGV
    said = "! rank 1 was ended by SIGSEGV in script.py, line 6: ctypes.string_at(0)\n"
    assert said in ran.stderr
    assert "did nothing" not in ran.stderr


def test_a_rank_that_is_killed_is_named(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(DIES)
    command = [sys.executable, "-m", "grader.vgpu", "--nproc", "2", "script.py", "kill"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "! rank 1 was ended by SIGKILL.\n" in ran.stderr


def test_a_script_that_dies_says_where(tmp_path: Path) -> None:
    ran = run(tmp_path, DIES)
    assert ran.returncode == -signal.SIGSEGV
    assert 'File "script.py", line 6 in reads_nothing' in ran.stderr


def test_a_spawned_process_that_dies_is_named(tmp_path: Path) -> None:
    script = (
        "import ctypes, multiprocessing, os\n"
        "def work():\n    ctypes.string_at(0)\n"
        "if __name__ == '__main__':\n"
        "    process = multiprocessing.get_context('spawn').Process(target=work)\n"
        "    process.start()\n    process.join()\n"
    )
    ran = run(tmp_path, script)
    (line,) = [line for line in ran.stderr.splitlines() if line.startswith("! ")]
    assert "was ended by Segmentation fault in " in line
    assert line.endswith("script.py, line 3: ctypes.string_at(0)")


def test_a_rank_of_a_call_is_named_with_its_signal() -> None:
    with virtual_gpus(1), pytest.raises(RuntimeError, match="process 1 ended by SIGKILL before"):
        processes.in_ranks(
            2, lambda rank: os.kill(os.getpid(), signal.SIGKILL) if rank else rank, __file__
        )


def test_a_child_that_ends_after_the_script_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(
        "import time, torch\ntorch.ones(1, device='cuda:1')\nprint(flush=True)\ntime.sleep(1.5)\n"
    )
    ran = run(
        tmp_path,
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, 'child.py'], stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n",
    )
    assert ["cuda:1", "1"] in [line.split()[:2] for line in ran.stderr.splitlines()], ran.stderr


def test_a_started_python_that_makes_its_own_devices_has_those(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(
        "from grader.vgpu import virtual_gpus\nimport torch\n"
        "with virtual_gpus(3):\n    print(torch.cuda.device_count())\n"
    )
    ran = run(tmp_path, "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'])")
    assert ran.stdout == "3\n", ran.stderr
