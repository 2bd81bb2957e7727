"""One set of fresh processes: the submission and the reference's two ways, timed in turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from grader.clock.sampling import calls_for, interleave, keep_on
from grader.clock.vectorisation import AGAIN, LONE, LOOP, STUDENT, VECTORISED
from grader.run.blocks import Blocks, Job, Outcomes
from grader.run.session import Session

_WARM = 3
"""Blocks made to find out how many calls fill one; they also warm up caches and allocators."""

_HOPELESS = 10
"""Times as slow as the loop reference: such a submission's sets are one round long."""


class Stopwatch:
    """Times one set.

    Args:
        job: What is timed.
        sessions: Party → its guest, loaded; ``AGAIN`` shares that of ``VECTORISED``.
        random: Draws the order of the blocks.
        first_draw: Number of the first draw: no two sets have inputs in common.
    """

    def __init__(
        self,
        job: Job,
        sessions: Mapping[str, Session],
        random: np.random.Generator,
        first_draw: int,
    ) -> None:
        self._job = job
        self._sessions = sessions
        self._random = random
        self._blocks = Blocks(job, sessions, first_draw)

    def measure(self) -> Outcomes:
        """Time the set.

        Raises:
            InfrastructureError: The reference failed.
            NotTimedError: A clock could not be read, or the machine was too busy.
        """
        blocks = self._blocks
        for session in dict.fromkeys(self._sessions.values()):
            if self._job.core is not None and session.pid is not None:
                keep_on(session.pid, self._job.core)
        per_call = {}
        for party in (VECTORISED, LOOP, STUDENT):
            found = self._warm_up(party)
            if found is None:
                return blocks.outcomes
            per_call[party] = found
        plan = self._job.plan
        if per_call[STUDENT] > _HOPELESS * per_call[LOOP]:
            plan = replace(plan, rounds=1)
        blocks.calls[AGAIN] = blocks.calls[VECTORISED]
        # Its results are compared with the vectorised reference's: it may not make more calls.
        blocks.calls[STUDENT] = min(blocks.calls[STUDENT], blocks.calls[VECTORISED])
        parties = {party: blocks.party(party) for party in (STUDENT, VECTORISED, AGAIN, LOOP)}
        parties |= {name: blocks.party(party, lone=True) for party, name in LONE.items()}
        blocks.outcomes.run = interleave(parties, plan, self._random)
        blocks.outcomes.idle = blocks.idle
        return blocks.outcomes

    def _warm_up(self, party: str) -> float | None:
        """Find out how many calls fill a block; return the seconds that one takes."""
        calls, per_call = 1, 0.0
        for number in range(_WARM):
            found = self._blocks.alone(party, calls)
            if found is None:
                return None
            per_call = found
            calls = calls_for(self._job.plan.block, per_call, self._blocks.most)
            # The first call of a fresh process is slow by itself, and tells nothing.
            if number and per_call > self._job.plan.block:
                break
        self._blocks.calls[party] = calls
        return per_call
