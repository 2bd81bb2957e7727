"""Process groups and started processes, as the documents' distributed training has them."""

from __future__ import annotations

import atexit
import ctypes
import multiprocessing
import multiprocessing.util
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import spawn
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from grader.vgpu import processes, virtual_gpus
from grader.vgpu.core.trace import Collective, Mark, Transfer
from grader.vgpu.processes import account_of, read_accounts, write_account
from grader.vgpu.show import summary


@contextmanager
def group(backend: str, file: Path, rank: int = 0, world_size: int = 1) -> Iterator[None]:
    distributed.init_process_group(
        backend, init_method=f"file://{file}", rank=rank, world_size=world_size
    )
    try:
        yield
    finally:
        distributed.destroy_process_group()


@pytest.mark.parametrize("backend", ["nccl", "gloo"])
def test_distributed_data_parallel_on_a_device(backend: str, tmp_path: Path) -> None:
    with virtual_gpus(1), group(backend, tmp_path / "group"):
        torch.cuda.set_device(0)
        model = DistributedDataParallel(nn.Linear(3, 2).cuda(0), device_ids=[0])
        model(torch.ones(2, 3).cuda(0)).sum().backward()
        assert model.module.weight.grad.device == torch.device("cuda:0")
        assert model.module.weight.grad.tolist() == [[2.0] * 3] * 2
        total = torch.ones(2, device="cuda")
        distributed.all_reduce(total)
        gathered = [torch.zeros(2, device="cuda")]
        distributed.all_gather(gathered, total + 1)
        assert gathered[0].tolist() == [2.0, 2.0]
        assert distributed.get_backend() == backend


def rank(number: int, file: Path, found: Path) -> None:
    # Whoever waits for the interpreter's lock gets it late: what ends a group must not hold it.
    sys.setswitchinterval(100)
    with group("nccl", file, number, torch.cuda.device_count()):
        torch.cuda.set_device(number)
        model = DistributedDataParallel(
            nn.Linear(1, 1, bias=False).cuda(number), device_ids=[number]
        )
        with torch.no_grad():
            model.module.weight.fill_(1.0)
        model(torch.full((1, 1), float(number), device=number)).sum().backward()
        gradient = model.module.weight.grad
        (found / str(number)).write_text(f"{gradient.device} {gradient.item()}")


@pytest.mark.heavy
def test_a_process_for_each_device(tmp_path: Path) -> None:
    with virtual_gpus(2):
        torch.multiprocessing.spawn(rank, nprocs=2, args=(tmp_path / "group", tmp_path))
    assert [(tmp_path / name).read_text() for name in "01"] == ["cuda:0 0.5", "cuda:1 0.5"]


def test_a_started_process_makes_its_devices_before_all_else(tmp_path: Path) -> None:
    with virtual_gpus(3, memory=2**20):
        command = spawn.get_command_line(pipe_handle=7)
    first, _, rest = command[command.index("-c") + 1].partition("from multiprocessing.spawn")
    assert rest == " import spawn_main; spawn_main(pipe_handle=7)"
    told = subprocess.run(
        [sys.executable, "-c", f"{first}import torch; print(torch.cuda.device_count())"],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert told.stdout == "3\n"


def square(x: int) -> int:
    return x * x


def test_a_pool_beside_virtual_devices() -> None:
    with virtual_gpus(1):
        kept = torch.ones(1, device="cuda")
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(square, [1, 2, 3]) == [1, 4, 9]
        assert (kept + 1).item() == 2.0


def _say_and_sleep(sending: Connection) -> None:
    sending.send(True)
    time.sleep(60)


def test_a_fork_without_devices_ends_when_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    # As virtual devices that were left leave it: a fork has forgotten what it was to do at its end.
    before = signal.getsignal(signal.SIGTERM)
    ending = multiprocessing.util.Finalize(None, int, exitpriority=0)
    monkeypatch.setattr(processes, "_ending", [ending])
    monkeypatch.setattr(processes, "_ending_of", os.getpid())
    signal.signal(signal.SIGTERM, processes._stop)
    try:
        context = multiprocessing.get_context("fork")
        receiving, sending = context.Pipe(duplex=False)
        child = context.Process(target=_say_and_sleep, args=(sending,))
        child.start()
        # Python drops signals that reach a fork before it is itself.
        receiving.recv()
        child.terminate()
        child.join()
    finally:
        signal.signal(signal.SIGTERM, before)
        ending.cancel()
    assert child.exitcode == -signal.SIGTERM


def test_exchanges_are_noted_on_a_stream_of_their_own(tmp_path: Path) -> None:
    with virtual_gpus(1) as machine, group("nccl", tmp_path / "group"):
        x = torch.ones(4, device="cuda")
        work = distributed.all_reduce(x, async_op=True)
        assert not [mark for mark in machine.trace.of(Mark)[3:] if mark.action == "wait"]
        work.wait()
        distributed.broadcast(x, 0)
        first, second = machine.trace.of(Collective)
        assert (first.op, first.bytes, first.ranks, first.stream) == ("all_reduce", 16, (0,), -1)
        assert second.op == "broadcast"
        assert first.exchange != second.exchange
        waits = [mark.stream for mark in machine.trace.of(Mark) if mark.action == "wait"]
        # NCCL's stream for the current one, and that one for the result.
        assert waits == [-1, 0, -1, 0]


def test_buckets_of_gradients_are_no_copies_to_the_host(tmp_path: Path) -> None:
    with virtual_gpus(1) as machine, group("nccl", tmp_path / "group"):
        torch.cuda.set_device(0)
        model = DistributedDataParallel(nn.Linear(3, 2).cuda(0), device_ids=[0])
        machine.trace.clear()
        model(torch.ones(2, 3, device="cuda")).sum().backward()
        assert machine.trace.of(Transfer) == []
        assert [(event.op, event.bytes) for event in machine.trace.of(Collective)] == [
            ("all_reduce", 32)
        ]


def test_a_hook_of_the_programs_own_gets_gradients_on_the_device(tmp_path: Path) -> None:
    seen: list[str] = []

    def halve(state, bucket):  # torch looks at annotations, which are texts in this file
        seen.append(str(bucket.buffer().device))
        work = distributed.all_reduce(bucket.buffer() / 2, async_op=True)
        return work.get_future().then(lambda done: done.value()[0])

    with virtual_gpus(1), group("nccl", tmp_path / "group"):
        model = DistributedDataParallel(nn.Linear(3, 2).cuda(0), device_ids=[0])
        model.register_comm_hook(None, halve)
        model(torch.ones(2, 3, device="cuda")).sum().backward()
        assert model.module.weight.grad.tolist() == [[1.0] * 3] * 2
    assert seen == ["cuda:0"]


def test_one_summary_of_all_processes(tmp_path: Path) -> None:
    with virtual_gpus(2) as machine:
        machine.rank = 0
        torch.ones(8, device="cuda:0").mul_(2)
        first = account_of(machine)
        since = machine.trace.count
        machine.rank = 1
        torch.ones(8, device="cuda:1").sum().item()
        second = account_of(machine, since)
    write_account(tmp_path, second)
    (tmp_path / f"{os.getpid()}.json").rename(tmp_path / "1.json")
    write_account(tmp_path, first)
    assert read_accounts(tmp_path) == [first, second]
    rows = [line.split() for line in summary([second, first], ["cuda:0", "cuda:1"]).splitlines()]
    assert ["cuda:0", "rank", "0", "2", "8", "FLOP", "512", "B", "0", "B", "0×"] in rows
    assert ["cuda:1", "rank", "1", "2", "8", "FLOP", "1", "KiB", "0", "B", "1×"] in rows


@pytest.mark.heavy
@pytest.mark.parametrize("launcher", ["nproc", "torchrun"])
def test_ranks_are_told_of_once_and_together(launcher: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAIN)
    vgpu = ["-m", "grader.vgpu", "--gpus", "2", "--timeline", "v100"]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    command = {
        "nproc": [sys.executable, *vgpu, "--nproc", "2", str(script)],
        "torchrun": [*torchrun, "--standalone", *vgpu, str(script)],
    }[launcher]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["3.0"]
    assert done.stderr.count("Virtual GPUs, in the time of NVIDIA V100 SXM2") == 1
    rows = [line.split() for line in done.stderr.splitlines()]
    assert ["all_reduce", "0,", "1", "1", "16", "B", "16", "B"] in rows
    assert {tuple(row[:3]) for row in rows} >= {("cuda:0", "rank", "0"), ("cuda:1", "rank", "1")}


TRAIN = """
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
x = torch.full((4,), rank + 1.0, device=f"cuda:{rank}")
dist.all_reduce(x)
if rank == 0:
    print(x[0].item())
dist.destroy_process_group()
"""


def test_a_rank_that_fails_ends_the_others(tmp_path: Path) -> None:
    script = tmp_path / "fails.py"
    script.write_text(
        "import os, sys, time\nos.environ['RANK'] == '1' and sys.exit(3)\ntime.sleep(99)"
    )
    command = [sys.executable, "-m", "grader.vgpu", "--nproc", "2", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 3


POOL = """
import multiprocessing
import sys

import torch
from torch.distributed import is_nccl_available


def total(number):
    return torch.ones(number, device=f"cuda:{number % 2}").sum().item()


if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(*pool.map(total, range(6)), is_nccl_available())
"""


@pytest.mark.heavy
@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_a_pool_that_is_left_tells_what_it_did(start: str, tmp_path: Path) -> None:
    (tmp_path / "pool.py").write_text(POOL)
    command = [sys.executable, "-m", "grader.vgpu", "--gpus", "2", str(tmp_path / "pool.py"), start]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "0.0 1.0 2.0 3.0 4.0 5.0 True\n", done.stderr
    rows = [line.split() for line in done.stderr.splitlines()]
    kernels = {"cuda:0": 0, "cuda:1": 0}
    for row in rows:
        if row and row[0] in kernels and "PoolWorker-" in row[1]:
            kernels[row[0]] += int(row[2])
    # A sum and what it sums, three times on each.
    assert kernels == {"cuda:0": 6, "cuda:1": 6}


def work_and_exit(folder: Path) -> None:
    libc = ctypes.CDLL(None)
    libc["__cxa_atexit"](ctypes.cast(libc.abort, ctypes.c_void_p), None, None)
    threading.Thread(target=lambda: (time.sleep(0.1), (folder / "thread").touch())).start()
    atexit.register((folder / "registered").touch)
    sys.exit(7)


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's list of what is done at an exit")
def test_a_started_process_ends_before_native_code_can_abort_it(tmp_path: Path) -> None:
    # As gloo's threads do when they meet an interpreter that is being taken down.
    with virtual_gpus(2):
        process = multiprocessing.get_context("spawn").Process(
            target=work_and_exit, args=(tmp_path,)
        )
        process.start()
        process.join()
    assert process.exitcode == 7
    assert sorted(path.name for path in tmp_path.iterdir()) == ["registered", "thread"]
