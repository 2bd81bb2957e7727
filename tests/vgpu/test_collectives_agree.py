"""Each exchange between ranks gives what its definition says, for all ranks and for some of them.

What is right is worked out by each rank itself, from the same draws.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy  # three processes, hundreds of exchanges

PROGRAM = """
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)
some = dist.new_group([0, 2])
done, wrong = 0, []
OPS = {
    "sum": lambda each: each.sum(0),
    "product": lambda each: each.prod(0),
    "min": lambda each: each.amin(0),
    "max": lambda each: each.amax(0),
    "avg": lambda each: torch.div(
        each.sum(0), len(each), rounding_mode=None if each.is_floating_point() else "trunc"
    ),
}


def same(name, found, right):
    global done
    done += 1
    found = found.detach().cpu()
    close = 1e-2 if found.dtype is torch.bfloat16 else 1e-6
    right = right.to(found.dtype)
    if found.shape != right.shape or not torch.allclose(found, right, rtol=close):
        wrong.append((rank, name, found.tolist(), right.tolist()))


def ended(work):
    if work is not None:
        work.wait()


def reductions(xs, me, ranks, group, later):
    n, there = len(ranks), group or dist.group.WORLD
    options = {"group": group, "async_op": later}
    for name, of in OPS.items():
        right = of(torch.stack(xs))
        op = getattr(dist.ReduceOp, name.upper())
        mine = right.chunk(n)[me]

        def empty():
            return torch.empty(mine.shape, dtype=xs[0].dtype, device="cuda")

        x, part = xs[me].cuda(), empty()
        ended(dist.all_reduce(x, op, **options))
        same(("all_reduce", name), x, right)
        x = xs[me].cuda()
        ended(dist.reduce(x, ranks[-1], op, **options))
        if me == n - 1:
            same(("reduce", name), x, right)
        x = xs[me].cuda()
        ended(dist.reduce_scatter(part, list(x.chunk(n)), op, **options))
        same(("reduce_scatter", name), part, mine)
        for given in (x, torch.stack(x.chunk(n))):
            part = empty()
            ended(dist.reduce_scatter_tensor(part, given, op, **options))
            same(("reduce_scatter_tensor", name), part, mine)
        same(("functional", name), functional.all_reduce(x, name, there) + 0, right)
        part = functional.reduce_scatter_tensor(x, name, 0, there) + 0
        same(("functional scatter", name), part, mine)
        pair = functional.all_reduce_coalesced([x, x + 1], name, there)
        second = of(torch.stack([each + 1 for each in xs]))
        same(("functional pair", name), pair[0] + 0, right)
        same(("functional pair", name), pair[1] + 0, second)


def moves(xs, me, ranks, group, later):
    n, x, there = len(ranks), xs[me].cuda(), group or dist.group.WORLD
    options = {"group": group, "async_op": later}
    parts = [torch.empty_like(x) for _ in ranks]
    ended(dist.all_gather(parts, x, **options))
    same("all_gather", torch.stack(parts), torch.stack(xs))
    for right in (torch.cat(xs), torch.stack(xs)):
        whole = torch.empty(right.shape, dtype=x.dtype, device="cuda")
        ended(dist.all_gather_into_tensor(whole, x, **options))
        same("all_gather_into_tensor", whole, right)
    y = x.clone() if me == n - 1 else torch.empty_like(x)
    ended(dist.broadcast(y, ranks[-1], **options))
    same("broadcast", y, xs[-1])
    swapped = torch.cat([each.chunk(n)[me] for each in xs])
    y = torch.empty_like(x)
    ended(dist.all_to_all_single(y, x, **options))
    same("all_to_all_single", y, swapped)
    parts = [torch.empty_like(each) for each in x.chunk(n)]
    ended(dist.all_to_all(parts, list(x.chunk(n)), **options))
    same("all_to_all", torch.cat(parts), swapped)
    parts = [torch.empty_like(x) for _ in ranks] if me == 0 else None
    ended(dist.gather(x, parts, ranks[0], **options))
    if parts:
        same("gather", torch.stack(parts), torch.stack(xs))
    part = torch.empty_like(x.chunk(n)[0])
    given = list(x.chunk(n)) if me == 0 else None
    ended(dist.scatter(part, given, ranks[0], **options))
    same("scatter", part, xs[0].chunk(n)[me])
    y, after, before = torch.empty_like(x), ranks[(me + 1) % n], ranks[(me - 1) % n]
    sent, taken = (dist.P2POp(kind, what, other, group) for kind, what, other in
                   ((dist.isend, x, after), (dist.irecv, y, before)))
    for work in dist.batch_isend_irecv([sent, taken]):
        work.wait()
    same("batch_isend_irecv", y, xs[me - 1])
    same("functional gather", functional.all_gather_tensor(x, 1, there) + 0, torch.cat(xs, 1))
    same("functional broadcast", functional.broadcast(x, ranks[0], there) + 0, xs[0])


for seed, dtype in enumerate((torch.float32, torch.bfloat16, torch.int64)):
    for group, ranks in ((None, [0, 1, 2]), (some, [0, 2])):
        if rank not in ranks:
            continue
        draws = torch.Generator().manual_seed(10 * seed + len(ranks))
        size = (2 * len(ranks), 3)
        xs = [torch.randint(-8, 9, size, generator=draws).to(dtype) for _ in ranks]
        for later in (False, True):
            reductions(xs, ranks.index(rank), ranks, group, later)
            moves(xs, ranks.index(rank), ranks, group, later)
for turn in range(3):
    dist.barrier()
    if turn == rank:
        print(done, wrong, flush=True)
dist.destroy_process_group()
"""


def test_each_exchange_gives_what_it_is_defined_to_give(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "grader.vgpu", "--gpus", "3", "--nproc", "3", "script.py"]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=500, check=False, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    told = ran.stdout.splitlines()[:3]
    assert [line.partition(" ")[2] for line in told] == ["[]"] * 3
    assert all(int(line.partition(" ")[0]) > 300 for line in told[::2])
