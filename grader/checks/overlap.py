"""``overlap``: devices work side by side on a timeline, not one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from grader.checks.base import CaseInputs, Check, Probe
from grader.checks.findings import finding, plain
from grader.checks.timelines import Gap, Timing, read_timing
from grader.checks.traced import as_fact, no_trace_expected, not_of_the_form, unrepeated
from grader.observation import Observation
from grader.verdict import Basis, Code, Param, Verdict, passed

_MOST_ROWS = 200
_WEIGHTY = 0.2
"""Share of all idle time from which on a reason for it is worth telling."""


class Overlap(Check):
    """A pipeline keeps its devices busy at the same time. A claim, as every device trace.

    Judged is what working side by side saves: between the time of the same work one piece after
    another (0) and that of the device with most work (1).

    Attributes:
        at_least: The share of it that is to be saved.
        times: It takes at most so many times as long as the reference: pieces of work that
            nobody asked for can overlap as well.
        of_reference: And its devices are busy at least so many times as long, so that two token
            products side by side are not enough.
        replayed: The report comes from ``repeat``: the stage ran the log again. A fact then.
    """

    kind: Literal["overlap"] = "overlap"
    conditional: ClassVar[bool] = True
    at_least: float = Field(default=0.5, gt=0, le=1)
    times: float = Field(default=1.5, ge=1, allow_inf_nan=False)
    of_reference: float = Field(default=0.5, ge=0, le=1)
    replayed: bool = False

    @model_validator(mode="after")
    def _of_a_lap(self) -> Overlap:
        if self.item is None:
            raise ValueError("name the item of the scenario's dict that is a lap's report: “item”")
        return self

    def needs(self) -> frozenset[Probe]:
        """Return the source, as second witness."""
        return frozenset({Probe.SOURCE})

    def judge(
        self,
        case: CaseInputs,  # noqa: ARG002  part of every judge
        reference: Observation,
        submission: Observation,
    ) -> Verdict:
        """Weigh the timelines; a hand-in that could have changed its own is left to a person."""
        expected = read_timing(reference.claims.value)
        if expected is None:
            return no_trace_expected(reference)
        actual = read_timing(submission.claims.value)
        if actual is None:
            return unrepeated(submission, self.replayed) or not_of_the_form(
                submission.claims.value, "timeline report"
            )
        verdict = as_fact(self.weigh(expected, actual), self.replayed)
        drawn: dict[str, Param] = {
            **verdict.evidence,
            **_numbers(actual),
            "timeline": _rows(actual),
        }
        return replace(verdict, evidence=drawn)

    def weigh(self, expected: Timing, actual: Timing) -> Verdict:
        """Compare what is saved with what could be, and the time with the reference's."""
        most = self.times * expected.elapsed
        work, wanted = actual.work, self.of_reference * expected.work
        told: dict[str, Param] = {
            **_numbers(actual),
            "least": 100 * self.at_least,
            "reference": 100 * expected.share,
            "most": 1e3 * most,
        }
        if actual.share < self.at_least:
            why = {**_gap(actual), **_cause(actual)}
            return finding(Code.NOT_OVERLAPPED, "overlap_little", {**told, **why}, Basis.CLAIM)
        if actual.elapsed > most:
            return finding(Code.NOT_OVERLAPPED, "overlap_slow", told, Basis.CLAIM)
        if work < wanted:
            told |= {"work": 1e3 * work, "wanted": 1e3 * wanted}
            return finding(Code.NOT_OVERLAPPED, "overlap_token", told, Basis.CLAIM)
        return passed(Basis.CLAIM)


def _numbers(timing: Timing) -> dict[str, Param]:
    on_the_way: dict[str, Param] = {
        f"critical_{plain(name)}": 1e3 * seconds for name, seconds in timing.critical.items()
    }
    return {
        "share": 100 * timing.share,
        "elapsed": 1e3 * timing.elapsed,
        "serial": 1e3 * timing.serial,
        "ideal": 1e3 * timing.ideal,
        "profile": plain(timing.profile),
        **on_the_way,
    }


def _rows(timing: Timing) -> list[Param]:
    """Return what a picture shows, the longest first to stay, in milliseconds."""
    longest = sorted(timing.rows, key=lambda row: row[1] - row[2])[:_MOST_ROWS]
    return [
        [plain(device), 1e3 * start, 1e3 * end, plain(sort)]
        for device, start, end, sort in sorted(longest)
    ]


def _gap(timing: Timing) -> dict[str, Param]:
    """Return the longest gap, such as one between two pieces of work where there is any."""
    between = [gap for gap in timing.gaps if gap.reason not in ("start", "end")]
    # A host that waited is why all else came late.
    waited = [gap for gap in between if gap.reason == "blocked"]
    told_of = waited if _weighty(timing, "blocked") else between
    gap = max(told_of or timing.gaps, key=_length, default=None)
    if gap is None:
        return {}
    told: dict[str, Param] = {
        "device": plain(gap.device), "start": 1e3 * gap.start, "end": 1e3 * gap.end,
    }  # fmt: skip
    return {**told, "awaited": plain(gap.awaited)} if gap.awaited else told


def _length(gap: Gap) -> float:
    return gap.end - gap.start


def _cause(timing: Timing) -> dict[str, Param]:
    """Return the likely reason."""
    busy = [device for device, seconds in timing.busy.items() if seconds > 0]
    if len(busy) < 2:
        return {"cause": "one_alone", "busy": plain(busy[0])} if busy else {}
    if _weighty(timing, "blocked"):
        return {"cause": "host_waited"}
    if _weighty(timing, "launch", 2 * _WEIGHTY):
        return {"cause": "launches"}
    waiting = {gap.device for gap in timing.gaps if gap.reason in ("stream", "other")}
    if _weighty(timing, "stream") or _weighty(timing, "other"):
        both = len(waiting) > 1
        return {"cause": "sent_back"} if both else {"cause": "out_of_turn"}
    return {"cause": "one_after_another"}


def _weighty(timing: Timing, reason: str, share: float = _WEIGHTY) -> bool:
    """Whether a reason explains much of the idle time."""
    return timing.idle.get(reason, 0.0) > share * sum(timing.idle.values())
