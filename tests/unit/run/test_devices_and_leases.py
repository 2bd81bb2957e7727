"""Leases, quarantine, the driver's word on a device, and the real worker without a GPU."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from device_lab import Bench, holds
from fake_device import FakeDevice, honest

from grader.assignment.types import Limits
from grader.errors import InfrastructureError
from grader.observation import Claims, Observation, Outcome
from grader.run import gpu_driver, gpu_state
from grader.run.gpu_driver import Asked, list_gpus, parts_of, why_none
from grader.run.gpu_state import FIELDS, REASONS, Health, Leases, ask
from grader.run.gpu_state import read_state as read_fields
from grader.run.gpu_worker import PROBE_ANSWER, PROGRAM, GpuProcess, SickDeviceError, suspicious
from grader.run.gpus import DeviceTakenError, NoDeviceError
from grader.sandbox.host.processes import Gpu, Sandbox
from grader.speed_statistics.device import TRANSFER, WIRE
from grader.wire.messages import Call, Fault
from grader.wire.values import DType, Tensor


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Any]:
    """Another process has the device; whoever sets the event takes it away from there."""
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    other = context.Process(target=holds, args=(tmp_path, ready, done))
    other.start()
    assert ready.wait(60)
    yield done
    done.set()
    other.join(30)


def test_a_device_that_another_process_has_is_not_leased_until_it_lets_go(
    tmp_path: Path, held: Any
) -> None:
    leases = Leases(tmp_path)
    with leases.hold("GPU-0", 0.0) as got:
        assert not got
    with leases.hold("GPU-1", 0.0) as got:
        assert got
    threading.Timer(0.2, held.set).start()
    with leases.hold("GPU-0", 30.0) as got:
        assert got


def test_a_rack_takes_the_device_that_is_free_and_waits_no_longer_than_it_may(
    tmp_path: Path, held: Any
) -> None:
    bench = Bench(tmp_path, FakeDevice("GPU-0"), FakeDevice("GPU-1"))
    assert bench.rack(honest()).run(lambda worker: worker.name) == "GPU-1"
    alone = Bench(tmp_path, FakeDevice("GPU-0"))
    with pytest.raises(DeviceTakenError):
        alone.rack(honest(), patience=0.3).run(lambda worker: worker.name)


def test_two_jobs_never_share_a_device(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    used, alone = threading.Lock(), []

    def job(_: Any) -> None:
        alone.append(used.acquire(blocking=False))
        time.sleep(0.05)
        used.release()

    # The fake device itself refuses a second user as well.
    threads = [
        threading.Thread(target=bench.rack(honest(), patience=600).run, args=(job,))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert alone == [True] * 4


def test_a_device_is_out_for_as_long_as_its_note_is_there(tmp_path: Path) -> None:
    leases = Leases(tmp_path)
    assert leases.why_out("GPU-0") == ""
    leases.take_out("GPU-0", "fell off the bus")
    assert Leases(tmp_path).why_out("GPU-0") == "fell off the bus"
    assert leases.why_out("GPU-1") == ""
    leases.note("GPU-0").write_text("not JSON")
    assert "is there" in leases.why_out("GPU-0")
    leases.note("GPU-0").unlink()
    assert leases.why_out("GPU-0") == ""


def test_a_device_is_back_when_the_machine_has_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not every system empties its folder for temporary files then."""
    leases = Leases(tmp_path / "leases")
    boot = tmp_path / "boot_id"
    monkeypatch.setattr(gpu_state, "_BOOT", boot)
    for before, after, out in (("one", "one", True), ("one", "two", False), ("", "", True)):
        boot.write_text(before + "\n")
        leases.take_out("GPU-0", "fell off the bus")
        boot.write_text(after + "\n")
        assert bool(leases.why_out("GPU-0")) is out
    leases.note("GPU-0").write_text('{"reason": "written by hand"}')
    assert leases.why_out("GPU-0") == "written by hand"


def test_no_devices_at_all_is_said(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.devices.clear()
    with pytest.raises(NoDeviceError, match="there is none"):
        bench.rack(honest()).run(lambda worker: worker.name)


def test_a_folder_that_cannot_be_made_is_the_machines_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InfrastructureError, match="cannot be opened"),
        Leases(tmp_path / "file" / "x").hold("GPU-0", 0),
    ):
        pass


# The driver's word


SOUND = ("Tesla T4", "535.1", "41", "585", "1590", "3", "0", "3", "16", "Default", "Disabled")


def line(reasons: str = "0x0000000000000000", **changes: str) -> str:
    usual = dict(zip(FIELDS, SOUND, strict=True))
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return ", ".join((reasons, *(usual | named).values())) + "\n"


def read_state(text: str) -> Health:
    return read_fields(text, [REASONS, *FIELDS])


def test_a_sound_device() -> None:
    state = read_state(line())
    assert (state.problem, state.throttled) == ("", "")
    assert state.facts["name"] == "Tesla T4"
    assert state.link == pytest.approx(15.76e9)


@pytest.mark.parametrize(
    ("reasons", "told"),
    [
        ("0x0000000000000001", ""),  # idle
        ("0x0000000000000004", ""),  # at its power cap, as any product of matrices brings it
        ("0x0000000000000020", "temperature (driver)"),
        ("0x0000000000000048", "hardware slowdown, temperature (hardware)"),
        ("[N/A]", ""),
    ],
)
def test_lowered_clocks(reasons: str, told: str) -> None:
    assert read_state(line(reasons)).throttled == told


ECC = "ecc__errors__uncorrected__volatile__total"


def test_old_memory_errors_are_no_problem_and_new_ones_are(sandbox: Sandbox) -> None:
    counts = iter(("3", "3", "4", "4", "1"))
    worker = GpuProcess(
        sandbox, Gpu("GPU-a", 0), Limits(), lambda _: read_state(line(**{ECC: next(counts)}))
    )
    assert [worker.state().problem for _ in range(2)] == ["", ""]
    for _ in range(2):
        assert worker.state().problem == "1 uncorrectable memory errors while it was used"
    assert worker.state().problem == "", "the adapter was started again, and with it the count"


@pytest.mark.parametrize(
    "told", ["[Insufficient Permissions]", "[N/A]", "[Unknown Error]", "[Not Supported]"]
)
def test_what_the_tool_may_not_tell_takes_no_card_out(told: str) -> None:
    """A card in MIG mode, asked by an ordinary user, answers so."""
    state = read_state(line(**{ECC: told, "memory__used": told, "compute_mode": told}))
    assert (state.problem, state.errors) == ("", 0)
    assert "memory.used" not in state.facts


@pytest.mark.parametrize("mode", ["Exclusive_Process", "Exclusive_Thread", "Prohibited"])
def test_a_mode_for_one_process_is_in_the_way(mode: str) -> None:
    problem = read_state(line(compute_mode=mode)).problem
    assert f"compute mode is {mode}" in problem
    assert "nvidia-smi -c DEFAULT" in problem


def test_a_display_keeps_some_memory() -> None:
    assert read_state(line()).reserve == 0
    assert read_state(line(display_active="Enabled")).reserve == 2**28


def smi(folder: Path, script: str, patch: pytest.MonkeyPatch) -> None:
    """Put a tool of that name on the path."""
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_slow_tool_is_asked_once_and_takes_no_card_out(
    tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    smi(tmp_path, f"echo >> {tmp_path}/asked; exec sleep 60", monkeypatch)
    monkeypatch.setattr(gpu_driver, "_SECONDS", 0.2)
    worker = GpuProcess(sandbox, Gpu("GPU-a", 0), Limits())
    for _ in range(3):
        state = worker.state()
        assert state.problem == ""
        assert state.facts["driver_tool"] == "nvidia-smi did not answer within 0.2 s"
    assert (tmp_path / "asked").read_text() == "\n"


def test_the_tool_may_take_as_long_as_the_adapters_of_eight_gpus() -> None:
    assert gpu_driver._SECONDS == 60


def test_an_older_driver_is_asked_by_the_older_name_and_a_failure_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = line("").strip(" ,\n")
    script = f"""case "$2" in *clocks_event_reasons*)
echo 'Field "clocks_event_reasons.active" is not a valid field to query.'; exit 2;;
*,clocks_throttle_reasons.active) echo '{values}, 0x0000000000000020';; esac"""
    smi(tmp_path, script, monkeypatch)
    state = ask("GPU-a")
    assert (state.throttled, state.facts["name"]) == ("temperature (driver)", "Tesla T4")
    smi(tmp_path, "echo 'Unable to determine the device handle'; exit 15", monkeypatch)
    assert ask("GPU-a").problem == "nvidia-smi failed: Unable to determine the device handle"


def test_a_field_that_the_tool_does_not_know_takes_no_card_out() -> None:
    """Drivers gain fields and lose them; the tool then prints the first of these and no more."""
    lacks = {"display_active", "pcie.link.gen.max", REASONS, "clocks_throttle_reasons.active"}
    known = dict(zip(FIELDS, SOUND, strict=True))

    def tool(*arguments: str) -> Asked:
        names = arguments[1].partition("=")[2].split(",")
        for name in names:
            if name in lacks:
                return Asked(failed=f'Field "{name}" is not a valid field to query.')
        return Asked(", ".join(known[name] for name in names))

    state = ask("GPU-a", tool)
    assert (state.problem, state.throttled, state.link, state.reserve) == ("", "", None, 0)
    assert state.facts["name"] == "Tesla T4"
    assert state.facts["compute_mode"] == "Default"
    again = ask("GPU-a", lambda *_: Asked(failed='Field "x" is not a valid field to query.'))
    assert "nvidia-smi failed" in again.problem


def test_a_part_of_a_gpu_is_asked_after_by_its_board(sandbox: Sandbox) -> None:
    asked: list[str] = []
    part = Gpu("MIG-c7", 0, "GPU-44")
    GpuProcess(sandbox, part, Limits(), lambda uuid: asked.append(uuid) or Health()).state()
    assert asked == ["GPU-44"]


def test_what_a_device_does_not_tell_is_left_out() -> None:
    nothing = dict.fromkeys(
        ("ecc__errors__uncorrected__volatile__total", "pcie__link__gen__max"), "[N/A]"
    )
    state = read_state(line(**nothing))
    assert (state.problem, state.link) == ("", None)
    assert "pcie.link.gen.max" not in state.facts


def test_devices_are_read_from_the_driver(tmp_path: Path) -> None:
    for number, place in enumerate(("0000:0b:00.0", "0000:01:00.0")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "information").write_text(
            f"Model: \t\t NVIDIA L4\nGPU UUID: \t GPU-{place}\nDevice Minor: \t {1 - number}\n"
        )
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "information").write_text("Model: ???\n")
    assert list_gpus(tmp_path) == (Gpu("GPU-0000:01:00.0", 0), Gpu("GPU-0000:0b:00.0", 1))


INFORMATION = """\
Model: \t\t Tesla K80
IRQ:   \t\t 39
GPU UUID: \t {uuid}
Video BIOS: \t ??.??.??.??.??
Bus Type: \t PCIe
Bus Location: \t {place}
Device Minor: \t {minor}
GPU Excluded:\t {excluded}
"""
NAMELESS = "GPU-????????-????-????-????-????????????"


def driver_files(root: Path, *uuids: str, excluded: str = "No") -> Path:
    """The driver's folder in a /proc of its own, with a card for each name."""
    folder = root / "proc/driver/nvidia/gpus"
    for minor, uuid in enumerate(uuids):
        place = f"0000:{0x3A + minor:02x}:00.0"
        (folder / place).mkdir(parents=True)
        text = INFORMATION.format(uuid=uuid, place=place, minor=minor, excluded=excluded)
        (folder / place / "information").write_text(text)
    return folder


def test_cards_whose_adapter_has_not_started_have_names_of_their_own(tmp_path: Path) -> None:
    folder = driver_files(tmp_path, NAMELESS, NAMELESS)
    lines = "00000000:3A:00.0, GPU-one\n00000000:3B:00.0, GPU-two\n"
    found = list_gpus(folder, lambda *_: Asked(lines))
    assert found == (Gpu("GPU-one", 0), Gpu("GPU-two", 1))
    # Without a name a card can be given to nobody; two of one name would be one lease.
    assert list_gpus(folder, lambda *_: Asked(silent="nvidia-smi was not found")) == ()


def test_a_card_that_the_driver_was_told_to_leave_is_left(tmp_path: Path) -> None:
    assert list_gpus(driver_files(tmp_path, "GPU-a", excluded="Yes")) == ()


LISTING = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-4404041a-04cf-1ccf-9e70-f139a9b1e23c)
  MIG 2g.10gb     Device  0: (UUID: MIG-c7384736-a75d-5afc-978f-d2f1294409fd)
  MIG 1g.5gb      Device  1: (UUID: MIG-a28ad590-3fda-56dd-84fc-0a0b96edc58d)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-3d8a5c9c-3b8f-e6ff-2d3c-0a1d6a4a5a5a)
"""


def test_a_divided_gpu_stands_for_its_parts() -> None:
    boards = (
        "GPU-4404041a-04cf-1ccf-9e70-f139a9b1e23c",
        "GPU-3d8a5c9c-3b8f-e6ff-2d3c-0a1d6a4a5a5a",
    )
    whole = tuple(Gpu(uuid, minor) for minor, uuid in enumerate(boards))
    assert parts_of(whole, LISTING) == (
        Gpu("MIG-c7384736-a75d-5afc-978f-d2f1294409fd", 0, boards[0]),
        Gpu("MIG-a28ad590-3fda-56dd-84fc-0a0b96edc58d", 0, boards[0]),
        whole[1],
    )
    assert parts_of(whole, "") == whole


MOUNTED = "512 488 0:97 / /proc/driver/nvidia rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw\n"


def silent(*_: str) -> Asked:
    return Asked(silent="nvidia-smi was not found")


def test_why_there_is_no_gpu_is_told(tmp_path: Path) -> None:
    bare, wsl, hidden, asleep, listed = (tmp_path / name for name in "abcde")
    for root in (bare, wsl, hidden, asleep, listed):
        (root / "dev").mkdir(parents=True)
    assert why_none(bare, silent) == "no NVIDIA driver offers one"
    assert "nvidia-smi lists a GPU, but" in why_none(bare, lambda *_: Asked(LISTING))
    (wsl / "dev/dxg").touch()
    assert "WSL 2" in why_none(wsl, silent)
    (hidden / "proc/self").mkdir(parents=True)
    (hidden / "proc/self/mountinfo").write_text(MOUNTED)
    assert "mounted over /proc/driver/nvidia" in why_none(hidden, silent)
    driver_files(asleep, NAMELESS)
    assert "adapter has not started" in why_none(asleep, silent)
    driver_files(listed, "GPU-a")
    assert "/dev/nvidia0 is not there" in why_none(listed, silent)
    (listed / "dev/nvidia0").touch()
    assert "CUDA_VISIBLE_DEVICES" in why_none(listed, silent)


# The real worker, as far as it goes without a GPU


@pytest.fixture
def worker(sandbox: Sandbox) -> GpuProcess:
    return GpuProcess(sandbox, Gpu("GPU-a", 0), Limits(memory_mb=512), lambda _: Health())


@pytest.mark.skipif(bool(list_gpus()), reason="this machine has a GPU")
def test_a_driver_that_lists_a_device_proves_nothing(worker: GpuProcess) -> None:
    assert worker.state().problem == ""
    assert "could not be computed" in worker.health().problem
    with pytest.raises(SickDeviceError, match="could not be overwritten"):
        worker.close()


def test_parties_run_in_processes_of_their_own_and_wire_carries_bytes_only(
    worker: GpuProcess,
) -> None:
    bad = PROGRAM.__class__({"x.py": b"raise SystemExit(3)"}, "x.py")
    failed = worker.start({WIRE: PROGRAM, TRANSFER: PROGRAM, "student": bad})
    assert set(failed) <= {"student"}
    sent = Tensor("float32", (2,), bytes(8))
    outputs: Any = [[[3, 4], DType("float64")]]
    seen = worker.call(WIRE, Call(WIRE, (outputs, sent)), 30)
    assert seen.outcome is Outcome.COMPLETED
    (carried,) = seen.claims.value  # type: ignore[misc]
    assert (carried.dtype, carried.shape) == ("float64", (3, 4))
    assert seen.facts.wall_seconds > 0
    worker._end()


def test_the_product_comes_first_and_the_drivers_problem_is_the_reason(sandbox: Sandbox) -> None:
    """The product starts the adapter, which a call of the tool would else have to do."""
    gone = Health("nvidia-smi failed: no devices were found")
    order: list[str] = []
    worker = GpuProcess(sandbox, Gpu("GPU-a", 0), Limits(), lambda _: order.append("tool") or gone)
    worker._probe = lambda: (order.append("product") or "it computes 1 for 512", 0.0)  # type: ignore[method-assign,func-returns-value,return-value]
    assert worker.health() == gone
    assert order == ["product", "tool"]


# What the host sends to a device, on a device that is this machine's memory


class OutOfMemoryError(RuntimeError):
    pass


def program(free: int = 2**26) -> tuple[dict[str, Any], list[int]]:
    """The functions of the program, with a card of so many bytes."""
    made: list[int] = []

    def zeros(*shape: Any, device: str = "", **more: Any) -> torch.Tensor:
        tensor = torch.zeros(*shape, **more)
        if device and tensor.numel() * tensor.element_size() + sum(made) > free:
            raise OutOfMemoryError
        made.append(tensor.numel() * tensor.element_size() if device else 0)
        return tensor

    def ones(*shape: int, device: str) -> torch.Tensor:
        assert device == "cuda"
        return torch.ones(*shape)

    cuda = SimpleNamespace(
        mem_get_info=lambda: (free - sum(made), free), synchronize=lambda: None,
        OutOfMemoryError=OutOfMemoryError,
    )  # fmt: skip
    stand_in = SimpleNamespace(**{**vars(torch), "zeros": zeros, "ones": ones, "cuda": cuda})
    names: dict[str, Any] = {}
    source = bytes(PROGRAM.files["device.py"]).decode().replace("import torch", "")
    exec(compile(source, "device.py", "exec"), names)
    names["torch"] = stand_in
    return names, made


def test_a_probe_is_a_product_whose_result_is_known() -> None:
    names, _ = program()
    answer = names["probe"](512)
    assert answer["least"] == answer["greatest"] == PROBE_ANSWER


def test_scrubbing_fills_what_is_free_down_to_the_last_pieces() -> None:
    names, made = program(free=2**26 + 2**21)
    done = names["scrub"](0)
    assert done == sum(made)
    assert done > 2**26


def test_scrubbing_leaves_what_a_display_needs() -> None:
    names, made = program(free=2**26)
    names["scrub"](2**24)
    assert sum(made) == 2**26 - 2**24


@pytest.mark.parametrize(
    ("outcome", "message", "expected"),
    [
        (Outcome.RAISED, "CUDA error: an illegal memory access was encountered", True),
        (Outcome.RAISED, "CUDA error: device-side assert triggered", True),
        (Outcome.RAISED, "CUBLAS_STATUS_EXECUTION_FAILED when calling cublasSgemm", True),
        (Outcome.RAISED, "sizes differ", False),
        (Outcome.OUT_OF_MEMORY, "CUDA out of memory", True),
        (Outcome.CRASHED, "", True),
        (Outcome.COMPLETED, "", False),
    ],
)
def test_what_may_be_the_devices_doing(outcome: Outcome, message: str, expected: bool) -> None:
    fault = Fault("RuntimeError", message) if message else None
    assert suspicious(Observation(outcome, claims=Claims(fault=fault))) is expected
