"""What honest code does keeps working behind every wall."""

from __future__ import annotations

from dataclasses import replace

import pytest
from driver import SPEC, running

from grader.sandbox.host.processes import ProcessSpec, Sandbox

TRAINING = """
import torch

def train():
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    data = torch.randn(64, 4)
    target = data.sum(1, keepdim=True)
    losses = []
    for _ in range(30):
        optimiser.zero_grad()
        loss = ((model(data) - target) ** 2).mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses[-1] < losses[0]
"""


def test_autograd_and_an_optimiser(sandbox: Sandbox) -> None:
    with running(sandbox, TRAINING) as process:
        assert process.value("train") is True


SAVING = """
import tempfile
import torch

def save():
    torch.save({"w": torch.arange(5)}, "weights.pt")
    with tempfile.NamedTemporaryFile() as file:
        torch.save(torch.ones(3), file.name)
    return torch.load("weights.pt")["w"].sum().item()
"""


def test_saving_to_the_scratch_folder(sandbox: Sandbox) -> None:
    with running(sandbox, SAVING) as process:
        assert process.value("save") == 10


HDF5 = """
def write_and_read():
    import h5py
    with h5py.File("some.h5", "w") as file:
        file["x"] = [1, 2, 3]
    with h5py.File("some.h5", "r") as file:
        return int(file["x"][:].sum())
"""


def test_hdf5_goes_without_its_file_locks(sandbox: Sandbox) -> None:
    pytest.importorskip("h5py")
    with running(sandbox, HDF5) as process:
        assert process.value("write_and_read") == 6


PRINTING = """
import os, sys

def flood():
    for _ in range(1000):
        print("x" * 999)
    sys.stdout.flush()
    return "done"

def flood_below_python():
    written = 0
    try:
        for _ in range(10_000):
            written += os.write(1, b"y" * 1000)
    except OSError:
        return written
    return written
"""


def test_a_million_characters_printed(sandbox: Sandbox) -> None:
    with running(sandbox, PRINTING) as process:
        assert process.value("flood") == "done"
        process.process.end()
        printed = process.process.output()
    assert SPEC.output // 2 < len(printed) <= SPEC.output
    assert printed.startswith(b"xxx")


def test_output_below_python_stops_at_the_cap(sandbox: Sandbox) -> None:
    with running(sandbox, PRINTING) as process:
        written = process.value("flood_below_python")
    assert isinstance(written, int)
    assert written <= SPEC.output


THREADS = """
import threading
import torch

def threaded():
    torch.set_num_threads(4)
    a = torch.randn(16, 128, 128)
    found = []
    threads = [threading.Thread(target=lambda: found.append(torch.bmm(a, a).shape[0]))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    x = torch.randn(8, 3, 32, 32, requires_grad=True)
    torch.nn.functional.conv2d(x, torch.randn(4, 3, 3, 3)).sum().backward()
    return found, x.grad is not None
"""


def test_threads_of_python_and_of_torch(sandbox: Sandbox) -> None:
    with running(sandbox, THREADS) as process:
        assert process.value("threaded") == ([16] * 4, True)


LATE_IMPORTS = """
def late():
    import decimal, fractions, sqlite3, xml.dom.minidom, unittest.mock, numpy.polynomial
    import torch.nn.utils.prune
    return str(fractions.Fraction(1, 3))
"""


def test_late_imports(sandbox: Sandbox) -> None:
    with running(sandbox, LATE_IMPORTS) as process:
        assert process.value("late") == "1/3"


LOADER = """
import torch
from torch.utils.data import DataLoader, TensorDataset

def load():
    data = TensorDataset(torch.arange(32.0).reshape(16, 2))
    total = 0.0
    for (batch,) in DataLoader(data, batch_size=4, num_workers=2):
        total += batch.sum().item()
    return total
"""


def test_a_loader_with_two_workers(full: Sandbox) -> None:
    spec = replace(SPEC, processes=2)
    assert full.grants(spec)
    with running(full, LOADER, spec) as process:
        assert process.value("load") == 496.0


GLOO = """
import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def worker(rank, queue):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    dist.init_process_group("gloo", rank=rank, world_size=2)
    value = torch.tensor([rank + 1.0])
    dist.all_reduce(value)
    queue.put(value.item())
    dist.destroy_process_group()

def reduce():
    context = mp.get_context("fork")
    queue = context.SimpleQueue()
    workers = [context.Process(target=worker, args=(rank, queue)) for rank in range(2)]
    for each in workers:
        each.start()
    found = [queue.get() for _ in workers]
    for each in workers:
        each.join()
    return found
"""


def test_gloo_over_the_processes_own_loopback(full: Sandbox) -> None:
    spec = replace(SPEC, memory=2 * SPEC.memory, processes=2, loopback=True)
    assert full.grants(spec)
    with running(full, GLOO, spec) as process:
        assert process.value("reduce") == [3.0, 3.0]


def test_a_tier_that_cannot_grant_says_so(sandbox: Sandbox) -> None:
    granted = sandbox.grants(ProcessSpec(processes=2))
    assert granted is (sandbox.isolation.tier != "restricted")


PLOTTING = """
def plot():
    try:
        import matplotlib
    except ImportError:
        return "not installed"
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.plot([1, 2, 3])
    plt.savefig("plot.png")
    return "saved"
"""


def test_matplotlib(sandbox: Sandbox) -> None:
    with running(sandbox, PLOTTING) as process:
        if process.value("plot") == "not installed":
            pytest.skip("matplotlib is not installed")
        assert process.value("plot") == "saved"
