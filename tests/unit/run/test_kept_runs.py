"""What is kept of a run comes back whole, whatever it holds."""

from __future__ import annotations

import base64
import dataclasses
from enum import Enum
from typing import Any, get_args, get_type_hints

from observed import seen
from timings import run, screen

from grader.observation import Claims, FunctionTiming, HostFacts, Observation, Outcome
from grader.run.answers import answers_of
from grader.run.baseline_file import KEEPER
from grader.run.observe import QuestionRun
from grader.static_analysis.facts import Construct, EntryFacts, Mention, Role, SourcePlace
from grader.wire.frames import Frame
from grader.wire.messages import Loaded
from grader.wire.values import Tensor

NONE = answers_of({})


def reached(kind: Any, found: set[type]) -> set[type]:
    """Return all dataclasses and enumerations that a type holds."""
    for part in get_args(kind):
        reached(part, found)
    if isinstance(kind, type) and kind not in found and kind.__module__.startswith("grader"):
        if issubclass(kind, Enum):
            found.add(kind)
        elif dataclasses.is_dataclass(kind) and not kind.__module__.endswith("wire.values"):
            found.add(kind)
            for hint in get_type_hints(kind).values():
                reached(hint, found)
    return found


def test_every_kind_that_a_run_holds_is_known() -> None:
    found = reached(QuestionRun, set())
    assert {Observation, FunctionTiming} <= found
    assert not found & {Frame, Tensor}
    assert {kind.__name__ for kind in found} <= set(KEEPER._classes)


def test_what_was_timed_comes_back() -> None:
    timing = FunctionTiming((run(2.0),), {"B": 2}, 30, screens=(screen([1.0] * 4),))
    observation = dataclasses.replace(seen(1), facts=HostFacts(timing=timing))
    runs = {"f": QuestionRun("f", None, None, {"case": observation})}
    assert NONE.unpack(NONE.pack(runs)) == runs


def test_what_was_timed_under_the_former_name_comes_back() -> None:
    observation = dataclasses.replace(seen(1), facts=HostFacts(timing=FunctionTiming(outputs=30)))
    runs = {"f": QuestionRun("f", None, None, {"case": observation})}
    FunctionTiming.__name__ = "Timing"
    try:
        written = NONE.pack(runs)
    finally:
        FunctionTiming.__name__ = "FunctionTiming"
    assert NONE.unpack(written) == runs


WRITTEN_BEFORE = (
    "eAFtU9tKxDAQFfyT+GiVrrdd9klYvDwoXhB8WKSk7SxbNjfTRF3EP/FjnUmbbAsGWpozmZlzTqYvN6+T3/29tL6Z2x"
    "pgc/bOMrZqQNQtmyNoAcElc4he4vPkoXWNVs9esWzJanqBcnZLWewNd0LzGgIec+4SEmDFJbSUR3F6MI8WIiveCKgL"
    "KsEy5YUgUJct2A9OXVOajPk8fhC5h91JgkM37V2lJcRj+MEeIsQwYgQ4pNu3r1xqQQVvdeuueQ+Gcp9ciKKFSiv0hx"
    "jjqfxrcjzLB8sc5l1BA3xTSJDaboty60j2JD+bnU8vSFhl/H+lBoXy3BxNkjuV4I0c8VskJJD74MKjwJPezVZ7WyXl"
    "pOeKbmosaOVVNbI23ggRRMed9QNTMLibhUUMJ7M3jUIibKVtGAWrRWpPxj+HPU6INr0/go8JPkYg6BGNwrTT4JUWXu"
    "LIndNG8NYVXfCs11qDcWt0l8JREjHpeABeBN1yTx5VnGYhM1z7MFfiMA8HbST4vgsmuTTJ2MRpW62PpQy9TFRAPh4Q"
    "+0Afx4b6o5tAjPvV8ykjMTw/7UI/GSsFTj7+e28/f1JiEys="
)
"""In base64, what a version wrote that noted peak memory, and called ``SourcePlace`` ``Place``."""


def test_runs_that_were_kept_before_can_be_read() -> None:
    place = SourcePlace(3, 5, 4)
    construct = Construct("for", Role.LOOP, place, 1, "f", (3, 4))
    facts = EntryFacts(("f",), (construct,), 1, (Mention("torch.mm", place, called=True),))
    observed = Observation(
        Outcome.COMPLETED, HostFacts(1.5, cpu_seconds=0.5), Claims(2), source=facts
    )
    expected = QuestionRun("f", Loaded(("f",)), None, {"a": observed, "b": observed})
    assert KEEPER.unpack(base64.b64decode(WRITTEN_BEFORE), {}) == {"q": expected}
