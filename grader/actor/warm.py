"""What a fork-server does once, so that no guest has to do it again.

Everything here runs in one thread: a parent that ran any parallel region makes its children hang in
their first multi-threaded kernel.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  what hand-ins import, inherited by every guest
import contextlib
import importlib
import multiprocessing.reduction  # noqa: F401
from collections.abc import Iterable

import torch
import torch.multiprocessing
import torch.utils.data

import grader.actor.server  # noqa: F401  imported here, so that guests inherit it
from grader.actor import probes
from grader.vgpu import late_compiler

REST = ("torch.distributed.tensor",)
"""Torch imports it, and sympy with it, for the first tensor on a virtual GPU: half a second."""


def warm(also: Iterable[str] = ()) -> None:
    """Run one small step of what hand-ins use and torch imports late.

    Args:
        also: Modules to import, where they are installed.

    Raises:
        RuntimeError: CUDA was initialised.
    """
    for name in also:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    late_compiler.install()
    torch.nn.Linear(2, 2)(torch.zeros(1, 2)).sum().backward()
    torch.nn.functional.conv2d(torch.zeros(1, 1, 4, 4), torch.zeros(1, 1, 2, 2))
    torch.func.vmap(torch.func.grad(lambda x: (x * x).sum()))(torch.zeros(2, 2))
    torch.distributions.Normal(0.0, 1.0).sample()  # type: ignore[no-untyped-call]
    torch.bmm(torch.zeros(1, 2, 2), torch.zeros(1, 2, 2))
    probes.warm()
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        raise RuntimeError("CUDA was initialised in the fork-server; no guest could use it")
