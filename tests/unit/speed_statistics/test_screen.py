"""Short blocks in passing: what settles a verdict, and what is left to care."""

from __future__ import annotations

import math
import random

import pytest
from timings import screen

from grader.speed_statistics.credit import Credit, Decision, Linear, Point, Step, Steps, single
from grader.speed_statistics.sampling import Run, Sample
from grader.speed_statistics.vectorisation import Vote, request_of, settled, votes

HALF = single(0.5)


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([1.0] * 3, Vote.MORE),
        ([1.0] * 4, Vote.FAST),
        ([6.3] * 4, Vote.FAST),  # the limit is 8, a vote for fast 6.4
        ([6.5] * 3, Vote.UNCLEAR),
        ([8.0] * 3, Vote.UNCLEAR),
        ([11.9] * 3, Vote.UNCLEAR),
        ([12.1] * 4, Vote.SLOW),
        ([64.0] * 4, Vote.SLOW),
        ([8.0, 8.0, 1, 1, 1], Vote.MORE),
        ([8.0, 8.0, 1, 1, 1, 1], Vote.FAST),
        ([8.0, 1, 8.0, 1, 8.0], Vote.UNCLEAR),
        ([64, 1, 1, 1, 1], Vote.MORE),
        ([64, 1, 1, 1, 1, 1], Vote.FAST),
        ([64, 1] * 4, Vote.UNCLEAR),
    ],
)
def test_a_lead_of_four_votes_decides(times: list[float], said: Vote) -> None:
    assert votes(screen(times), HALF) is said


def test_fast_takes_calls_that_are_fast_by_themselves() -> None:
    assert votes(screen([1.0] * 4, alone=18.0), HALF) is Vote.FAST
    assert votes(screen([1.0] * 4, alone=19.0), HALF) is Vote.UNCLEAR
    assert screen([1.0] * 4, alone=8.0).alone == pytest.approx(0.5)


def test_slow_takes_two_processes_that_say_so() -> None:
    slow, fast = screen([64.0] * 4), screen([1.0] * 4)
    assert settled([], HALF) is None
    assert settled([slow], HALF) is None
    assert settled([slow, fast], HALF) is None
    given = settled([slow, slow], HALF)
    assert given is not None
    assert (given.decision, given.share) == (Decision.PASSED, 0.0)
    given = settled([fast], HALF)
    assert given is not None
    assert (given.decision, given.share) == (Decision.PASSED, 1.0)


def test_a_request_is_taken_off() -> None:
    run = screen([2.0] * 5).run
    assert request_of(run) == pytest.approx(4e-4)
    assert screen([2.0] * 5).index == pytest.approx(math.log(2) / math.log(64.0))
    # A call that fills a block by itself takes far longer than a request.
    long = {name: (Sample(1, 0.0, 0.01),) for name in run.samples}
    assert request_of(Run(long)) == 0


def test_without_a_slower_loop_there_is_no_scale() -> None:
    assert votes(screen([1.0] * 4, loop=1.2), HALF) is Vote.UNCLEAR


STEPS = Steps(steps=(Step(within=0.3, credit=1.0), Step(within=0.5, credit=0.5)))
LINE = Linear(linear=(Point(at=0.25, credit=1.0), Point(at=0.75, credit=0.0)))


@pytest.mark.parametrize(
    ("scale", "times", "share"),
    [
        (STEPS, 1.0, 1.0),
        (STEPS, 4.0, None),  # half the points: for that it takes care
        (STEPS, 64.0, 0.0),
        (LINE, 1.0, 1.0),
        (LINE, 8.0, None),
        (LINE, 64.0, 0.0),
    ],
)
def test_only_the_ends_of_a_scale_are_settled(
    scale: Credit, times: float, share: float | None
) -> None:
    found = settled([screen([times] * 4)] * 2, scale)
    assert (found.share if found else None) == share


@pytest.mark.parametrize(
    ("times", "never"), [(1.0, Vote.SLOW), (4.0, Vote.SLOW), (8.0, Vote.SLOW), (64.0, Vote.FAST)]
)
def test_noise_of_a_tenth_decides_nothing_wrongly(times: float, never: Vote) -> None:
    dice = random.Random(3)
    said = []
    for _ in range(300):
        noisy: list[float] = []
        vote = Vote.MORE
        while vote is Vote.MORE:
            noisy.append(times * math.exp(dice.gauss(0, 0.1)))
            vote = votes(screen(noisy), HALF)
        said.append(vote)
    assert never not in said
    clear = times not in (8.0,)
    assert (Vote.UNCLEAR in said) is not clear
