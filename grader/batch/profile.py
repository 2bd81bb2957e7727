"""Where the time of a batch went, from the times in its reports."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator

from grader.batch.graded import GradedSubmission

PHASES = {
    "intake": "submissions read and unpacked",
    "start": "student processes started, files imported",
    "calls": "calls for values",
    "counting": "calls that are counted",
    "replay": "logs of these run again",
    "source": "source text read",
    "judge": "judging, with known mistakes and slips",
    "clock": "timing",
    "explain": "sentences",
}
"""Phase of a report (``timing.phases``) → what happens in it."""


class Profile:
    """Adds up what grading took, from when it is made.

    Args:
        jobs: How many workers grade.
        before: Digests of what an earlier run has graded: their reports tell of that run.
    """

    def __init__(self, jobs: int, before: Collection[str] = ()) -> None:
        self._jobs = jobs
        self._before = frozenset(before)
        self._ran: set[tuple[str, bool]] = set()
        self._phases: Counter[str] = Counter()
        self._begun = time.monotonic()

    def add(self, graded: GradedSubmission) -> None:
        """Count a result. Of identical submissions one was run; one that is timed runs again."""
        run = graded.digest or graded.name, graded.timed
        if run[0] not in self._before and run not in self._ran:
            self._ran.add(run)
            self._phases.update(graded.run.timing.phases)

    def sentences(self) -> Iterator[str]:
        """Yield a table; call it once all is written.

        Its last row is what is in no report: start-up, the reference, writing, and what workers
        wait for each other.
        """
        wall = time.monotonic() - self._begun
        known = sum(self._phases.values())
        in_all = max(wall * self._jobs, known)
        yield "Where the time went, in seconds of all workers together:"
        rows = [(float(self._phases[phase]), text) for phase, text in PHASES.items()]
        rows.append((in_all - known, "the rest: the reference, writing, waiting for each other"))
        for seconds, text in rows:
            yield f"  {seconds:9.1f}  {seconds / in_all if in_all else 0:4.0%}  {text}"
        count = len({digest for digest, _ in self._ran})
        each = f", {known / count:.2f} s of a worker for each that ran" if count else ""
        yield f"{wall:.1f} s of wall time, {self._jobs} at a time{each}."
