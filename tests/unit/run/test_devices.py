"""Where a question runs: real GPUs, virtual ones, none, or not here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from grader.assignment.types import Limits, Question
from grader.run.capabilities import devices_name, resolve
from grader.sandbox.host.processes import ProcessSpec
from grader.verdict import Code, Status

PLAIN: Any = SimpleNamespace(limits_of=lambda _: Limits(), file_of=lambda _: "")
"""Stands for an assignment that names no limits."""


def question(**needs: object) -> Question:
    return Question.model_validate(
        {
            "id": "f",
            "title": "F",
            "points": 1,
            "needs": needs,
            "cases": [{"id": "one"}],
            "checks": [{"id": "value", "kind": "exact", "points": 1}],
        }
    )


def shows_gpus(_: ProcessSpec) -> bool:
    return True


def shows_none(spec: ProcessSpec) -> bool:
    return not spec.cuda


def grants_nothing(_: ProcessSpec) -> bool:
    return False


REAL, VIRTUAL = ProcessSpec(cuda=2), ProcessSpec(virtual_gpus=2)


@pytest.mark.parametrize(
    ("choice", "gpus", "grants", "spec"),
    [
        ("auto", 2, shows_gpus, REAL),
        ("auto", 1, shows_gpus, VIRTUAL),
        ("auto", 2, shows_none, VIRTUAL),
        ("auto", 0, shows_none, VIRTUAL),
        ("virtual", 2, shows_gpus, VIRTUAL),
        ("cuda", 2, shows_gpus, REAL),
    ],
)
def test_gpus_are_real_where_they_can_be(choice, gpus, grants, spec) -> None:
    assert resolve(PLAIN, question(cuda=2), choice, gpus, grants) == spec


@pytest.mark.parametrize(
    ("choice", "gpus", "grants", "code"),
    [
        ("cpu", 2, shows_gpus, Code.NO_DEVICE),
        ("cuda", 1, shows_gpus, Code.NO_DEVICE),
        ("cuda", 2, shows_none, Code.NO_PERMISSION),
        ("virtual", 0, grants_nothing, Code.NO_PERMISSION),
    ],
)
def test_what_cannot_be_graded_here_is_deferred(choice, gpus, grants, code) -> None:
    verdict = resolve(PLAIN, question(cuda=2), choice, gpus, grants)
    assert (verdict.code, verdict.status) == (code, Status.DEFERRED)


def test_the_cpu_alone_counts_no_gpu_that_is_there() -> None:
    verdict = resolve(PLAIN, question(cuda=1), "cpu", 4, shows_gpus)
    assert verdict.message.params == {"cuda": 1, "found": 0}


@pytest.mark.parametrize("choice", ["auto", "cpu", "virtual", "cuda"])
def test_without_gpus_nothing_depends_on_the_choice(choice) -> None:
    assert resolve(PLAIN, question(), choice, 0, shows_none) == ProcessSpec()
    spec = ProcessSpec(processes=2, loopback=True)
    assert resolve(PLAIN, question(processes=2, loopback=True), choice, 0, shows_none) == spec


@pytest.mark.parametrize(
    ("needs", "told"),
    [
        ({"processes": 2}, "processes"),
        ({"loopback": True}, "a loopback network"),
        ({"cuda": 1, "processes": 2}, "a GPU"),
    ],
)
def test_what_walls_do_not_grant_is_named(needs, told) -> None:
    verdict = resolve(PLAIN, question(**needs), "cuda", 1, grants_nothing)
    assert verdict.message.params == {"needs": told}


def test_memory_of_virtual_gpus_is_asked_for_as_it_is_written() -> None:
    found = resolve(
        PLAIN, question(cuda=1, cuda_memory_mb=64, processes=3), "virtual", 0, shows_none
    )
    assert found == ProcessSpec(processes=3, virtual_gpus=1, virtual_gpu_memory_mb=64)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (ProcessSpec(), "cpu"),
        (ProcessSpec(cuda=2), "cuda ×2"),
        (ProcessSpec(processes=1, virtual_gpus=1, virtual_gpu_memory_mb=64), "virtual cuda ×1"),
    ],
)
def test_names_of_devices(spec, name) -> None:
    assert devices_name([spec]) == name


def test_a_run_is_named_by_the_most_of_each_sort() -> None:
    specs = [
        ProcessSpec(),
        ProcessSpec(virtual_gpus=1),
        ProcessSpec(virtual_gpus=2),
        ProcessSpec(cuda=1),
    ]
    assert devices_name(specs) == "cuda ×1, virtual cuda ×2"
    assert devices_name([]) == devices_name([ProcessSpec()]) == "cpu"
