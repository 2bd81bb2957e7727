"""Every public function of ``torch.cuda`` and its kin works, or is refused by name.

Each is called without arguments and with one trivial argument after another. What comes back does
not matter, and torch may complain of the arguments. But nobody is to be told of a function of C++
that this build does not have.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
import torch

from grader.vgpu import virtual_gpus

_MODULES = (
    "torch.cuda", "torch.cuda.memory", "torch.cuda.random", "torch.cuda.amp", "torch.cuda.nccl",
    "torch.cuda.nvtx", "torch.cuda.profiler", "torch.cuda.graphs", "torch.cuda.streams",
    "torch.cuda.comm", "torch.cuda.tunable", "torch.accelerator", "torch.amp", "torch.distributed",
    "torch.nn.parallel",
)  # fmt: skip
# They wait for somebody at a terminal, or read torch's own table of CUDA errors.
_LEFT_OUT = frozenset({
    "torch.distributed.breakpoint", "torch.cuda.CudaError", "torch.cuda.check_error",
    "torch.cuda.profiler.check_error",
})  # fmt: skip
_INSIDE = re.compile(
    r"module 'torch\._C|not compiled with|CUDA build|without CUDA|INTERNAL ASSERT|dummy base class"
    r"|is not supported on this platform|internal error|'NoneType' object",
    re.I,
)


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in _MODULES:
        if find_spec(name) is None:
            continue
        for attribute, value in vars(import_module(name)).items():
            theirs = str(getattr(value, "__module__", "")).startswith(("torch.", "grader.vgpu"))
            if attribute[0] != "_" and callable(value) and theirs and not inspect.ismodule(value):
                yield f"{name}.{attribute}", value


def told(function: Callable[..., Any], *args: Any) -> str:
    try:
        function(*args)
    except Exception as error:  # noqa: BLE001  any error but one from the inside will do
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.filterwarnings("ignore")
def test_none_ends_in_an_internal_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)  # a store of torch's makes a file
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with virtual_gpus(2):
        x = torch.ones(2, device="cuda")
        functions = [each for each in public() if each[0] not in _LEFT_OUT]
        assert len(functions) > 200
        inside = [
            f"{name}{args}: {ended}"
            for name, function in functions
            for args in ((), (x,), (0,), ("cuda:1",), ([x],))
            if _INSIDE.search(ended := told(function, *args))
        ]
    assert inside == []


def test_an_internal_error_would_be_seen() -> None:
    def inside() -> None:
        torch._C._cuda_nothing_of_that_name()  # type: ignore[attr-defined]

    assert _INSIDE.search(told(inside))
    assert not _INSIDE.search(told(int, "x"))
