"""A session's guests: one that waits while another works, and what they could not load."""

from __future__ import annotations

from dataclasses import dataclass

from grader.observation import Observation, Outcome
from grader.sandbox.host.guests import Guest, GuestLimits, GuestNeeds
from grader.wire.messages import Loaded


@dataclass(frozen=True, slots=True)
class Held:
    """A guest that waits while another one works.

    Attributes:
        guest: It.
        loaded: What it said of the program.
        started_with: Its limits and needs.
    """

    guest: Guest
    loaded: Loaded
    started_with: tuple[GuestLimits, GuestNeeds]


class Failures:
    """How loading a program ended guests, for each sort of guest.

    A program that only a GPU makes fail has its other questions. But one that did not return from
    being loaded is not tried again with more of anything: a class would wait for it once for each
    sort.
    """

    def __init__(self) -> None:
        self._seen: dict[GuestNeeds, Observation] = {}

    def note(self, needs: GuestNeeds, seen: Observation) -> None:
        """Keep how a guest with some needs ended."""
        self._seen[needs] = seen

    def of(self, needs: GuestNeeds) -> Observation | None:
        """Return how a guest with some needs ended, or would end; None if that is open."""
        hung = (
            seen
            for known, seen in self._seen.items()
            if seen.outcome is Outcome.TIMED_OUT and _gives_no_less(needs, known)
        )
        return self._seen.get(needs) or next(hung, None)


def holds(needs: GuestNeeds) -> bool:
    """Whether a guest would keep from others what they need: a GPU, a clock, the cores."""
    return bool(needs.cuda or needs.timed or needs.processes)


def _gives_no_less(needs: GuestNeeds, than: GuestNeeds) -> bool:
    """Whether a guest with some needs has all that another has."""
    return (
        needs.cuda >= than.cuda
        and needs.virtual >= than.virtual
        and needs.processes >= than.processes
    )
