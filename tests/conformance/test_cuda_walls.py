"""The walls of a process that gets a GPU. Here without one: all but the driver itself is tried."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from driver import MIB, PATIENCE, SPEC, Running
from driver import running as started

from grader.errors import InfrastructureError
from grader.sandbox.host.open import open_sandbox
from grader.sandbox.host.processes import Exit, Gpu, ProcessSpec, Sandbox
from grader.wire.frames import Closed

GPU = Gpu("GPU-a", 90)
ONE = replace(SPEC, cuda=1, gpus=(GPU,))
LOOK = """
import os
import resource
import torch


def look():
    found = {"AS": resource.getrlimit(resource.RLIMIT_AS)[0]}
    found["visible"] = os.environ.get("CUDA_VISIBLE_DEVICES", "all")
    found["asks"] = os.environ.get("PYTORCH_NVML_BASED_CUDA_CHECK", "the driver")
    found["tf32"] = os.environ.get("NVIDIA_TF32_OVERRIDE", "")
    for name, path in (
        ("own", f"/proc/self/task/{os.getpid()}/comm"),
        ("null", "/dev/null"),
        ("outside", "/sys/kernel/uevent_helper"),
        ("sysctl", "/proc/sys/kernel/core_pattern"),
    ):
        try:
            open(path, "w").write("x")
            found[name] = "written"
        except OSError as error:
            found[name] = type(error).__name__
    try:
        os.close(os.memfd_create("driver"))
        found["memory file"] = "made"
    except OSError as error:
        found["memory file"] = type(error).__name__
    try:
        child = os.fork()
    except PermissionError:
        return {**found, "child": "forbidden"}
    if child == 0:
        try:
            open(f"/proc/self/task/{os.getpid()}/comm", "w").write("x")
            os._exit(0)
        except OSError:
            os._exit(1)
    found["child"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return found


def hoard():
    kept = []
    while True:
        kept.append(torch.ones(2**22))
"""


@pytest.fixture(scope="module")
def shown() -> Iterator[Sandbox]:
    try:
        opened = open_sandbox("auto", gpus=(GPU, Gpu("GPU-b", 91)))
    except InfrastructureError as error:
        pytest.skip(str(error).splitlines()[1].strip())
    with opened:
        yield opened


def _forks(sandbox: Sandbox) -> bool:
    return sandbox.isolation.tier == "full"


def running(sandbox: Sandbox, spec: ProcessSpec) -> Running:
    process = Running(sandbox.start(spec))
    assert process.load(LOOK).fault is None
    return process


def looked(sandbox: Sandbox, spec: ProcessSpec) -> dict[str, Any]:
    process = running(sandbox, spec)
    found = process.value("look")
    process.process.end()
    assert isinstance(found, dict)
    return found


def test_gpus_are_granted_to_nobody_where_nobody_asked_for_them(walled: Sandbox) -> None:
    assert not walled.grants(ProcessSpec(cuda=1))


def test_a_process_with_a_gpu_has_what_its_library_needs_and_no_more(shown: Sandbox) -> None:
    assert shown.grants(ProcessSpec(cuda=2))
    assert not shown.grants(ProcessSpec(cuda=3))
    found = looked(shown, ONE)
    assert (found["AS"], found["visible"], found["tf32"]) == (-1, "GPU-a", "0")
    assert (found["own"], found["null"], found["asks"]) == ("written", "written", "the driver")
    assert (found["memory file"], found["child"]) == ("made", 0 if _forks(shown) else "forbidden")
    assert "written" not in (found["outside"], found["sysctl"])


def test_a_process_sees_every_gpu_where_none_is_named(shown: Sandbox) -> None:
    assert looked(shown, replace(SPEC, cuda=2))["visible"] == "all"


def test_another_gpu_stays_closed_and_each_process_proves_it(shown: Sandbox) -> None:
    shown.start(ONE).end()
    assert shown.isolation.proved["other_gpu"] in ("EACCES", "ENOENT")


def test_a_process_without_one_beside_it_has_all_its_walls(shown: Sandbox) -> None:
    found = looked(shown, SPEC)
    assert found["AS"] > 0
    assert (found["visible"], found["null"], found["asks"]) == ("", "written", "1")
    assert (found["memory file"], found["child"]) == (
        "PermissionError", 1 if _forks(shown) else "forbidden",
    )  # fmt: skip
    assert "written" not in (found["outside"], found["sysctl"])


def test_memory_is_watched_where_address_space_is_not_limited(measured: Sandbox) -> None:
    process = running(measured, ONE)
    process.send("hoard")
    with pytest.raises(Closed):
        process.reply(PATIENCE)
    ended = process.process.end()
    assert ended.memory_exceeded
    assert ended.peak_memory is not None
    assert ended.peak_memory < 2 * SPEC.memory + DRIVER_TAKES + 1024 * MIB


# The driver takes memory of the host in each process that uses a GPU

DRIVER_TAKES = 384 * MIB
AS_THE_DRIVER = """
import os
import time


def grown(mebibytes):
    return [os.urandom(2**20) for _ in range(mebibytes)]


def take(mebibytes, children=0):
    for _ in range(children):
        ready, done = os.pipe()
        if os.fork() == 0:
            kept = grown(mebibytes)
            os.write(done, b"x")
            time.sleep(600)
        os.read(ready, 1)
    kept = grown(mebibytes)
    time.sleep(0.5)
    return len(kept)
"""


@pytest.fixture
def measured(shown: Sandbox) -> Iterator[Sandbox]:
    before, shown.gpu_memory = shown.gpu_memory, DRIVER_TAKES
    yield shown
    shown.gpu_memory = before


def taken(sandbox: Sandbox, spec: ProcessSpec, *sizes: int) -> Exit:
    """Take memory; return how the process ended."""
    with started(sandbox, AS_THE_DRIVER, spec) as process:
        process.send("take", *sizes)
        with suppress(Closed):
            assert process.reply(PATIENCE).value
        return process.process.end()


def test_what_the_driver_takes_does_not_count_and_no_more_than_that(measured: Sandbox) -> None:
    # The limit is 512 MiB.
    ended = taken(measured, ONE, 700)
    assert not ended.memory_exceeded
    assert ended.touched is not None
    assert 700 * MIB <= ended.touched < 900 * MIB
    assert taken(measured, ONE, 1000).memory_exceeded
    assert taken(measured, SPEC, 700).memory_exceeded or not _forks(measured)


def test_each_process_that_a_question_may_start_has_a_driver_of_its_own(measured: Sandbox) -> None:
    if not _forks(measured):
        pytest.skip("this tier starts no processes")
    two = replace(ONE, processes=1)
    assert not taken(measured, two, 500, 1).memory_exceeded
    assert taken(measured, ONE, 500, 1).memory_exceeded, "no question gave it a second process"
    assert taken(measured, two, 400, 3).memory_exceeded, "nor four"
