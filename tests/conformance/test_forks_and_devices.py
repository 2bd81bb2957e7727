"""No fork is kept from a GPU by what the fork-server did; tried with a pretended device.

Autograd's engine starts a thread for each device that torch has, when it first runs. On a build
with CUDA it asks the driver for their number; in the fork-server, where GPUs are hidden, the answer
is 0, and every fork inherits it. A device that Python registers is counted likewise, and shows as
the thread.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from driver import SPEC, Running

from grader.errors import InfrastructureError
from grader.sandbox.host.forked import Link
from grader.sandbox.host.open import open_sandbox
from grader.sandbox.host.processes import Gpu

GPU = Gpu("GPU-a", 90)
ONE = replace(SPEC, cuda=1, gpus=(GPU,))
A_DEVICE = """
import torch
from torch.utils.backend_registration import _DummyDeviceGuard
torch._C._acc.register_python_privateuseone_device_guard(_DummyDeviceGuard())
"""
SOURCE = """
import os
import sys
import torch


def threads():
    return len(os.listdir("/proc/self/task"))


def step():
    before = threads()
    torch.nn.Linear(2, 2)(torch.zeros(1, 2)).sum().backward()
    return before, threads()


def warm():
    return "torch.distributed.tensor" in sys.modules
"""


def test_no_engine_runs_before_a_fork_that_may_get_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Link, "program", A_DEVICE + Link.program)
    try:
        opened = open_sandbox("auto", gpus=(GPU,))
    except InfrastructureError as error:
        pytest.skip(str(error).splitlines()[1].strip())
    with opened as shown:
        # The first of all forks is the one that proves the GPU; those after it must be like it.
        for spec in (ONE, ONE, SPEC):
            process = Running(shown.start(spec))
            assert process.load(SOURCE).fault is None
            assert process.value("step") == (1, 2), "the engine counts devices in the fork itself"
            assert process.value("warm")
            process.process.end()
