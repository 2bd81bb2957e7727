"""The check ``overlap``: devices side by side, not one after the other."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from observed import CASE, seen
from pydantic import ValidationError

from grader.checks.judge import judge_case
from grader.checks.overlap import Overlap, read_timeline
from grader.report.messages.catalogue import ENGLISH
from grader.static_analysis.facts import EntryFacts
from grader.verdict import Basis, Code, Owner, Verdict

A, B = "cuda:0", "cuda:1"
IDLE = {"start": 0.001, "end": 0.001, "stream": 0.0, "other": 0.0, "launch": 0.0, "blocked": 0.0}
CHECK = Overlap(id="o", points=1, item="forward", at_least=0.6)


def gap(device: str, reason: str, start: float = 0.002, end: float = 0.005, awaited: str = A):
    return {
        "device": device, "start": start, "end": end, "waited": reason, "for": awaited,
        "before": "mm", "phase": "forward",
    }  # fmt: skip


def timing(elapsed: float, gaps: tuple[Any, ...] = (), **changes: Any) -> dict[Any, Any]:
    """A millisecond of each of 10 on two devices could be side by side."""
    return {
        "profile": "v100", "elapsed": elapsed, "serial": 0.020, "ideal": 0.010,
        "devices": {A: {"busy": 0.010, "kernels": 9}, B: {"busy": 0.010, "kernels": 9}},
        "idle": {**IDLE, **changes.pop("idle", {})},
        "critical": {A: 0.01, B: 0.002, "copies": 0.0, "host": 0.0},
        "gaps": list(gaps), "rows": [], **changes,
    }  # fmt: skip


GOOD = timing(0.012)


def judged(actual: Any, expected: Any = GOOD, source: EntryFacts | None = None) -> Verdict:
    pair = [seen({"forward": expected}), seen({"forward": actual})]
    if source is not None:
        pair[1] = replace(pair[1], source=source)
    return judge_case(CHECK, CASE, pair[0], pair[1])


@pytest.mark.parametrize(
    ("elapsed", "passes"), [(0.0101, True), (0.0139, True), (0.0141, False), (0.025, False)]
)
def test_a_share_of_what_can_be_saved_is_asked_for(elapsed, passes) -> None:
    verdict = judged(timing(elapsed))
    assert verdict.basis is Basis.CLAIM
    assert verdict.code is (Code.OK if passes else Code.NOT_OVERLAPPED)


def test_work_that_nobody_asked_for_does_not_help() -> None:
    verdict = judged(timing(0.024, serial=0.040, ideal=0.020))
    assert (verdict.code, verdict.message.id) == (Code.NOT_OVERLAPPED, "overlap_slow")
    assert "at most 18.0 ms" in ENGLISH.for_staff(verdict)


def test_a_token_of_work_is_not_enough() -> None:
    def busy(seconds: float) -> Any:
        devices = {name: {"busy": seconds, "kernels": 1} for name in (A, B)}
        return timing(seconds, serial=2 * seconds, ideal=seconds, devices=devices)

    assert judged(busy(0.0051)).code is Code.OK
    verdict = judged(busy(0.0049))
    assert (verdict.code, verdict.message.id) == (Code.NOT_OVERLAPPED, "overlap_token")
    assert "for 9.8 ms in all, at least 10.0 ms" in ENGLISH.for_staff(verdict)


@pytest.mark.parametrize(
    ("actual", "cause"),
    [
        (timing(0.02), "one_after_another"),
        (timing(0.02, idle={"blocked": 0.005}), "host_waited"),
        (timing(0.02, (gap(B, "stream"),), idle={"stream": 0.005}), "out_of_turn"),
        (timing(0.02, (gap(B, "stream"), gap(A, "other")), idle={"stream": 0.005}), "sent_back"),
        (timing(0.02, idle={"launch": 0.02}), "launches"),
        (
            timing(0.02, devices={A: {"busy": 0.02, "kernels": 9}, B: {"busy": 0, "kernels": 0}}),
            "one_alone",
        ),
    ],
)
def test_the_cause_is_told(actual, cause) -> None:
    verdict = judged(actual)
    assert verdict.message.params["cause"] == cause
    assert len(ENGLISH.for_staff(verdict)) > 150


def test_the_longest_gap_between_work_is_told() -> None:
    actual = timing(
        0.02, (gap(A, "end", 0.01, 0.02, ""), gap(B, "blocked"), gap(B, "stream", 0.0, 0.001))
    )
    text = ENGLISH.for_staff(judged(actual))
    assert "saves 0% of what it could save, at least 60% expected: 20.0 ms" in text
    assert "Longest idle gap: cuda:1, from 2.0 to 5.0 ms, waiting for cuda:0." in text


def test_a_gap_at_the_end_waits_for_nobody() -> None:
    text = ENGLISH.for_staff(judged(timing(0.02, (gap(A, "end", 0.01, 0.02, ""),))))
    assert "Longest idle gap: cuda:0, from 10.0 to 20.0 ms." in text


@pytest.mark.parametrize(
    "lie",
    [
        3, {}, {**GOOD, "elapsed": -1.0}, {**GOOD, "elapsed": float("nan")},
        {**GOOD, "serial": True}, {**GOOD, "gaps": [{}]}, {**GOOD, "devices": {A: 1}},
        {**GOOD, "profile": "x" * 300}, {**GOOD, "idle": {"start": "long"}},
    ],
)  # fmt: skip
def test_what_is_no_timeline_report_is_of_the_wrong_type(lie) -> None:
    assert judged(lie).code is Code.WRONG_TYPE
    verdict = judged(GOOD, lie)
    assert (verdict.code, verdict.owner) == (Code.REFERENCE_FAILED, Owner.INSTRUCTOR)


@pytest.mark.parametrize("seconds", [10**400, -(10**400), math.inf, math.nan])
def test_no_number_of_seconds_makes_the_judge_fail(seconds) -> None:
    verdict = judged(timing(seconds))
    assert (verdict.code, verdict.owner) == (Code.WRONG_TYPE, Owner.STUDENT)


def test_one_device_alone_saves_nothing() -> None:
    read = read_timeline(timing(0.02, serial=0.02, ideal=0.02))
    assert read is not None
    assert read.share == 0.0


def test_the_item_has_to_be_named() -> None:
    with pytest.raises(ValidationError, match="name the item"):
        Overlap(id="o", points=1)
