"""``grader lint`` tries the loops that questions are timed beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import toy_starter
from loops.lab import REFERENCE, grader

from grader.authoring.lint import unfit_loops
from grader.sandbox.host.processes import Sandbox

LOOPS = b"""

def right(x, y):
    return torch.stack([torch.mm(a, b) for a, b in zip(x, y)])


def wrong(x, y):
    return right(x, y) + (x.sum() > 0)


def no_loop(x, y):
    return torch.bmm(x, y)


def fails(x, y):
    raise ValueError("not like this")
"""
DIMS = {"B": 512, "N": 2, "M": 3, "P": 2}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with toy_starter.lent_where_clocks_are_read() as sandbox:
        yield sandbox


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        ("right", ""),
        ("wrong", "does not return what the reference does"),
        ("no_loop", "times as long as the reference; choose “dims”"),
        ("fails", "cannot be timed: the reference's fails could not be timed: raised"),
    ],
)
def test_a_loop_is_right_and_takes_longer(loop: str, words: str, sandbox: Sandbox) -> None:
    timed: dict[str, Any] = {"case": "whole_numbers", "loop": loop, "dims": DIMS}
    ready = grader(sandbox, REFERENCE + LOOPS, timed=timed)
    found = [str(item) for item in unfit_loops(ready, ready.materials, sandbox)]
    assert len(found) == bool(words)
    assert all(words in text and f"“{loop}”" in text for text in found), found
