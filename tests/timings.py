"""Short ways to write what was timed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader.speed_statistics.sampling import Run, Sample
from grader.speed_statistics.vectorisation import AGAIN, LONE, LOOP, STUDENT, VECTORISED, Screen


def blocks(seconds: Sequence[float], calls: int = 10) -> tuple[Sample, ...]:
    """Blocks that take so many seconds a call."""
    return tuple(Sample(calls, 2 * each * calls, each * calls) for each in seconds)


def run(
    student: float,
    loop: float = 64.0,
    again: float = 1.0,
    rounds: int = 5,
    lone: float | None = None,
) -> Run:
    """A set in which the vectorised reference takes a second a call.

    Args:
        student: Seconds a call.
        loop: Seconds a call.
        again: Seconds a call of the vectorised reference's other blocks.
        rounds: Blocks of each party.
        lone: Seconds of a call that the student makes by itself; as all others where None.
    """
    times = {STUDENT: student, VECTORISED: 1.0, AGAIN: again, LOOP: loop}
    alone = {**times, STUDENT: student if lone is None else lone}
    # What a request costs by itself weighs more in a block of one call.
    times |= {name: alone[party] + 3.0 for party, name in LONE.items()}
    return Run({party: blocks([each] * rounds) for party, each in times.items()})


REQUEST = 4e-4


def screen(
    times: Sequence[float], alone: float | None = None, loop: float = 64.0, call: float = 5e-5
) -> Screen:
    """Rounds of a submission, in short blocks.

    Args:
        times: How many times as long as the reference it takes, in each round.
        alone: The same for calls by themselves; as all others where None.
        loop: How many times as long as the reference the loop takes.
        call: Seconds of a call of the reference.
    """
    ours = [Sample(20, 0.0, REQUEST + 20 * call * each) for each in times]
    by_itself = [
        Sample(1, 0.0, REQUEST + call * (each if alone is None else alone)) for each in times
    ]
    theirs = [Sample(30, 0.0, REQUEST + 30 * call)] * len(times)
    one = [Sample(1, 0.0, REQUEST + call)] * len(times)
    parties = {
        STUDENT: ours, VECTORISED: theirs, LONE[STUDENT]: by_itself, LONE[VECTORISED]: one,
    }  # fmt: skip
    return Screen(Run({name: tuple(each) for name, each in parties.items()}), math.log(loop))
