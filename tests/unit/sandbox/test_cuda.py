from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.sandbox.host.fork_server import ForkServerSandbox
from grader.sandbox.host.forked import environment
from grader.sandbox.host.open import _advice, _shown, clean_environment
from grader.sandbox.host.processes import Gpu, ProcessSpec, WallRefusedError
from grader.sandbox.walls import cuda, privileges, seccomp
from grader.sandbox.walls.plan import (
    Canary,
    Mechanism,
    ProcessPlan,
    WallPlan,
)
from grader.sandbox.walls.self_test import breaches
from grader.wire.messages import from_bytes, to_bytes

PROCESS = ProcessPlan(1, memory=2**30, output=1, processes=8, scratch=1, cpu_seconds=1)
CANARY = Canary("/var/tmp/x", "name", {"net": "net:[1]"})


def test_a_process_may_open_its_own_device_and_what_all_of_them_share() -> None:
    assert cuda.nodes(()) == ()
    assert set(cuda.nodes((3,))) == {
        "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia3",
    }  # fmt: skip
    # What drives a display is not needed for computing.
    assert not any("modeset" in path or "/dri" in path for path in cuda.nodes((0, 1)))


def test_a_gpu_in_parts_is_given_with_their_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part, number in (("gi1/access", 30), ("gi1/ci0/access", 31), ("gi2/access", 39)):
        access = tmp_path / "gpu3" / "mig" / part
        access.parent.mkdir(parents=True, exist_ok=True)
        access.write_text(f"DeviceFileMinor: {number}\nDeviceFileMode: 292\n")
    assert set(cuda.part_nodes(3, tmp_path)) == {
        f"/dev/nvidia-caps/nvidia-cap{number}" for number in (30, 31, 39)
    }
    assert cuda.part_nodes(0, tmp_path) == ()
    monkeypatch.setattr(cuda, "part_nodes", partial(cuda.part_nodes, capabilities=tmp_path))
    assert "/dev/nvidia-caps/nvidia-cap31" in cuda.nodes((0, 3))
    assert not any("caps" in path for path in cuda.nodes((0,)))


def test_folders_of_the_drivers_library_are_found_by_the_library(tmp_path: Path) -> None:
    store, link, empty = (tmp_path / name for name in ("store", "link", "empty"))
    for folder in (store, link, empty):
        folder.mkdir()
    (store / "libcuda.so.1").touch()
    (link / "libcuda.so.1").symlink_to(store / "libcuda.so.1")
    found = cuda.library_folders(f"{empty}:{link}:relative:", usual=())
    assert found == (str(link), str(store))
    assert cuda.library_folders("", usual=(str(empty),)) == ()


def test_a_library_that_is_linked_through_alternatives_is_found_where_it_is(tmp_path: Path) -> None:
    """Debian's: the loader knows the first link, and no student process has the second."""
    known, alternatives, current = (tmp_path / name for name in ("lib", "alternatives", "current"))
    for folder in (known, alternatives, current):
        folder.mkdir()
    (current / "libcuda.so.1").touch()
    (alternatives / "glx--libcuda.so.1").symlink_to(current / "libcuda.so.1")
    (known / "libcuda.so.1").symlink_to(alternatives / "glx--libcuda.so.1")
    found = cuda.library_folders("", (), (str(known),), alternatives)
    assert found == (str(current),)
    # The loader finds a plain link to a neighbour by itself.
    (known / "libcuda.so.1").unlink()
    (known / "libcuda.so.550.54").touch()
    (known / "libcuda.so.1").symlink_to("libcuda.so.550.54")
    assert cuda.library_folders("", (), (str(known),), alternatives) == ()


def test_a_runtimes_mount_over_the_drivers_folder_is_seen_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mountinfo"
    line = "{} 488 0:97 / {} rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,mode=555\n"
    table.write_text(line.format(1, "/proc") + line.format(2, "/proc/driver/nvidia-caps"))
    assert not cuda.covered(table)
    for place in ("/proc/driver/nvidia", "/proc/driver/nvidia/gpus/0000:3b:00.0"):
        table.write_text(line.format(1, "/proc") + line.format(2, place))
        assert cuda.covered(table), place
    assert not cuda.covered(tmp_path / "none")
    refused = WallRefusedError("mount: Operation not permitted", "mount none /x/proc")
    for there, words in ((True, "no option of a container"), (False, "systempaths=unconfined")):
        monkeypatch.setattr(cuda, "covered", lambda there=there: there)
        assert words in _advice(Mechanism.USERNS, refused)


def test_parts_of_one_gpu_have_one_node_and_are_named() -> None:
    plan = WallPlan(Mechanism.NS, CANARY, landlock=5)
    shown = _shown(plan, (Gpu("MIG-a", 2, "GPU-x"), Gpu("MIG-b", 2, "GPU-x")))
    assert (shown.gpus, shown.parts) == ((2,), "MIG-a,MIG-b")
    # Unnamed, CUDA would take the first part of the card, which may be somebody else's.
    server: Any = SimpleNamespace(plan=shown, _slots=None, _numbers=count(1), gpu_memory=0)
    visible = [
        ForkServerSandbox._process_plan(server, ProcessSpec(cuda=1, gpus=gpus)).visible
        for gpus in ((), (Gpu("MIG-b", 2, "GPU-x"),))
    ]
    assert visible == ["MIG-a,MIG-b", "MIG-b"]
    assert _shown(plan, (Gpu("GPU-y", 3),)).parts == ""


def test_memory_files_are_for_processes_with_a_gpu_only() -> None:
    assert seccomp.build(None, gpu=True) != seccomp.build(None)
    assert len(seccomp.build(None)) > len(seccomp.build(None, gpu=True))


def test_the_fork_server_never_asks_the_driver() -> None:
    plain, with_driver = environment(), environment(("/a", "/b"))
    assert plain["CUDA_VISIBLE_DEVICES"] == ""
    assert "LD_LIBRARY_PATH" not in plain
    assert with_driver["LD_LIBRARY_PATH"] == "/a:/b"


def test_all_limits_but_address_space_stay() -> None:
    usual, with_gpu = (
        privileges.planned_limits(plan, 0) for plan in (PROCESS, replace(PROCESS, gpus=(0,)))
    )
    assert set(usual) - set(with_gpu) == {"AS"}
    # The driver's own threads are not the submission's.
    assert with_gpu.pop("NPROC") == usual.pop("NPROC") + cuda.THREADS
    assert {name: usual[name] for name in with_gpu} == with_gpu


def test_what_cannot_be_limited_is_not_asked_of_the_proof() -> None:
    plan = WallPlan(Mechanism.NS, CANARY, gpus=(0,))
    missing = breaches(plan, PROCESS, {})
    assert any("exceed_memory" in line for line in missing)
    asked = breaches(plan, replace(PROCESS, gpus=(0,)), {})
    left = {line.split()[0] for line in missing} - {line.split()[0] for line in asked}
    # The driver locks files of its own, so that a library's file cannot be kept from it.
    assert left == {"exceed_memory", "uncounted_memory", "lock_library"}


def test_plans_with_gpus_survive_the_way_to_the_fork_server() -> None:
    plan = WallPlan(Mechanism.NS, CANARY, gpus=(0, 2), libraries=("/opt/driver",))
    process = replace(PROCESS, gpus=(2,), visible="GPU-a")
    assert from_bytes(to_bytes(plan), WallPlan) == plan
    assert from_bytes(to_bytes(process), ProcessPlan) == process


def test_a_process_of_its_own_sees_its_gpu_only_and_keeps_full_precision() -> None:
    made = clean_environment(ProcessSpec(cuda=1, gpus=(Gpu("GPU-a", 0), Gpu("GPU-b", 1))))
    assert made["CUDA_VISIBLE_DEVICES"] == "GPU-a,GPU-b"
    assert made["NVIDIA_TF32_OVERRIDE"] == "0"
    assert "CUDA_VISIBLE_DEVICES" not in clean_environment(ProcessSpec(cuda=1))
