"""Coming and going: what is changed in torch, and that all of it comes back."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest
import torch

from grader import vgpu
from grader.vgpu import Machine, install, installed, virtual_gpus


def attributes(places: list[tuple[Any, str]]) -> list[Any]:
    return [vars(owner).get(name, "absent") for owner, name in places]


def places_changed() -> list[tuple[Any, str]]:
    with virtual_gpus(1) as machine:
        return list(dict.fromkeys(machine.patches.changed))


def test_leaving_restores_everything() -> None:
    places = places_changed()
    before = attributes(places)
    with virtual_gpus(2):
        torch.set_default_device("cuda")
        torch.set_default_tensor_type(torch.cuda.DoubleTensor)
        assert all(one is not other for one, other in zip(before, attributes(places), strict=True))
    assert attributes(places) == before
    assert torch.zeros(1).device.type == "cpu"
    assert torch.get_default_dtype() is torch.float32
    assert not torch.cuda.is_available()
    assert torch.Generator is torch._C.Generator


def test_leaving_restores_everything_after_an_error() -> None:
    places = places_changed()
    before = attributes(places)
    with pytest.raises(ZeroDivisionError), virtual_gpus(1):
        raise ZeroDivisionError
    assert attributes(places) == before
    assert installed() is None


def test_a_part_that_cannot_be_installed_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    places = places_changed()
    before = attributes(places)

    def fail(_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(vgpu, "_PATCHES", (*vgpu._PATCHES, fail))
    with pytest.raises(ZeroDivisionError):
        install(1)
    assert attributes(places) == before
    assert installed() is None


_LATE = """
import sys
import torch
from grader.vgpu import virtual_gpus

found = list(sys.meta_path)
with virtual_gpus(1) as machine:
    assert "torch._dynamo" not in sys.modules
    ours = [vars(owner)[name] for owner, name in machine.patches.changed]
    net = torch.nn.Linear(2, 2).to("cuda")
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(3, 2, device="cuda")).sum().backward()
    optimizer.step()
    assert "torch._dynamo" in sys.modules
    # What it imports in its turn may be refused: those come last.
    changed = machine.patches.changed[: len(ours)]
    assert ours == [vars(owner)[name] for owner, name in changed]
    assert torch._dynamo.__spec__.loader.get_source("torch._dynamo")
assert sys.meta_path == found
"""


def test_what_optimisers_import_is_imported_late() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LATE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_one_machine_at_a_time() -> None:
    with virtual_gpus(1) as machine:
        assert installed() is machine
        with pytest.raises(RuntimeError, match="installed already"):
            install(1)
        assert installed() is machine


@pytest.mark.parametrize(("count", "memory", "words"), [
    (0, None, "at least one virtual device, not 0"),
    (1, 0, "at least 1, not 0"),
])  # fmt: skip
def test_a_machine_needs_a_device_and_memory(count: int, memory: int | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        install(count, memory)
    assert installed() is None


def test_a_tensor_that_outlives_its_machine_says_so() -> None:
    with virtual_gpus(1):
        left = torch.ones(2, device="cuda")
    with pytest.raises(RuntimeError, match="no virtual CUDA devices are installed any more"):
        left + 1


def test_any_number_of_devices() -> None:
    with virtual_gpus(9) as machine:
        assert torch.cuda.device_count() == 9
        last = torch.zeros(1, device="cuda:8")
        assert last.get_device() == 8
        assert machine.memory(8).live == 512


def test_other_threads_have_the_devices_too() -> None:
    found: list[torch.Tensor] = []
    with virtual_gpus(2):
        thread = threading.Thread(target=lambda: found.append(torch.ones(2).to("cuda:1") + 1))
        thread.start()
        thread.join()
        assert found[0].device == torch.device("cuda:1")
        assert found[0].tolist() == [2.0, 2.0]


def test_the_machine_is_a_context_itself() -> None:
    with install(1) as machine:
        assert isinstance(machine, Machine)
        assert torch.cuda.is_available()
    assert installed() is None
