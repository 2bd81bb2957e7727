"""Changing torch and putting it back, and the texts of its errors about devices.

The modules of this package say what is changed; each has functions ``patch_…``, which
``grader.vgpu.install`` calls in order.

The texts are by version where they changed, from c10/core/DeviceType and aten/src/ATen of pytorch:
``common_device_check_failure`` (ATen/core/adaption.cpp), ``TensorIterator.cpp``,
``check_input_same_type_as_parameters`` (ATen/native/Convolution.cpp),
``CUDACachingAllocator.cpp``, ``CUDAMiscFunctions.cpp``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from typing import Any

import torch

_ABSENT = object()


class Patches:
    """Attributes that were set in place of torch's own."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a module or class; remember what ``owner`` itself had there."""
        # What the owner itself has: an inherited attribute comes back by deleting this one.
        self._before.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> Any:
        """Set ``make(original)`` under the original's name and text, and return it.

        The name matters: a function mode, which counts calls, is told the attribute that is there.
        """
        original = getattr(owner, name)
        made = update_wrapper(make(original), original)
        self.set(owner, name, made)
        return made

    @property
    def changed(self) -> list[tuple[Any, str]]:
        """Owner and name of all that is set, in order."""
        return [(owner, name) for owner, name, _ in self._before]

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Put back what was there for the length of a ``with``."""
        changed = list(self._before)
        now = [vars(owner)[name] for owner, name, _ in changed]
        # The last change first: what was set twice must end up as torch's own.
        for owner, name, before in reversed(changed):
            _put(owner, name, before)
        try:
            yield
        finally:
            for (owner, name, _), value in zip(changed, now, strict=True):
                setattr(owner, name, value)

    def undo(self) -> None:
        """Put back what was there, the last change first."""
        while self._before:
            _put(*self._before.pop())


def _put(owner: Any, name: str, value: Any) -> None:
    if value is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, value)


# By its numbers alone: a version may end in “a0+git1234”.
RELEASE = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])

# torch.AcceleratorError came with 2.8; before it the same words were a plain RuntimeError.
AcceleratorError: type[RuntimeError] = getattr(torch, "AcceleratorError", RuntimeError)

_AFTERMATH = (
    "CUDA kernel errors might be asynchronously reported at some other API call, so the "
    "stacktrace below might be incorrect.\n"
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
)
_HINT = "GPU device may be out of range, do you have enough GPUs?\n" if RELEASE >= (2, 8) else ""


def invalid_ordinal() -> RuntimeError:
    """Return the error for a device that the machine does not have."""
    return AcceleratorError(f"CUDA error: invalid device ordinal\n{_HINT}{_AFTERMATH}")


def while_capturing() -> RuntimeError:
    """Return the error of a wait, or of a copy that waits, while a CUDA graph is captured."""
    return AcceleratorError(
        f"CUDA error: operation not permitted when stream is capturing\n{_AFTERMATH}"
    )


def used_before_fork() -> RuntimeError:
    """Return the error for a process that was forked from one that used CUDA (torch/cuda)."""
    return RuntimeError(
        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you "
        "must use the 'spawn' start method"
    )


def two_devices_in_kernel(common: str, other: str, argument: str, kernel: str) -> RuntimeError:
    """Return the error of a kernel's own check: ``argument`` is not where the others are."""
    if RELEASE >= (2, 8):
        return RuntimeError(
            f"Expected all tensors to be on the same device, but got {argument} is on {other}, "
            f"different from other tensors on {common} (when checking argument in method {kernel})"
        )
    return RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{common} and {other}! (when checking argument for argument {argument} in method {kernel})"
    )


def two_devices(common: str, other: str) -> RuntimeError:
    """Return the error of an elementwise operation."""
    return RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{common} and {other}!"
    )


def not_the_weights(input_type: str, name: str, type_of_it: str, on_cpu: bool) -> RuntimeError:
    """Return the error of a convolution whose input is on the host and its weight is not."""
    also = f" or input should be a MKLDNN tensor and {name} is a dense tensor" if on_cpu else ""
    return RuntimeError(
        f"Input type ({input_type}) and {name} type ({type_of_it}) should be the same{also}"
    )


def not_where_the_input_is(what: str, input_device: str, device: str) -> RuntimeError:
    """Return the error of a recurrent layer (``check_attributes``, ATen/native/RNN.cpp)."""
    return RuntimeError(
        f"Input and {what} tensors are not at the same device, found input tensor at "
        f"{input_device} and {what} tensor at {device}"
    )


def wrong_gradient(index: int, expected: str, found: str) -> RuntimeError:
    """Return the error of ``backward`` (``validate_outputs``, torch/csrc/autograd/engine.cpp)."""
    return RuntimeError(
        f"invalid gradient at index {index} - expected device {expected} but got {found}"
    )


def to_numpy(device: str) -> TypeError:
    """Return the error of ``.numpy()`` on a device tensor."""
    return TypeError(
        f"can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
        "to host memory first."
    )


def _human(size: int) -> str:
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        # As the allocator's format_size does: bytes up to and including 1024 stay bytes.
        if size > unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} bytes"


def out_of_memory(ordinal: int, size: int, live: int, limit: int) -> Exception:
    """Return the error of a full device; sizes in bytes."""
    free = _human(max(limit - live, 0))
    setting = "PYTORCH_ALLOC_CONF" if RELEASE >= (2, 10) else "PYTORCH_CUDA_ALLOC_CONF"
    return torch.OutOfMemoryError(
        f"CUDA out of memory. Tried to allocate {_human(size)}. GPU {ordinal} has a total capacity "
        f"of {_human(limit)} of which {free} is free. Including non-PyTorch memory, this process "
        f"has {_human(live)} memory in use. Of the allocated memory {_human(live)} is allocated by "
        "PyTorch, and 0 bytes is reserved by PyTorch but unallocated. If reserved but unallocated "
        f"memory is large try setting {setting}=expandable_segments:True to avoid fragmentation.  "
        "See documentation for Memory Management  "
        "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
    )


def duplicate_gpu(first: int, second: int, ordinal: int) -> Exception:
    """Return NCCL's error where two ranks of a group are on one device."""
    error: type[Exception] = torch.distributed.DistBackendError
    return error(
        "NCCL error in: ProcessGroupNCCL.cpp, invalid usage (run with NCCL_DEBUG=WARN for "
        "details)\nncclInvalidUsage: This usually reflects invalid usage of NCCL library.\nLast "
        f"error:\nDuplicate GPU detected : rank {second} and rank {first} both on CUDA device "
        f"{ordinal}"
    )


def unsupported(call: str, instead: str = "") -> NotImplementedError:
    """Return the error for what virtual devices do not do."""
    also = f"; {instead}" if instead else ""
    return NotImplementedError(f"{call} is not supported on virtual CUDA devices{also}")


def refused(name: str, instead: str = "") -> Callable[..., Any]:
    """Return what stands for something that virtual devices do not do, and says so when called."""

    def call(*_: Any, **__: Any) -> Any:
        raise unsupported(name, instead)

    return call


def no_nested(what: str) -> NotImplementedError:
    """Return the error for tensors of rows of several lengths: C++ would end the process."""
    return unsupported(what, "pad the rows (torch.nn.utils.rnn.pad_sequence) and pass a mask")


def without_elements(what: str) -> NotImplementedError:
    """Return the error for a tensor of a timeline without arithmetic that is computed with."""
    return unsupported(
        f"{what} of a tensor that was made without arithmetic",
        "it has a shape and no elements; make it again where arithmetic is done",
    )
