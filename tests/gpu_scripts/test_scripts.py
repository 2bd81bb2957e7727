"""Whole scripts on virtual GPUs: they work with the CPU's numbers, or are refused by name."""

from __future__ import annotations

import pytest

from gpu_scripts.runner import differences, numbers, run, scripts

# One of each sort; the others take minutes.
_LIGHT = {"autocast_lists", "ddp_spawn", "export"}
_ALL = [
    pytest.param(each, id=name, marks=[] if name in _LIGHT else pytest.mark.heavy)
    for each in scripts()
    for name in [each.path.stem]
]


@pytest.mark.parametrize("script", _ALL)
def test_a_script_does_what_its_docstring_says(script) -> None:
    ended = run(script)
    wanted = "refused" if "refused" in script.said else "works"
    assert ended.outcome == wanted, f"{ended.why}\n{ended.told}"


def test_there_are_thirty() -> None:
    assert len(_ALL) >= 30
    assert {each.path.stem for each in scripts()} >= _LIGHT


def test_other_numbers_are_seen() -> None:
    printed = "loss 1.5 2\n2 GPUs\nrank 1 3.0\nrank 0 4.0\nWarning: 7\n"
    found = numbers(printed)
    assert found == [("loss", [1.5, 2.0]), ("rank", [0.0, 4.0]), ("rank", [1.0, 3.0])]
    assert differences(found, found, 1e-5) == ""
    assert differences(found, numbers(printed.replace("1.5", "1.6")), 1e-5).startswith("loss: 1.5")
    assert differences(found, numbers(printed.replace("1.5", "1.6")), 0.1) == ""
    assert "3 lines" in differences(found, found[:2], 1e-5)
    assert differences([], [], 1e-5) == "printed no numbers on the CPU"
