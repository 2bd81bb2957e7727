"""What torch does for a program by ways of its own: compilers, transforms, operators, exchanges."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.autograd import forward_ad
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from grader.vgpu import virtual_gpus
from grader.vgpu.core import dispatch
from grader.vgpu.timeline import on_timeline


def layer_and_input() -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    return nn.Conv2d(1, 2, 3), torch.randn(1, 1, 6, 6)


def pushed(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return torch.func.jvp(model, (x,), (torch.ones_like(x),))[1]


def by_levels(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(model(forward_ad.make_dual(x, torch.ones_like(x)))).tangent


@pytest.mark.parametrize("derive", [pushed, by_levels])
def test_forward_derivatives_of_a_convolution(
    derive: Callable[[nn.Module, torch.Tensor], torch.Tensor],
) -> None:
    model, x = layer_and_input()
    expected = derive(copy.deepcopy(model), x)
    with virtual_gpus(1):
        found = derive(model.cuda(), x.cuda())
        assert found.device == torch.device("cuda:0")
        torch.testing.assert_close(found.cpu(), expected)


def test_derivatives_of_derivatives() -> None:
    with virtual_gpus(1):
        x = torch.ones(3, device="cuda")
        found = torch.func.hessian(lambda x: (x**3).sum())(x)
        assert found.tolist() == (6 * torch.eye(3)).tolist()
        linear = nn.Linear(3, 2).cuda()
        assert torch.equal(torch.func.jacfwd(linear)(x), linear.weight)


def test_a_host_tensor_of_the_programs_is_refused_under_forward_derivatives() -> None:
    weight = torch.randn(3, 3)
    with virtual_gpus(1):
        x = torch.ones(3, 3, device="cuda")
        with pytest.raises(RuntimeError, match="same device"):
            torch.func.jvp(lambda x: x @ weight, (x,), (x,))


def test_meta_tensors_of_torchs_own_stay_meta() -> None:
    with virtual_gpus(1):
        x = torch.ones(3, device="cuda")
        assert torch.ops.aten.zeros_like(x, device="meta").device.type == "meta"
        assert (x + x).tolist() == [2.0] * 3


def test_a_kernel_for_cuda_is_the_one_that_runs() -> None:
    @torch.library.custom_op("vgpu_tests::scaled", mutates_args=(), device_types="cpu")
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @scaled.register_kernel("cuda")
    def _(x: torch.Tensor) -> torch.Tensor:
        assert x.is_cuda
        return x * 3

    @torch.library.custom_op("vgpu_tests::written", mutates_args={"out"}, device_types="cuda")
    def written(x: torch.Tensor, out: torch.Tensor) -> None:
        out.copy_(x + 1)

    with virtual_gpus(1) as machine:
        x = torch.ones(3, device="cuda")
        assert scaled(x).tolist() == [3.0] * 3
        assert scaled(torch.ones(1)).tolist() == [2.0]
        out = torch.zeros(3, device="cuda")
        written(x, out)
        assert out.tolist() == [2.0] * 3
        assert "mul" in str(machine.trace.events)


def test_a_kernel_that_comes_later_takes_over_and_one_for_the_cpu_stands_for_none() -> None:
    @torch.library.custom_op("vgpu_tests::later", mutates_args=(), device_types="cpu")
    def later(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    with virtual_gpus(1):
        x = torch.ones(2, device="cuda")
        with pytest.raises(NotImplementedError, match=r"^Could not run 'vgpu_tests::later' with"):
            later(x)
        later.register_kernel("cuda")(lambda x: x * 3)
        assert later(x).tolist() == [3.0, 3.0]


def made_of_numbers(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor([1.0, 2.0, 3.0], device=x.device)


def made_and_moved(x: torch.Tensor) -> torch.Tensor:
    return torch.arange(3.0).to(x.device)


@pytest.mark.parametrize(
    "make",
    [
        made_of_numbers,
        made_and_moved,
        lambda x: torch.full((3,), 2.0, device=x.device),
        lambda x: torch.ones(3, device="cuda" if x.is_cuda else "cpu"),
        lambda x: torch.zeros_like(torch.empty(3), device=x.device) + x.get_device(),
    ],
)
def test_tensors_that_are_made_inside_transforms(
    make: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return (x**2 * make(x)).sum()

    def results(x: torch.Tensor) -> list[torch.Tensor]:
        return [
            torch.func.grad(function)(x),
            torch.func.jvp(function, (x,), (x,))[1],
            torch.func.hessian(function)(x),
            torch.func.vmap(torch.func.grad(function))(torch.stack([x, x])),
        ]

    x = torch.tensor([1.0, 2.0, 3.0])
    expected = results(x)
    if make(x).eq(-1).all():
        expected = [each * 0 for each in expected]
    with virtual_gpus(1):
        found = results(x.cuda())
        assert {each.device for each in found} == {torch.device("cuda:0")}
        for each, other in zip(found, expected, strict=True):
            torch.testing.assert_close(each.cpu(), other)


@pytest.mark.parametrize(
    "transform",
    [torch.func.grad, torch.func.jacfwd, lambda function: lambda x: torch.vmap(function)(x[None])],
)
def test_a_move_inside_a_transform_that_follows_it_is_refused(transform: Any) -> None:
    with virtual_gpus(1):
        with pytest.raises(NotImplementedError, match="inside a transform"):
            transform(lambda x: x.cuda().sum())(torch.ones(3))
        with pytest.raises(NotImplementedError, match="inside a transform"):
            transform(lambda x: x.cpu().sum())(torch.ones(3, device="cuda"))


def test_the_kernels_of_a_torch_built_for_cuda_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such a build has one for each operation, in C++, which cannot run here."""
    told = "CUDA: registered at /pytorch/build/aten/src/ATen/RegisterCUDA_0.cpp:2428 :: (none)"
    monkeypatch.setattr(torch._C, "_dispatch_has_kernel_for_dispatch_key", lambda *_: True)
    monkeypatch.setattr(torch._C, "_dispatch_dump", lambda _: told)
    assert not dispatch._is_programs("aten::atan2", "CUDA")
    written = "CUDA: registered at /home/me/train.py:7 :: (none) [ boxed ]"
    monkeypatch.setattr(torch._C, "_dispatch_dump", lambda _: f"{written}\n{told}")
    assert dispatch._is_programs("aten::atan2", "CUDA")


def test_flexible_attention() -> None:
    from torch.nn.attention.flex_attention import (  # noqa: PLC0415
        create_block_mask,
        flex_attention,
    )

    torch.manual_seed(0)
    query, key, value = torch.randn(3, 1, 2, 128, 16)

    def causal(batch, head, row, column):
        return row >= column

    expected = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    with virtual_gpus(1):
        there = [each.cuda().requires_grad_() for each in (query, key, value)]
        mask = create_block_mask(causal, None, None, 128, 128, device="cuda")
        found = flex_attention(*there, block_mask=mask)
        found.sum().backward()
        assert there[0].grad.device == found.device == torch.device("cuda:0")
        torch.testing.assert_close(found.detach().cpu(), expected, atol=1e-5, rtol=1e-5)


def test_a_map_over_lists() -> None:
    from torch._higher_order_ops.foreach_map import foreach_map  # noqa: PLC0415

    with virtual_gpus(1):
        x = [torch.ones(2, device="cuda")] * 2
        assert [each.tolist() for each in foreach_map(torch.add, x, x)] == [[2.0, 2.0]] * 2


@pytest.mark.parametrize("kernel", SDPBackend.__members__)
def test_any_kernel_of_attention_can_be_asked_for(kernel: str) -> None:
    if kernel in {"ERROR", "OVERRIDEABLE"}:
        pytest.skip("is none of CUDA's")
    x = torch.randn(1, 2, 8, 16)
    expected = functional.scaled_dot_product_attention(x, x, x)
    with virtual_gpus(1), sdpa_kernel(SDPBackend.__members__[kernel]):
        there = x.cuda()
        found = functional.scaled_dot_product_attention(there, there, there)
        torch.testing.assert_close(found.cpu(), expected)


def test_a_number_joins_in_without_arithmetic() -> None:
    with virtual_gpus(1), on_timeline("v100", arithmetic=False):
        x = torch.randn(4, device="cuda")
        assert torch.where(x > 0, x, 0.0).shape == (4,)
        assert torch.where(x > 0, 1.0, x).dtype is torch.float32


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.empty(10**15, device="cuda"),
        lambda: torch.ones(2**25, 1, device="cuda") * torch.ones(2**25, device="cuda"),
        lambda: torch.ones(1).expand(2**44).to("cuda"),
    ],
)
def test_a_huge_tensor_is_too_large_in_torchs_words(make: Callable[[], torch.Tensor]) -> None:
    with virtual_gpus(1), pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory"):
        make()


def test_files_that_a_gpu_would_read_are_refused() -> None:
    if not hasattr(torch.cuda, "gds"):
        pytest.skip("this torch has no torch.cuda.gds")
    with virtual_gpus(1), pytest.raises(NotImplementedError, match=r"torch\.cuda\.gds\.GdsFile is"):
        torch.cuda.gds.GdsFile("/none", 1)


def run(folder: Path, program: str, *options: str) -> str:
    (folder / "script.py").write_text(program)
    command = [sys.executable, "-m", "grader.vgpu", *options, "script.py"]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, cwd=folder
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


COMPILER = """
import torch
torch.compiler.reset()
torch.compiler.cudagraph_mark_step_begin()
torch._dynamo.reset()
for refused in (
    lambda: torch._dynamo.explain(torch.sin)(torch.ones(1, device="cuda")),
    lambda: __import__("torch._inductor.utils")._inductor.utils.run_and_get_code(torch.sin),
):
    try:
        refused()
    except NotImplementedError as error:
        print(error)
"""


def test_the_compiler_is_reset_and_asked(tmp_path: Path) -> None:
    first, second = run(tmp_path, COMPILER).splitlines()
    assert first.startswith("torch._dynamo.eval_frame.explain is not supported on virtual CUDA")
    assert second.startswith("torch._inductor.utils.run_and_get_code is not supported on virtual")


EXCHANGES = """
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.distributed.distributed_c10d import _coalescing_manager
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)
told = {}

model = DistributedDataParallel(nn.Linear(2, 2).cuda(), device_ids=[rank])
with Join([model]):
    for _ in range(2 + rank):
        model(torch.ones(2, 2, device="cuda")).sum().backward()
told["join"] = model.module.weight.grad.sum().item()

x = torch.full((3,), rank + 1.0, device="cuda")
dist.all_reduce(x, op=dist._make_nccl_premul_sum(0.5))
told["premul"] = x.tolist()
part = torch.empty(1, device="cuda")
whole = torch.full((2,), rank + 1.0, device="cuda")
dist.reduce_scatter_tensor(part, whole, op=dist._make_nccl_premul_sum(2.0))
told["scattered"] = part.tolist() + whole.tolist()

parts = [torch.empty(size, device="cuda") for size in (1, 2)]
dist.all_gather(parts, torch.full((1 + rank,), rank + 1.0, device="cuda"))
told["uneven"] = [each.tolist() for each in parts]

several = [torch.ones(2, device="cuda") for _ in range(2)]
with _coalescing_manager(device=torch.device("cuda", rank), async_ops=True) as manager:
    for each in several:
        dist.all_reduce(each)
manager.wait()
told["coalesced"] = several[1].tolist()

future = dist.all_reduce(torch.ones(2, device="cuda"), async_op=True).get_future()
told["future"] = future.then(lambda ended: (ended.value()[0] / 2).is_cuda).wait()

for turn in range(2):
    dist.barrier()
    if turn == rank:
        print(told, flush=True)
dist.destroy_process_group()
"""


def test_exchanges_that_nccl_has_and_gloo_lacks(tmp_path: Path) -> None:
    lines = run(tmp_path, EXCHANGES, "--gpus", "2", "--nproc", "2").splitlines()
    # As torch's own Join says: a rank that is done adds noughts, and all divide by two.
    expected = {
        "premul": [1.5] * 3, "scattered": [6.0], "uneven": [[1.0], [2.0, 2.0]],
        "coalesced": [2.0, 2.0], "future": True,
    }  # fmt: skip
    for rank, line in enumerate(lines):
        told = eval(line)
        assert told.pop("join") == (16.0 if rank == 0 else 12.0)
        own = expected["scattered"] + [rank + 1.0] * 2
        assert told == {**expected, "scattered": own}
    assert len(lines) == 2


def test_a_profiler_of_the_gpu_alone_sees_the_hosts_part() -> None:
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with virtual_gpus(1), torch.profiler.profile(activities=activities) as profiler:
        torch.ones(2, device="cuda") + 1
    assert any("add" in row.key for row in profiler.key_averages())


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_vmap_draws_what_falls_out_on_the_device(randomness: str) -> None:
    def drop(x: torch.Tensor) -> torch.Tensor:
        return functional.dropout(x, 0.5)

    with virtual_gpus(1):
        found = torch.vmap(drop, randomness=randomness)(torch.ones(8, 16, device="cuda"))
        assert found.device == torch.device("cuda:0")
        assert set(found.flatten().tolist()) == {0.0, 2.0}
        assert torch.equal(found[0], found[1]) is (randomness == "same")


def test_a_causal_bias_is_where_the_query_is() -> None:
    from torch.nn.attention.bias import causal_lower_right  # noqa: PLC0415

    query, key = torch.randn(1, 2, 8, 16), torch.randn(1, 2, 10, 16)
    bias = causal_lower_right(8, 10)
    expected = functional.scaled_dot_product_attention(query, key, key, bias)
    with virtual_gpus(1):
        there = key.cuda()
        found = functional.scaled_dot_product_attention(query.cuda(), there, there, attn_mask=bias)
        torch.testing.assert_close(found.cpu(), expected)


def test_a_kernel_that_the_host_lacks_is_refused_by_name() -> None:
    with virtual_gpus(1):
        x = torch.ones(1, 1, 3, 3, device="cuda")
        with pytest.raises(NotImplementedError, match=r"aten\.cudnn_convolution is not"):
            torch.cudnn_convolution(x, x, (0, 0), (1, 1), (1, 1), 1, False, False, False)


BY_ELEMENTS: dict[str, Callable[[torch.Tensor], object]] = {
    "index": lambda x: x[x > 0],
    "one_hot without num_classes": lambda x: functional.one_hot(x.long()),
    "bincount": lambda x: torch.bincount(x.long()),
    "allclose": lambda x: torch.allclose(x, x),
    "linalg_lstsq": lambda x: torch.linalg.lstsq(x[:, None], x[:, None]),
}


@pytest.mark.parametrize("name", BY_ELEMENTS)
def test_what_depends_on_elements_is_refused_without_arithmetic(name: str) -> None:
    words = f"{name} on a timeline without arithmetic"
    with virtual_gpus(1), on_timeline("v100", arithmetic=False):
        x = torch.randn(4, device="cuda")
        with pytest.raises(NotImplementedError, match=words):
            BY_ELEMENTS[name](x)


def test_shapes_that_depend_on_no_element_are_there_without_arithmetic() -> None:
    with virtual_gpus(1), on_timeline("v100", arithmetic=False):
        x = torch.randn(4, device="cuda")
        assert functional.one_hot(x.long(), 5).shape == (4, 5)
        assert x.masked_fill(x > 0, torch.tensor(0.0)).shape == (4,)
        rows = torch.randn(5, 2, 4, device="cuda")
        packed = nn.utils.rnn.pack_padded_sequence(rows, torch.tensor([5, 3]))
        assert packed.data.shape == (8, 4)
        padded, lengths = nn.utils.rnn.pad_packed_sequence(nn.GRU(4, 3).cuda()(packed)[0])
        assert (padded.shape, lengths.tolist()) == ((5, 2, 3), [5, 3])
