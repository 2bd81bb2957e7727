"""Kinds ``transfers``, ``ran_on`` and ``device_memory``: what devices copied, computed and held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Literal

from pydantic import Field, field_validator, model_validator

from grader.checks.base import CaseInputs, Identifier, NamePattern, Probe
from grader.checks.compare_trees import NoItemError, item_of
from grader.checks.counts import refusal
from grader.checks.device_checks import (
    UNREPEATED,
    DeviceCheck,
    DeviceName,
    TraceCheck,
    no_report_expected,
)
from grader.checks.traces import (
    CPU,
    DeviceTrace,
    KernelWork,
    Route,
    is_on,
    natural,
    read_trace,
)
from grader.observation import Observation
from grader.speed_statistics.credit import Share
from grader.verdict import Basis, Code, Param, Verdict, finding, passed
from grader.wire.values import Value

CountRule = Literal["exactly", "at_most", "at_least"]


class Transfers(TraceCheck):
    """Copies in one direction, or in all, are as many as they should be.

    Attributes:
        source: Only copies from there; ``cuda`` is any GPU. From anywhere where absent.
        target: Only copies to there.
        count: Their number, compared with the reference's.
        bytes: Their bytes, compared with the reference's; not looked at where absent.
        most: Instead of ``count``: at most so many.
        least: Instead of ``count``: at least so many.
        parameters: ``forbidden``: none of them copies a model's parameter.
    """

    kind: Literal["transfers"] = "transfers"
    source: DeviceName | None = None
    target: DeviceName | None = None
    count: CountRule | None = None
    bytes: CountRule | None = None
    most: int | None = Field(default=None, ge=0)
    least: int | None = Field(default=None, ge=0)
    parameters: Literal["allowed", "forbidden"] = "allowed"

    @model_validator(mode="after")
    def _one_bound(self) -> Transfers:
        absolute = self.most is not None or self.least is not None
        if absolute and self.count is not None:
            raise ValueError("found “count” beside “most” or “least”; keep what is meant")
        if self.most is not None and self.least is not None and self.least > self.most:
            raise ValueError(f"least {self.least} is more than most {self.most}")
        said = (self.count, self.bytes, self.most, self.least)
        if self.parameters == "allowed" and said == (None,) * 4:
            raise ValueError("nothing is compared; give count, bytes, most, least or parameters")
        return self

    def weigh(self, expected: DeviceTrace, actual: DeviceTrace) -> Verdict:
        """Compare number and bytes of the copies in this direction."""
        own, due = self._routes(actual), self._routes(expected)
        found, wanted = _total(own), _total(due)
        if self.parameters == "forbidden" and (copied := sum(item.parameters for item in own)):
            params: dict[str, Param] = {"parameters": copied, **self._direction()}
            return _wrong("parameters_copied", {**params, "cause": "parameters_copied"})
        low, high = self._bounds(wanted[0])
        if not low <= found[0] <= high:
            return self._count(found, (low, high), own)
        low, high = _range(self.bytes, wanted[1])
        if not low <= found[1] <= high:
            params = {"bytes": found[1], "wanted": wanted[1], **self._direction()}
            return _wrong("transfers_bytes", params)
        return passed(Basis.CLAIM)

    def _routes(self, trace: DeviceTrace) -> list[Route]:
        return [
            route
            for route in trace.routes
            if is_on(route.source, self.source) and is_on(route.target, self.target)
        ]

    def _bounds(self, wanted: int) -> tuple[float, float]:
        if self.most is None and self.least is None:
            return _range(self.count, wanted)
        return self.least or 0, float("inf") if self.most is None else self.most

    def _direction(self) -> dict[str, Param]:
        return {"source": self.source or "any device", "target": self.target or "any device"}

    def _count(
        self, found: tuple[int, int], bounds: tuple[float, float], own: list[Route]
    ) -> Verdict:
        params: dict[str, Param] = {"found": found[0], "bytes": found[1], **self._direction()}
        if found[0] < bounds[0]:
            params |= {"least": int(bounds[0]), **self._why_too_few(found[0])}
            return _wrong("transfers_few", params)
        params |= {"most": int(bounds[1])}
        if any(item.parameters for item in own):
            params |= {"cause": "parameters_copied"}
        elif any(_back(item, own) for item in own):
            params |= {"cause": "back_and_forth"}
        return _wrong("transfers_many", params)

    def _why_too_few(self, found: int) -> dict[str, Param]:
        if found or self.source is None or self.target is None:
            return {}
        if self.source == CPU:
            return {"cause": "never_on_gpu"}
        return {"cause": "left_on_gpu" if self.target == CPU else "activation_not_moved"}


def _back(route: Route, routes: list[Route]) -> bool:
    return any((item.source, item.target) == (route.target, route.source) for item in routes)


def _total(routes: list[Route]) -> tuple[int, int]:
    return sum(item.count for item in routes), sum(item.bytes for item in routes)


def _range(compared: CountRule | None, wanted: int) -> tuple[float, float]:
    low = wanted if compared in ("exactly", "at_least") else 0
    high = wanted if compared in ("exactly", "at_most") else float("inf")
    return low, high


def _wrong(message: str, params: dict[str, Param]) -> Verdict:
    return finding(Code.WRONG_TRANSFERS, message, params, Basis.CLAIM)


class RanOn(TraceCheck):
    """Enough of the work was done on a device, or each device did the reference's share of it.

    Attributes:
        device: ``cuda`` is any GPU. Without one, shares of all devices are compared.
        ops: ATen names of the operations that are meant; all where absent.
        least: With ``device``: share of their FLOPs that must be done there.
        of_reference: With ``device``: and at least so many times the FLOPs that the reference does
            there, so that a token product is not enough.
        within: Without ``device``: how far a device's share may be from the reference's.
        on_host: At most so many times the FLOPs that the reference does in all may be done on the
            CPU, whatever ``ops`` says: more work elsewhere makes up for none of it.
    """

    kind: Literal["ran_on"] = "ran_on"
    device: DeviceName | None = None
    ops: tuple[NamePattern, ...] = ()
    least: Share = 0.9
    of_reference: Share = 0.5
    within: Share = 0.15
    on_host: Share | None = None

    @field_validator("ops")
    @classmethod
    def _known(cls, ops: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in ops:
            if problem := refusal(pattern, instead="name those, such as “mm” for “matmul”"):
                raise ValueError(problem)
        return ops

    @model_validator(mode="after")
    def _fits(self) -> RanOn:
        given = self.model_fields_set
        idle = {"within"} if self.device else {"least", "of_reference"}
        if given & idle:
            name = min(given & idle)
            other = "with" if self.device else "without"
            raise ValueError(f"“{name}” has no meaning {other} “device”; remove it")
        return self

    def operations(self) -> tuple[str, ...]:
        """Return the operations that are meant."""
        return self.ops

    def weigh(self, expected: DeviceTrace, actual: DeviceTrace) -> Verdict:
        """Compare the FLOPs by device."""
        # All operations, whatever “ops” names: else the real work could be done on the CPU by
        # others.
        host, most = actual.flops()[CPU], (self.on_host or 0) * sum(expected.flops().values())
        if self.on_host is not None and host > most:
            return _elsewhere("ran_on_host", {"flops": host, "most": int(most)})
        own, due = self._flops(actual), self._flops(expected)
        if self.device is None:
            return self._shares(own, due)
        there, wanted = self._there(own), self._there(due)
        total = sum(own.values())
        # Both: the share alone would let a token product on the GPU pass, the amount alone decoy
        # work.
        if there >= self.of_reference * wanted and there >= self.least * total:
            return passed(Basis.CLAIM)
        params: dict[str, Param] = {
            "share": 100 * there / total if total else 0.0, "device": self.device,
            "least": 100 * self.least, "ops": list(self.ops), **_where(own, self.device),
        }  # fmt: skip
        if there and there >= self.least * total:
            params |= {"flops": there, "wanted": int(self.of_reference * wanted)}
            return _elsewhere("ran_too_little", params)
        return _elsewhere("ran_elsewhere", {**params, **_computed_then_moved(actual, there)})

    def _flops(self, trace: DeviceTrace) -> dict[str, int]:
        total = dict.fromkeys((*trace.devices, CPU), 0)
        for item in trace.work:
            if self._meant(item):
                # A report is a claim: it may tell of work on a device that it does not list.
                total[item.device] = total.get(item.device, 0) + item.flops
        return total

    def _meant(self, work: KernelWork) -> bool:
        return not self.ops or any(fnmatchcase(work.op, item) for item in self.ops)

    def _there(self, flops: Mapping[str, int]) -> int:
        return sum(number for name, number in flops.items() if is_on(name, self.device))

    def _shares(self, own: Mapping[str, int], due: Mapping[str, int]) -> Verdict:
        off = {
            name: (_share(own, name), _share(due, name))
            for name in {*own, *due}
            if abs(_share(own, name) - _share(due, name)) > self.within
        }
        if not off:
            return passed(Basis.CLAIM)
        # Sorted: of two that are equally far off, every run has to name the same.
        name = max(sorted(off), key=lambda key: abs(off[key][0] - off[key][1]))
        params: dict[str, Param] = {
            "device": name, "share": 100 * off[name][0], "wanted": 100 * off[name][1],
            **_where(own, name),
        }  # fmt: skip
        return _elsewhere("ran_unevenly", {**params, **_all_on_one(own, due)})


def _share(flops: Mapping[str, int], name: str) -> float:
    return flops.get(name, 0) / max(sum(flops.values()), 1)


def _where(flops: Mapping[str, int], wanted: str) -> dict[str, Param]:
    """Return which other device did the most."""
    others = {name: number for name, number in flops.items() if not is_on(name, wanted) and number}
    return {"other": max(others, key=others.__getitem__)} if others else {}


def _computed_then_moved(actual: DeviceTrace, there: int) -> dict[str, Param]:
    to_gpu = any(is_on(route.target, "cuda") for route in actual.routes)
    if there:
        return {}
    if actual.dropped:
        return {"cause": "work_dropped"}
    return {"cause": "computed_then_moved" if to_gpu else "never_on_gpu"}


def _all_on_one(own: Mapping[str, int], due: Mapping[str, int]) -> dict[str, Param]:
    busy = [name for name, number in own.items() if number]
    idle = sorted(name for name, number in due.items() if number and not own.get(name))
    if len(busy) != 1 or not idle:
        return {}
    return {"cause": "all_on_one", "busy": busy[0], "idle": idle[0]}


def _elsewhere(message: str, params: dict[str, Param]) -> Verdict:
    return finding(Code.RAN_ELSEWHERE, message, params, Basis.CLAIM)


_SMALL = 64 * 2**10
"""Bytes that are never too many: allocators round up, and a loss is a tensor too."""
_ROOM = 4
"""Times the reference's peak that ``flat`` allows: beside ballast, any growth looks flat."""


class DeviceMemory(TraceCheck):
    """Peak memory is no more than it should be, or does not grow.

    Attributes:
        times: How many times the reference's peak is allowed on each device; with ``flat``, the
            first one's. 1.5 where nothing is said.
        most_mb: So many MiB are allowed on each device.
        device: Only this one.
        flat: Two items of the scenario's dict, device reports or numbers of bytes: the second
            peak is compared with the first of the same submission, and is at most four times the
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
            return no_report_expected(reference, self.report)
        peaks = _peaks(submission, self.flat, self.device)
        if peaks is None:
            return DeviceCheck.unreported(self, _without_repeats(submission, self.flat))
        verdict = self._flat(expected[1], *peaks)
        return replace(verdict, basis=Basis.FACT) if self.replayed else verdict

    def weigh(self, expected: DeviceTrace, actual: DeviceTrace) -> Verdict:
        """Compare the peak of each device."""
        for name, peak in actual.peaks.items():
            limit = self._limit(expected.peaks.get(name, 0))
            if is_on(name, self.device) and peak > max(limit, _SMALL):
                params: dict[str, Param] = {"device": name, "peak": peak, "limit": int(limit)}
                if not expected.peaks.get(name) and expected.peaks:
                    params |= {"cause": "should_be_empty"}
                return _too_much("device_memory", params)
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
            params: dict[str, Param] = {"first": first, "second": second, "limit": int(limit)}
            return _too_much("device_memory_grows", params)
        # Compared with the reference too: who allocates ballast in the first run looks flat in
        # both.
        most = _ROOM * max(expected, _SMALL)
        if second > most:
            params = {"device": self.device or "cuda", "peak": second, "limit": most}
            return _too_much("device_memory", params)
        return passed(Basis.CLAIM)


def _without_repeats(seen: Observation, names: tuple[str, str]) -> Observation:
    """Return what stands for an observation of which one of two logs was not run again."""
    value = seen.claims.value
    parts = [value.get(name) for name in names] if isinstance(value, dict) else []
    if UNREPEATED in parts:
        return replace(seen, claims=replace(seen.claims, value=UNREPEATED))
    return seen


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
