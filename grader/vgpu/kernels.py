"""How torch's CUDA kernels are called and which of them check their arguments' devices.

Read from the table that torch ships for its own code generator (``torchgen``), and only once a
device is wrong: ``native_functions.yaml``, as ``torchgen/dest/register_dispatch_key.py`` reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

_TABLE = Path("packaged/ATen/native/native_functions.yaml")

# Where a CUDA build runs another kernel than the CPU build that carries the virtual devices.
_INSTEAD = {
    "convolution": "cudnn_convolution",
    "native_batch_norm": "cudnn_batch_norm",
    "_native_batch_norm_legit": "cudnn_batch_norm",
    "embedding": "index_select",
    "stack": "cat",
}
# cuDNN is asked only where the input is on the device.
_BY_INPUT = frozenset({"native_batch_norm", "_native_batch_norm_legit"})
_RENAMED = {("embedding", "weight"): "self", ("embedding", "indices"): "index"}


@dataclass(frozen=True, slots=True)
class CudaKernel:
    """A kernel.

    Attributes:
        name: As torch names it in messages: ``wrapper_CUDA_addmm``.
        checks: Whether it checks the devices itself; if not, the loop over elements does.
    """

    name: str
    checks: bool


def kernel_of(op: str, overload: str, *, on_host: bool = False) -> CudaKernel:
    """Return the kernel of an ATen operation.

    Args:
        op: ``addmm``.
        overload: ``out``, or empty.
        on_host: Its first argument is on the host.
    """
    stands_for = op if on_host and op in _BY_INPUT else _INSTEAD.get(op, op)
    entry = _entry(stands_for, "" if stands_for != op else overload)
    if entry is None:
        # Made of other operations, or a build without its table: say what the loop would say.
        return CudaKernel("", checks=False)
    if "structured_delegate:" in entry or "structured: True" in entry:
        parts = (stands_for, overload) if overload and stands_for == op else (stands_for,)
        name = "wrapper_CUDA_" + "_".join(parts)
    else:
        name = f"wrapper_CUDA_{overload if stands_for == op else ''}_{stands_for}"
    runs_there = "structured" in entry or re.search(r"^\s+[\w, ]*\bCUDA\b.*:", entry, re.M)
    return CudaKernel(name, checks=bool(runs_there) and "device_check: NoCheck" not in entry)


def argument_name(op: str, name: str) -> str:
    """Return what the kernel calls an argument of ``op``."""
    return _RENAMED.get((op, name), name)


def _entry(op: str, overload: str) -> str | None:
    head = re.escape(f"- func: {op}.{overload}(" if overload else f"- func: {op}(")
    found = re.search(rf"^{head}.*?(?=^- func:|\Z)", _table(), re.M | re.S)
    return found.group() if found else None


@lru_cache(maxsize=1)
def _table() -> str:
    found = find_spec("torchgen")
    if found is None or found.origin is None:
        return ""
    try:
        return (Path(found.origin).parent / _TABLE).read_text(encoding="utf-8")
    except OSError:  # behind walls, or a build without it
        return ""
