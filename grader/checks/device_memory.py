"""``device_memory``: the most that was live at once on each device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from grader.checks.base import CaseInputs, Identifier, Probe
from grader.checks.findings import finding
from grader.checks.items import NoItemError, item_of
from grader.checks.traced import (
    DeviceName,
    Traced,
    no_trace,
    no_trace_expected,
)
from grader.checks.traces import DeviceTrace, is_on, natural, read_trace
from grader.observation import Observation
from grader.verdict import Basis, Code, Param, Verdict, passed
from grader.wire.values import Value

_SMALL = 64 * 2**10
"""Bytes that are never too many: allocators round up, and a loss is a tensor too."""
_ROOM = 4
"""Times the reference's peak that ``flat`` allows: beside ballast, any growth looks flat."""


class DeviceMemory(Traced):
    """Peak memory is no more than it should be, or does not grow.

    Attributes:
        times: How many times the reference's peak is allowed on each device; with ``flat``, the
            first one's. 1.5 where nothing is said.
        most_mb: So many MiB are allowed on each device.
        device: Only this one.
        flat: Two items of the scenario's dict, device reports or numbers of bytes: the second
            peak is compared with the first of the same hand-in, and is at most four times the
            reference's.
    """

    kind: Literal["device_memory"] = "device_memory"
    times: float | None = Field(default=None, ge=1, allow_inf_nan=False)
    most_mb: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    device: DeviceName | None = None
    flat: tuple[Identifier, Identifier] | None = None

    @model_validator(mode="after")
    def _fits(self) -> DeviceMemory:
        if self.flat is not None and (self.item is not None or self.most_mb is not None):
            other = "item" if self.item is not None else "most_mb"
            raise ValueError(f"“{other}” has no meaning with “flat”; remove it")
        return self

    def needs(self) -> frozenset[Probe]:
        """Return the source and, where no item tells, the probe of the whole call."""
        return frozenset({Probe.SOURCE}) if self.flat else super().needs()

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare peaks with the reference's, or with each other."""
        if self.flat is None:
            return super().judge(case, reference, submission)
        expected = _peaks(reference, self.flat, self.device)
        if expected is None:
            return no_trace_expected(reference)
        peaks = _peaks(submission, self.flat, self.device)
        if peaks is None:
            return no_trace(submission, as_item=True)
        return self._flat(expected[1], *peaks)

    def weigh(self, expected: DeviceTrace, actual: DeviceTrace) -> Verdict:
        """Compare the peak of each device."""
        for name, peak in actual.peaks.items():
            limit = self._limit(expected.peaks.get(name, 0))
            if is_on(name, self.device) and peak > max(limit, _SMALL):
                told: dict[str, Param] = {"device": name, "peak": peak, "limit": int(limit)}
                if not expected.peaks.get(name) and expected.peaks:
                    told |= {"cause": "should_be_empty"}
                return _too_much("device_memory", told)
        return passed(Basis.CLAIM)

    def _limit(self, reference: int) -> float:
        limits = []
        if self.times is not None or self.most_mb is None:
            limits.append((self.times or 1.5) * reference)
        if self.most_mb is not None:
            limits.append(self.most_mb * 2**20)
        return min(limits)

    def _flat(self, expected: int, first: int, second: int) -> Verdict:
        limit = (self.times or 1.5) * max(first, _SMALL)
        if second > limit:
            told: dict[str, Param] = {"first": first, "second": second, "limit": int(limit)}
            return _too_much("device_memory_grows", told)
        most = _ROOM * max(expected, _SMALL)
        if second > most:
            told = {"device": self.device or "cuda", "peak": second, "limit": most}
            return _too_much("device_memory", told)
        return passed(Basis.CLAIM)


def _peaks(seen: Observation, names: tuple[str, str], device: str | None) -> tuple[int, int] | None:
    try:
        values = [item_of(seen, name).claims.value for name in names]
    except NoItemError:
        return None
    first, second = (_peak(value, device) for value in values)
    return None if first is None or second is None else (first, second)


def _peak(value: Value, device: str | None) -> int | None:
    if type(value) is not int:
        trace = read_trace(value)
        return None if trace is None else _greatest(trace.peaks, device)
    try:
        return natural(value)
    except TypeError:
        return None


def _greatest(peaks: Mapping[str, int], device: str | None) -> int:
    return max((peak for name, peak in peaks.items() if is_on(name, device)), default=0)


def _too_much(message: str, params: dict[str, Param]) -> Verdict:
    return finding(Code.TOO_MUCH_MEMORY, message, params, Basis.CLAIM)
