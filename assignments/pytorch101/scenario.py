"""Runs in the stage: has what was computed on a GPU run again, on values that are drawn then."""

from __future__ import annotations

from grader.stage import actor, given, repeat

_NONE = {"unrepeated": True}
"""Where there is nothing to tell of, the checks leave that to a person."""


def multiplied(x, w):
    """Multiply on a GPU; where that was done, and what travelled, running the log again tells."""
    answer = given("multiplied", actor.module, x, w)
    claims = answer["claims"]
    again = repeat(answer["log"], {"x": x, "w": w}, {"output": answer["product"]}, 1)
    if again["state"] != "real":
        claims = {
            "work": again.pop("parts").get("work", _NONE),
            "placement": again.pop("placement") or _NONE,
        }
    return {"product": answer["product"], "again": again, **claims}
