"""``torch.autocast("cuda")``: CUDA's lists, and who is left alone."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

from grader.vgpu import virtual_gpus
from grader.vgpu.patches import autocast

_HEADER = Path(torch.__file__).parent / "include/ATen/autocast_mode.h"
_LISTS = {
    "LOWER_PRECISION_FP": autocast.LOWER_PRECISION,
    "FP32": autocast.FLOAT32,
    "FP32_SET_OPT_DTYPE": autocast.FLOAT32_RESULT,
    "PROMOTE": autocast.WIDEST,
}


def named(operation: str) -> bool:
    """Tell whether an overload is for tensors with named dimensions, which newer torch has not."""
    return "imname" in operation or ".names_" in operation


@pytest.mark.parametrize("name", _LISTS)
def test_the_lists_are_those_of_torchs_header(name: str) -> None:
    if not _HEADER.is_file():
        pytest.skip("this torch ships no headers")
    found = re.search(rf"#define AT_FORALL_{name}\(_\)(.*?)\n\n", _HEADER.read_text(), re.S)
    if found is None:
        pytest.skip("this torch's header has no such list")
    entries = re.findall(r"_\((\w+)(?:, (\w+))?\)", found[1])
    theirs = {op + (f".{overload}" if overload else "") for op, overload in entries}
    theirs = {name for name in theirs if not named(name)}
    assert theirs - _LISTS[name] == set()
    assert _LISTS[name] - theirs == set() or torch.__version__ < "2.13"


def test_all_that_torch_registers_has_a_policy() -> None:
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    names = [name for name in torch._C._dispatch_get_all_op_names() if has(name, "AutocastCUDA")]
    aten = {name.removeprefix("aten::") for name in names if name.startswith("aten::")}
    cudnns = {
        "cudnn_convolution",
        "cudnn_convolution_transpose",
        "_cudnn_rnn",
    }  # nobody calls them here
    without = {name for name in aten - cudnns if autocast.policy_of(name) is None}
    assert {name for name in without if not named(name)} == set()


def test_a_weight_is_cast_once_in_a_region() -> None:
    with virtual_gpus(1) as machine:
        layer, x = nn.Linear(3, 3).cuda(), torch.ones(2, 3, device="cuda")
        for cached, casts in ((True, 2), (False, 4)):
            machine.trace.clear()
            with torch.autocast("cuda", cache_enabled=cached):
                layer(layer(x))
            ops = [getattr(event, "op", "") for event in machine.trace.events]
            # The input is one more, the second one comes in half precision.
            assert ops.count("_to_copy") == casts + 1
        with torch.no_grad():
            layer.weight.zero_()
        with torch.autocast("cuda"):
            assert layer(x).tolist() == [layer.bias.half().tolist()] * 2


def test_gradients_come_in_the_parameters_type() -> None:
    with virtual_gpus(1):
        layer = nn.Linear(3, 3).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = functional.cross_entropy(layer(torch.eye(3).cuda()), torch.arange(3).cuda())
        assert loss.dtype is torch.float32
        loss.backward()
        assert layer.weight.grad.dtype is torch.float32
        assert layer.weight.grad.is_cuda


def test_a_region_is_a_threads_own_and_ends() -> None:
    found: list[torch.dtype] = []
    with virtual_gpus(1):
        x = torch.ones(2, 2, device="cuda")
        with torch.autocast("cuda"):
            thread = threading.Thread(target=lambda: found.append((x @ x).dtype))
            thread.start()
            thread.join()
            found.append((x @ x).dtype)
        found.append((x @ x).dtype)
    assert found == [torch.float32, torch.float16, torch.float32]


def of_the_host(x: torch.Tensor) -> list[torch.Tensor]:
    return [x @ x, functional.mse_loss(x, x), x.softmax(0)]


def test_the_hosts_own_autocast_is_torchs() -> None:
    host = torch.ones(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected = [
            (host @ host).dtype,
            functional.mse_loss(host, host).dtype,
            host.softmax(0).dtype,
        ]
    with virtual_gpus(1), torch.autocast("cpu", dtype=torch.bfloat16):
        x = host.cuda()
        assert (x @ x).dtype is torch.float32
        found = [each.dtype for each in of_the_host(host)]
    assert found == expected
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (host @ host).dtype is torch.bfloat16
