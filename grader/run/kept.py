"""What is kept of a hand-in's run, so that it can be judged again without running anything."""

from __future__ import annotations

from collections.abc import Mapping

from grader.clock.device import DeviceTiming
from grader.clock.samples import Run, Sample
from grader.clock.screen import Screen
from grader.observation import Claims, Companions, HostFacts, Observation, Outcome, Stop, Timing
from grader.run.allowance import kept_bytes
from grader.run.observe import QuestionRun, observations
from grader.static_analysis.facts import Construct, EntryFacts, Mention, Place, Role
from grader.store.kept import Keeper
from grader.wire.frames import FrameSize
from grader.wire.messages import Fault, Loaded

KEEPER = Keeper(
    [
        QuestionRun, Loaded, Fault,
        Observation, Outcome, HostFacts, Stop, FrameSize, Claims, Companions,
        Timing, Run, Sample, Screen, DeviceTiming,
        EntryFacts, Construct, Mention, Place, Role,
    ]
)  # fmt: skip


def pack_runs(runs: Mapping[str, QuestionRun], reference: Mapping[str, QuestionRun]) -> bytes:
    """Return what was observed as bytes; tensors that equal the reference's are left out.

    Questions with the longest answers are left out, too, where all take many times the room that
    the reference's do: they have to be run again, not only judged.

    Args:
        runs: By question id.
        reference: The same for the reference; needed again for reading.
    """
    return KEEPER.pack(runs, reference, kept_bytes(observations(reference)))


def unpack_runs(data: bytes, reference: Mapping[str, QuestionRun]) -> dict[str, QuestionRun]:
    """Return what was observed.

    Raises:
        UsageError: It was written by another version, or is damaged.
    """
    return KEEPER.unpack(data, reference)
