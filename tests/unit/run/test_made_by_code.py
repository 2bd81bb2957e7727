"""Objects for files that no submission should trust: what they call, and what comes of it."""

from __future__ import annotations

import inspect
import io
import random

import pytest
import torch

from grader.scenario_process import MadeByCode
from grader.scenario_process.api import _MAKERS


def saved(content: object) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(content, file)
    file.seek(0)
    return file


@pytest.mark.parametrize("maker", _MAKERS)
def test_what_code_comes_to_is_the_value_and_is_refused_unless_code_may_run(
    maker: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "choice", lambda _: maker)
    value = torch.arange(3.0)
    made = MadeByCode(value)
    monkeypatch.undo()
    with pytest.raises(Exception, match=r"(?i)weights.only"):
        torch.load(saved({"x": made}), weights_only=True)
    found = torch.load(saved({"x": made}), weights_only=False)["x"]
    assert type(found) is torch.Tensor
    assert torch.equal(found, value)


def test_no_file_has_more_of_the_stage_in_it_than_the_value() -> None:
    for maker in _MAKERS:
        function, _ = maker(1.0)
        # A method of an object would bring the object along: the state of random numbers, say.
        assert inspect.isclass(function) or inspect.ismodule(getattr(function, "__self__", inspect))


def test_numbers_are_made_by_code_too() -> None:
    for _ in range(30):
        assert torch.load(saved(MadeByCode(0.5)), weights_only=False) == 0.5
