"""Leases, quarantine, the driver's word on a device, and the real worker without a GPU."""

from __future__ import annotations

import multiprocessing
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
from grader.clock.device import TRANSFER, WIRE
from grader.errors import InfrastructureError
from grader.observation import Claims, Observation, Outcome
from grader.run.gpu_state import FIELDS, Health, Leases, list_gpus, read_state
from grader.run.gpu_worker import PROBE_ANSWER, PROGRAM, GuestWorker, SickDeviceError, suspicious
from grader.run.gpus import DeviceTakenError, NoDeviceError
from grader.sandbox.host.guests import Gpu, Sandbox
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


def line(reasons: str = "0x0000000000000000", **changes: str) -> str:
    usual = dict(
        zip(FIELDS, ("Tesla T4", "535.1", "41", "585", "1590", "3", "0", "3", "16"), strict=True)
    )
    named = {name.replace("__", "."): value for name, value in changes.items()}
    return ", ".join((reasons, *(usual | named).values())) + "\n"


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


def test_memory_errors_make_a_device_unusable() -> None:
    counted = {"ecc__errors__uncorrected__volatile__total": "3"}
    assert "3 uncorrectable" in read_state(line(**counted)).problem


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


# The real worker, as far as it goes without a GPU


@pytest.fixture
def worker(sandbox: Sandbox) -> GuestWorker:
    return GuestWorker(sandbox, Gpu("GPU-a", 0), Limits(memory_mb=512), lambda _: Health())


@pytest.mark.skipif(bool(list_gpus()), reason="this machine has a GPU")
def test_a_driver_that_lists_a_device_proves_nothing(worker: GuestWorker) -> None:
    assert worker.state().problem == ""
    assert "could not be computed" in worker.health().problem
    with pytest.raises(SickDeviceError, match="could not be overwritten"):
        worker.close()


def test_parties_run_in_processes_of_their_own_and_wire_carries_bytes_only(
    worker: GuestWorker,
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


def test_the_drivers_problem_is_not_tried_out(sandbox: Sandbox) -> None:
    gone = Health("nvidia-smi failed: no devices were found")
    worker = GuestWorker(sandbox, Gpu("GPU-a", 0), Limits(), lambda _: gone)
    assert worker.health() is gone


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
        mem_get_info=lambda: (free + 2**22, free), synchronize=lambda: None,
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
    done = names["scrub"]()
    assert done == sum(made)
    assert done > 2**26


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
