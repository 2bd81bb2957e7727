"""``transfers``: what is copied between devices, how often and which way."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from grader.checks.findings import finding
from grader.checks.traced import DeviceName, Traced
from grader.checks.traces import CPU, DeviceTrace, Route, is_on
from grader.verdict import Basis, Code, Param, Verdict, passed

Compared = Literal["exactly", "at_most", "at_least"]


class Transfers(Traced):
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
    count: Compared | None = None
    bytes: Compared | None = None
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
            told: dict[str, Param] = {"parameters": copied, **self._direction()}
            return _wrong("parameters_copied", {**told, "cause": "parameters_copied"})
        low, high = self._bounds(wanted[0])
        if not low <= found[0] <= high:
            return self._count(found, (low, high), own)
        low, high = _range(self.bytes, wanted[1])
        if not low <= found[1] <= high:
            told = {"bytes": found[1], "wanted": wanted[1], **self._direction()}
            return _wrong("transfers_bytes", told)
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
        told: dict[str, Param] = {"found": found[0], "bytes": found[1], **self._direction()}
        if found[0] < bounds[0]:
            told |= {"least": int(bounds[0]), **self._why_too_few(found[0])}
            return _wrong("transfers_few", told)
        told |= {"most": int(bounds[1])}
        if any(item.parameters for item in own):
            told |= {"cause": "parameters_copied"}
        elif any(_back(item, own) for item in own):
            told |= {"cause": "back_and_forth"}
        return _wrong("transfers_many", told)

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


def _range(compared: Compared | None, wanted: int) -> tuple[float, float]:
    low = wanted if compared in ("exactly", "at_least") else 0
    high = wanted if compared in ("exactly", "at_most") else float("inf")
    return low, high


def _wrong(message: str, params: dict[str, Param]) -> Verdict:
    return finding(Code.WRONG_TRANSFERS, message, params, Basis.CLAIM)
