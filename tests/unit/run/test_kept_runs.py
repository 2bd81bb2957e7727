"""What is kept of a run comes back whole, whatever it holds."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Any, get_args, get_type_hints

from observed import seen
from timings import run, screen

from grader.observation import HostFacts, Observation, Timing
from grader.run.kept import KEEPER, pack_runs, unpack_runs
from grader.run.observe import QuestionRun
from grader.wire.frames import Frame
from grader.wire.values import Tensor


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
    assert {Observation, Timing} <= found
    assert not found & {Frame, Tensor}
    assert {kind.__name__ for kind in found} <= set(KEEPER._classes)


def test_what_was_timed_comes_back() -> None:
    timing = Timing((run(2.0),), {"B": 2}, 30, screens=(screen([1.0] * 4),))
    observation = dataclasses.replace(seen(1), facts=HostFacts(timing=timing))
    runs = {"f": QuestionRun("f", None, None, {"case": observation})}
    assert unpack_runs(pack_runs(runs, {}), {}) == runs
