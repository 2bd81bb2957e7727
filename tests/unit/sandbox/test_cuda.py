from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from grader.sandbox.host.forked import environment
from grader.sandbox.host.guests import Gpu, GuestNeeds
from grader.sandbox.host.open import clean_environment
from grader.sandbox.walls import cuda, privileges, seccomp
from grader.sandbox.walls.plan import (
    Canary,
    GuestPlan,
    Mechanism,
    WallPlan,
)
from grader.sandbox.walls.proof import breaches
from grader.wire.messages import from_bytes, to_bytes

GUEST = GuestPlan(1, memory=2**30, output=1, processes=8, scratch=1, cpu_seconds=1)
CANARY = Canary("/var/tmp/x", "name", {"net": "net:[1]"})


def test_a_guest_may_open_its_own_device_and_what_all_of_them_share() -> None:
    assert cuda.nodes(()) == ()
    assert set(cuda.nodes((3,))) == {
        "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia3",
    }  # fmt: skip
    # What drives a display is not needed for computing.
    assert not any("modeset" in path or "/dri" in path for path in cuda.nodes((0, 1)))


def test_a_gpu_in_parts_is_given_with_their_nodes(tmp_path: Path) -> None:
    for part, number in (("gi1/access", 30), ("gi1/ci0/access", 31), ("gi2/access", 39)):
        access = tmp_path / "gpu3" / "mig" / part
        access.parent.mkdir(parents=True, exist_ok=True)
        access.write_text(f"DeviceFileMinor: {number}\nDeviceFileMode: 292\n")
    assert set(cuda.part_nodes(3, tmp_path)) == {
        f"/dev/nvidia-caps/nvidia-cap{number}" for number in (30, 31, 39)
    }
    assert cuda.part_nodes(0, tmp_path) == ()


def test_folders_of_the_drivers_library_are_found_by_the_library(tmp_path: Path) -> None:
    store, link, empty = (tmp_path / name for name in ("store", "link", "empty"))
    for folder in (store, link, empty):
        folder.mkdir()
    (store / "libcuda.so.1").touch()
    (link / "libcuda.so.1").symlink_to(store / "libcuda.so.1")
    found = cuda.library_folders(f"{empty}:{link}:relative:", usual=())
    assert found == (str(link), str(store))
    assert cuda.library_folders("", usual=(str(empty),)) == ()


def test_memory_files_are_for_guests_with_a_gpu_only() -> None:
    assert seccomp.build(None, gpu=True) != seccomp.build(None)
    assert len(seccomp.build(None)) > len(seccomp.build(None, gpu=True))


def test_the_fork_server_never_asks_the_driver() -> None:
    plain, with_driver = environment(), environment(("/a", "/b"))
    assert plain["CUDA_VISIBLE_DEVICES"] == ""
    assert "LD_LIBRARY_PATH" not in plain
    assert with_driver["LD_LIBRARY_PATH"] == "/a:/b"


def test_all_limits_but_address_space_stay() -> None:
    usual, with_gpu = (
        privileges.planned_limits(plan, 0) for plan in (GUEST, replace(GUEST, gpus=(0,)))
    )
    assert set(usual) - set(with_gpu) == {"AS"}
    # The driver's own threads are not the submission's.
    assert with_gpu.pop("NPROC") == usual.pop("NPROC") + cuda.THREADS
    assert {name: usual[name] for name in with_gpu} == with_gpu


def test_what_cannot_be_limited_is_not_asked_of_the_proof() -> None:
    plan = WallPlan(Mechanism.NS, CANARY, gpus=(0,))
    missing = breaches(plan, GUEST, {})
    assert any("exceed_memory" in line for line in missing)
    asked = breaches(plan, replace(GUEST, gpus=(0,)), {})
    left = {line.split()[0] for line in missing} - {line.split()[0] for line in asked}
    assert left == {"exceed_memory", "uncounted_memory"}


def test_plans_with_gpus_survive_the_way_to_the_fork_server() -> None:
    plan = WallPlan(Mechanism.NS, CANARY, gpus=(0, 2), libraries=("/opt/driver",))
    guest = replace(GUEST, gpus=(2,), visible="GPU-a")
    assert from_bytes(to_bytes(plan), WallPlan) == plan
    assert from_bytes(to_bytes(guest), GuestPlan) == guest


def test_a_process_of_its_own_sees_its_gpu_only_and_keeps_full_precision() -> None:
    made = clean_environment(GuestNeeds(cuda=1, gpus=(Gpu("GPU-a", 0), Gpu("GPU-b", 1))))
    assert made["CUDA_VISIBLE_DEVICES"] == "GPU-a,GPU-b"
    assert made["NVIDIA_TF32_OVERRIDE"] == "0"
    assert "CUDA_VISIBLE_DEVICES" not in clean_environment(GuestNeeds(cuda=1))
