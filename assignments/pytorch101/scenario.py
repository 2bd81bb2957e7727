"""Runs in the stage: has what was computed on a GPU run again, on values that are drawn then."""

from __future__ import annotations

from grader.scenario_process import actor, given, repeated


def multiplied(x, w):
    """Multiply on a GPU; where that was done, and what travelled, running the log again tells."""
    answer = given("multiplied", actor.module, x, w)
    return repeated(answer, {"x": x, "w": w}, {"output": answer["product"]}, 1, "work")
