"""The nodes of GPUs, with nodes that are there: null devices by the driver's names.

In a mount namespace of its own, so that nobody else on the machine sees them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from driver import SPEC, Running

from grader.sandbox.host.open import open_sandbox
from grader.sandbox.host.processes import Gpu

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="only root makes device nodes"
)

HERE = Path(__file__).parent
NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia90", "/dev/nvidia91")
A_DEV = """
set -eu
command=("$@") here="$PWD" dev="$(mktemp -d)"
mount --make-rprivate /
mount -t tmpfs none "$dev"
cd "$dev"
while read -r name major minor; do
    mknod -m 666 "$name" c "$major" "$minor"
done << END
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
nvidiactl 1 3
nvidia-uvm 1 3
nvidia-uvm-tools 1 3
nvidia90 1 3
nvidia91 1 3
END
mkdir shm
ln -s /proc/self/fd fd
mount -t tmpfs none shm
mount --move "$dev" /dev
cd "$here"
exec "${command[@]}"
"""
SUBMISSION = """
import os

def opened(names):
    found = {}
    for name in names:
        try:
            os.close(os.open(name, os.O_RDWR))
            found[name] = "opened"
        except OSError as error:
            found[name] = type(error).__name__
    return found
"""


def look() -> None:
    """Print what processes could open: with one GPU, with none, with both."""
    one, other = Gpu("GPU-a", 90), Gpu("GPU-b", 91)
    found = []
    with open_sandbox("full", gpus=(one, other)) as sandbox:
        for spec in (replace(SPEC, cuda=1, gpus=(one,)), SPEC, replace(SPEC, cuda=2)):
            process = Running(sandbox.start(spec))
            process.load(SUBMISSION)
            opened = process.value("opened", list(NODES))
            assert isinstance(opened, dict)
            found.append([*opened.values(), sandbox.isolation.proved["other_gpu"]])
            process.process.end()
    print(json.dumps(found))  # noqa: T201  to the test


@cache
def looked() -> list[list[str]]:
    done = subprocess.run(
        ["unshare", "--mount", "bash", "-c", A_DEV, "bash", sys.executable, __file__],
        capture_output=True,
        text=True,
        check=False,
    )
    refused = ("Operation not permitted", "permission denied", "this machine does not give it")
    if done.returncode and any(words in done.stderr for words in refused):
        pytest.skip(f"no nodes can be made here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout.splitlines()[-1]))


def test_a_process_opens_its_own_gpu_and_no_other() -> None:
    assert looked()[0] == ["opened", "opened", "opened", "PermissionError", "EACCES"]


def test_a_process_without_a_gpu_opens_none() -> None:
    assert looked()[1] == ["PermissionError"] * 4 + ["EACCES"]


def test_a_process_with_all_gpus_opens_all() -> None:
    assert looked()[2] == ["opened"] * 4 + ["none"]


if __name__ == "__main__":
    look()
