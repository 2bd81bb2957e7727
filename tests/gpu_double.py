"""A machine with a GPU, played by virtual GPUs and ``FakeWorker``.

All is as on a GPU worker but the driver: the sandbox shows a GPU whose nodes are not there,
processes that ask for a real one get a virtual one in its place, and what is timed is timed on a
``FakeDevice``. Run as a program, this is the ``grader`` command on such a machine.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fake_device import FakeDevice, FakeWorker, honest

from grader.assignment.types import Limits
from grader.grading import Grader
from grader.observation import Observation
from grader.run import capabilities, gpu_state, gpus
from grader.run.gpu_state import Leases
from grader.run.gpus import Rack
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import Gpu, Sandbox
from grader.wire.messages import Loaded

GPU = Gpu("GPU-double", 90)
MEMORY_MB = 256
"""All of it is overwritten where a real GPU's memory would be."""


def play(patch: pytest.MonkeyPatch, leases: Path) -> None:
    """Give this process a GPU.

    Args:
        patch: Takes it away again.
        leases: Folder of the leases.
    """

    def load(session: ProcessSession, seconds: float) -> Loaded | Observation:
        spec, memory = session._spec, {"virtual_gpu_memory_mb": MEMORY_MB}
        if spec.cuda:
            session._spec = replace(spec, virtual_gpus=spec.cuda, **memory)
        try:
            return real_load(session, seconds)
        finally:
            session._spec = spec

    def rack(sandbox: Sandbox, limits: Limits) -> Rack:
        return Rack([GPU.uuid], lambda _: FakeWorker(FakeDevice(), honest()), Leases(leases))

    real_load = ProcessSession._load
    patch.setattr(ProcessSession, "_load", load)
    for module in (gpu_state, gpus, capabilities):
        patch.setattr(module, "visible_gpus", lambda: (GPU,))
    defaults = Grader.__init__.__defaults__
    assert defaults is not None
    patch.setattr(Grader.__init__, "__defaults__", (rack, *defaults[1:]))


if __name__ == "__main__":
    from grader.cli.command import main

    with pytest.MonkeyPatch.context() as for_good:
        play(for_good, Path(sys.argv.pop(1)))
        main()
