"""Processes of a training: what they return, and what becomes of one that fails."""

from __future__ import annotations

import os
import traceback

import pytest

from grader.vgpu.processes import in_ranks


def test_each_rank_has_a_process_of_its_own() -> None:
    found = in_ranks(3, lambda rank: (rank, os.getpid()), __file__)
    assert [rank for rank, _ in found] == [0, 1, 2]
    assert len({pid for _, pid in found} - {os.getpid()}) == 3


def test_what_a_rank_raises_is_raised_in_its_line() -> None:
    def work(rank: int) -> None:
        if rank:
            raise KeyError("a word")

    with pytest.raises(KeyError, match=r"a word.*in process 1") as raised:
        in_ranks(2, work, __file__)
    lines = traceback.extract_tb(raised.value.__traceback__)
    assert (lines[-1].filename, lines[-1].lineno) == (__file__, work.__code__.co_firstlineno + 2)


def test_a_rank_that_is_gone_is_told() -> None:
    with pytest.raises(RuntimeError, match="process 0 ended before its work was done"):
        in_ranks(2, lambda rank: os._exit(3) if rank == 0 else rank, __file__)
