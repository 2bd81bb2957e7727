"""On real GPUs nothing is written down: what ``given.py`` says to a log comes to nothing."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

from grader.scenario_process import api
from grader.vgpu.recording.recorder import Log, NoLog, logged

X = torch.ones(2)


def test_without_virtual_gpus_the_log_is_false_and_takes_whatever_it_is_told() -> None:
    with logged() as log:
        assert not log
        assert log.leaf("x", X) is X
        log.begin("work", "x")
        log.end("work", X, [X])
        log.output("gradient", None)
        log.place(torch.nn.Linear(1, 1))
        assert log.as_values() is None


def test_it_has_the_parameters_of_a_log() -> None:
    for name in ("leaf", "begin", "end", "output", "place"):
        mine, its = (inspect.signature(getattr(cls, name)).parameters for cls in (NoLog, Log))
        assert list(mine) == list(its), name


def test_where_gpus_are_real_the_claims_stand_in_the_place_of_reports() -> None:
    claims = {"work": {"kernels": ()}, "placement": {"output": "cuda:0"}}
    answer = {"product": X, "log": None, "claims": claims}
    found = api.repeated(answer, {"x": X}, {"output": X}, 1, "work")
    assert found == {"product": X, "again": {"state": "real"}, **claims}


def test_what_is_not_there_is_left_to_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {"work": {"kernels": ()}}
    monkeypatch.setattr(
        api, "repeat",
        lambda *_: {"state": "ran", "parts": seen, "times": {}, "placement": {}},
    )  # fmt: skip
    answer: dict[str, Any] = {"log": {}, "claims": {}}
    found = api.repeated(answer, {}, {}, 1, "work", "step", card=("v100", 1.0))
    missing = {"unrepeated": True}
    assert found == {
        "again": {"state": "ran"}, "work": seen["work"], "step": missing,
        "work_time": missing, "step_time": missing, "placement": missing,
    }  # fmt: skip
