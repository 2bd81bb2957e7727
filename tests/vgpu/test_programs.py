"""Every program of ``tests/gpu/programs``: as recorded, and with the values of the plain CPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from gpu.on_cpu import EveryDeviceIsTheHost, tensors
from gpu.outcomes import differences, outcome
from gpu.programs import PROGRAMS, Program

from grader.vgpu import virtual_gpus

RECORDED = Path(__file__).parents[1] / "golden" / "vgpu.outcomes.json"
RELEASE = ".".join(torch.__version__.split(".")[:2])
# They ask about devices, generators, streams, files with devices in them, replicas: a host that
# only takes a device's name has no answer. What they come to is recorded, and compared on a GPU.
NO_TWIN = frozenset({
    "default_device", "cuda_device_context", "streams_and_events", "by_hand", "product_on_the_gpu",
    "data_parallel_over_all_devices", "first_steps", "saved_and_loaded", "pinned_memory",
    "in_threads", "module_forms", "legacy_types", "constant_gradient", "fused_and_capturable",
    "grad_scaler", "loader_with_workers", "loader_under_a_default_device",
})  # fmt: skip
each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


def test_names_are_used_once() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert {program.name for program in PROGRAMS} >= NO_TWIN


@pytest.fixture(scope="module")
def recorded(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return what was recorded; under ``--golden`` record it anew, a program a line."""
    if request.config.getoption("--golden"):
        found = {"torch": RELEASE}
        for program in PROGRAMS:
            with virtual_gpus(2):
                found[program.name] = outcome(program)
        lines = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return dict(json.loads(RECORDED.read_text(encoding="utf-8")))


@each_program
def test_outcome_is_as_recorded(program: Program, recorded: dict[str, Any]) -> None:
    """Device, type, values and the words of an error; after a meant change, make golden."""
    with virtual_gpus(2):
        found = json.loads(json.dumps(outcome(program)))
    expected = recorded[program.name]
    if recorded["torch"] != RELEASE and isinstance(expected, dict) and "raised" in expected:
        pytest.skip(f"recorded with torch {recorded['torch']}, whose words may be others")
    assert list(differences(found, expected)) == []


def test_nothing_else_is_recorded(recorded: dict[str, Any]) -> None:
    assert recorded.keys() - {"torch"} == {program.name for program in PROGRAMS}


@each_program
def test_values_are_those_of_the_cpu(program: Program) -> None:
    if program.name in NO_TWIN:
        pytest.skip("asks about devices; see NO_TWIN")
    with virtual_gpus(2):
        virtual = outcome(program)
    if isinstance(virtual, dict) and "raised" in virtual:
        return
    with EveryDeviceIsTheHost():
        host = outcome(program)
    if list(tensors(virtual)):
        assert list(differences(list(tensors(virtual)), list(tensors(host)))) == []


def test_the_twin_would_see_a_wrong_value() -> None:
    def wrong() -> torch.Tensor:
        return torch.full((2,), 1.0 if torch.ones(1, device="cuda").is_cuda else 2.0)

    program = Program("", wrong, 1)
    with virtual_gpus(1):
        virtual = outcome(program)
    with EveryDeviceIsTheHost():
        host = outcome(program)
    assert list(differences(list(tensors(virtual)), list(tensors(host)))) == [
        "outcome[0].values[0]: 1.0 and 2.0", "outcome[0].values[1]: 1.0 and 2.0",
    ]  # fmt: skip
