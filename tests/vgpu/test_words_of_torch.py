"""Errors whose words students search for, to the letter."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
import torch
from torch import nn

from grader.vgpu import patches, virtual_gpus
from grader.vgpu.patches import RELEASE, out_of_memory, two_devices_in_kernel

NEW = pytest.mark.skipif(RELEASE < (2, 8), reason="the words of torch 2.8 and later")


def raised(call: Callable[[], object], devices: int = 2) -> Exception:
    with virtual_gpus(devices), pytest.raises(Exception) as caught:  # noqa: PT011 it is looked at
        call()
    return caught.value


def test_two_devices_in_an_elementwise_operation() -> None:
    error = raised(lambda: torch.ones(2).cuda(1) + torch.ones(2).cuda(0))
    assert type(error) is RuntimeError
    assert str(error) == (
        "Expected all tensors to be on the same device, but found at least two devices, "
        "cuda:1 and cuda:0!"
    )


@NEW
def test_the_input_was_left_on_the_host() -> None:
    error = raised(lambda: nn.Linear(2, 2).cuda()(torch.ones(1, 2)))
    assert str(error) == (
        "Expected all tensors to be on the same device, but got mat1 is on cpu, different from "
        "other tensors on cuda:0 (when checking argument in method wrapper_CUDA_addmm)"
    )


def test_before_2_8_the_words_were_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patches, "RELEASE", (2, 4))
    error = two_devices_in_kernel("cuda:0", "cpu", "mat1", "wrapper_CUDA_addmm")
    assert str(error) == (
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
        "and cpu! (when checking argument for argument mat1 in method wrapper_CUDA_addmm)"
    )
    assert "PYTORCH_CUDA_ALLOC_CONF" in str(out_of_memory(0, 1, 1, 1))


def test_convolution_of_a_host_input() -> None:
    error = raised(lambda: nn.Conv2d(1, 1, 1).cuda()(torch.ones(1, 1, 2, 2)))
    assert str(error).startswith(
        "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same"
    )


@NEW
def test_batch_norm_names_the_kernel_of_its_inputs_device() -> None:
    on_device = raised(lambda: nn.BatchNorm1d(2)(torch.ones(2, 2).cuda()))
    on_host = raised(lambda: nn.BatchNorm1d(2).cuda()(torch.ones(2, 2)))
    assert str(on_device).endswith("in method wrapper_CUDA__cudnn_batch_norm)")
    assert str(on_host).endswith("in method wrapper_CUDA__native_batch_norm)")


def test_no_such_device() -> None:
    error = raised(lambda: torch.ones(1).to("cuda:1"), devices=1)
    assert isinstance(error, RuntimeError)
    assert str(error).startswith("CUDA error: invalid device ordinal\n")
    assert "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions." in str(error)


def test_numpy_of_a_device_tensor() -> None:
    error = raised(lambda: torch.ones(1).cuda(1).numpy())
    assert type(error) is TypeError
    assert str(error) == (
        "can't convert cuda:1 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
        "host memory first."
    )


@pytest.mark.parametrize(("size", "text"), [
    (512, "512 bytes"), (1024, "1024 bytes"), (1536, "1.50 KiB"), (20 * 2**20, "20.00 MiB"),
    (8 * 2**30, "8.00 GiB"),
])  # fmt: skip
def test_sizes_as_the_allocator_writes_them(size: int, text: str) -> None:
    assert f"Tried to allocate {text}. GPU 1 has" in str(out_of_memory(1, size, 0, 2**40))


def test_a_fork_of_a_process_that_used_the_devices() -> None:
    def child(write: int) -> None:
        said = b""
        try:
            torch.ones(1).cuda()
        except RuntimeError as error:
            said = str(error).encode()
        os.write(write, said)
        os._exit(0)

    with virtual_gpus(1):
        torch.ones(1).cuda()
        read, write = os.pipe()
        number = os.fork()
        if number == 0:
            child(write)
        os.waitpid(number, 0)
        said = os.read(read, 1000).decode()
        os.close(read)
        os.close(write)
        torch.ones(1).cuda()
    assert said.startswith("Cannot re-initialize CUDA in forked subprocess.")
