"""The same programs on real and on virtual devices: same devices, types, values and words."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from gpu.outcomes import differences, outcome
from gpu.programs import PROGRAMS, Program
from grader.vgpu import virtual_gpus

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a real GPU"),
]


@cache
def on_real_devices() -> dict[str, Any]:
    """Run in a process of its own: here torch's names may be changed."""
    command = [sys.executable, "-m", "gpu.outcomes"]
    ran = subprocess.run(
        command, cwd=Path(__file__).parents[1], check=True, capture_output=True, timeout=300
    )
    return dict(json.loads(ran.stdout))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_real_and_virtual_devices_agree(program: Program) -> None:
    real = on_real_devices()
    if program.name not in real:
        pytest.skip(f"needs {program.devices} real GPUs")
    with virtual_gpus(max(program.devices, torch.cuda.device_count())):
        virtual = json.loads(json.dumps(outcome(program)))
    assert list(differences(virtual, real[program.name])) == []
