"""``ran_on``: the work was done on the device that it was meant for."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import Field, model_validator

from grader.checks.findings import finding
from grader.checks.ops import Pattern
from grader.checks.traced import DeviceName, Traced
from grader.checks.traces import CPU, DeviceTrace, Work, is_on
from grader.verdict import Basis, Code, Param, Verdict, passed

Share = Annotated[float, Field(ge=0, le=1)]


class RanOn(Traced):
    """So much of the work was done on a device, or on each device as much as by the reference.

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
    ops: tuple[Pattern, ...] = ()
    least: Share = 0.9
    of_reference: Share = 0.5
    within: Share = 0.15
    on_host: Share | None = None

    @model_validator(mode="after")
    def _fits(self) -> RanOn:
        given = self.model_fields_set
        idle = {"within"} if self.device else {"least", "of_reference"}
        if given & idle:
            name = min(given & idle)
            other = "with" if self.device else "without"
            raise ValueError(f"“{name}” has no meaning {other} “device”; remove it")
        return self

    def weigh(self, expected: DeviceTrace, actual: DeviceTrace) -> Verdict:
        """Compare the FLOPs by device."""
        host, most = actual.flops()[CPU], (self.on_host or 0) * sum(expected.flops().values())
        if self.on_host is not None and host > most:
            return _elsewhere("ran_on_host", {"flops": host, "most": int(most)})
        own, due = self._flops(actual), self._flops(expected)
        if self.device is None:
            return self._shares(own, due)
        there, wanted = self._there(own), self._there(due)
        total = sum(own.values())
        if there >= self.of_reference * wanted and there >= self.least * total:
            return passed(Basis.CLAIM)
        told: dict[str, Param] = {
            "share": 100 * there / total if total else 0.0, "device": self.device,
            "least": 100 * self.least, "ops": list(self.ops), **_where(own, self.device),
        }  # fmt: skip
        if there and there >= self.least * total:
            told |= {"flops": there, "wanted": int(self.of_reference * wanted)}
            return _elsewhere("ran_too_little", told)
        return _elsewhere("ran_elsewhere", {**told, **_computed_then_moved(actual, there)})

    def _flops(self, trace: DeviceTrace) -> dict[str, int]:
        total = dict.fromkeys((*trace.devices, CPU), 0)
        for item in trace.work:
            if self._meant(item):
                total[item.device] = total.get(item.device, 0) + item.flops
        return total

    def _meant(self, work: Work) -> bool:
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
        name = max(sorted(off), key=lambda key: abs(off[key][0] - off[key][1]))
        told: dict[str, Param] = {
            "device": name, "share": 100 * off[name][0], "wanted": 100 * off[name][1],
            **_where(own, name),
        }  # fmt: skip
        return _elsewhere("ran_unevenly", {**told, **_all_on_one(own, due)})


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
    return {"cause": "computed_then_moved" if to_gpu else "never_on_gpu"}


def _all_on_one(own: Mapping[str, int], due: Mapping[str, int]) -> dict[str, Param]:
    busy = [name for name, number in own.items() if number]
    idle = sorted(name for name, number in due.items() if number and not own.get(name))
    if len(busy) != 1 or not idle:
        return {}
    return {"cause": "all_on_one", "busy": busy[0], "idle": idle[0]}


def _elsewhere(message: str, params: dict[str, Param]) -> Verdict:
    return finding(Code.RAN_ELSEWHERE, message, params, Basis.CLAIM)
