"""Kind ``placement``: parameters, buffers, gradients and output lie where the reference has them.

What decides is how much of which shape lies on which device. Names only serve messages: a
submission may call its layers as it likes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from grader.checks.base import NamePattern, Probe
from grader.checks.device_checks import DeviceCheck
from grader.checks.traces import CPU, items, mapping, natural, text
from grader.observation import Observation
from grader.verdict import Basis, Code, Param, Verdict, finding, passed, plain
from grader.wire.values import Value

TensorRole = Literal["parameter", "buffer", "gradient", "output"]
_ROLES: tuple[TensorRole, ...] = ("parameter", "buffer", "gradient", "output")


@dataclass(frozen=True, slots=True)
class Placed:
    """One tensor of a model, or of what it returned."""

    name: str
    kind: str
    device: str
    shape: tuple[int, ...]
    bytes: int


class Placement(DeviceCheck):
    """A model's tensors lie on the devices where the reference's lie.

    Attributes:
        kinds: Which tensors are looked at.
        match: ``shapes``: on each device as many of each shape; ``bytes``: as many bytes.
        within: With ``bytes``: by which share a device's bytes may differ.
        only: Only those that the reference calls so.
        replayed: The placement comes from ``repeat``: the stage ran the log again. A fact then.
    """

    report: ClassVar[str] = "placement"

    kind: Literal["placement"] = "placement"
    kinds: tuple[TensorRole, ...] = Field(default=_ROLES, min_length=1)
    match: Literal["shapes", "bytes"] = "shapes"
    within: Annotated[float, Field(ge=0, le=1)] = 0.0
    only: tuple[NamePattern, ...] = ()
    replayed: bool = False

    @model_validator(mode="after")
    def _fits(self) -> Placement:
        if self.match == "shapes" and self.within:
            raise ValueError("“within” has no meaning with match shapes; remove it")
        if self.match == "bytes" and self.only:
            raise ValueError("“only” has no meaning with match bytes; remove it")
        return self

    def needs(self) -> frozenset[Probe]:
        """Return the source, as second witness."""
        return frozenset({Probe.SOURCE})

    def devices_in(self, seen: Observation) -> list[Placed] | None:
        """Return the tensors in the report."""
        return placed_in(seen.claims.value)

    def weigh(self, expected: list[Placed], actual: list[Placed]) -> Verdict:
        """Compare what lies where."""
        wanted, own = self._meant(expected), [item for item in actual if self._counts(item)]
        found = self._bytes(wanted, own) if self.match == "bytes" else self._shapes(wanted, own)
        return passed(Basis.CLAIM) if found is None else _elsewhere(*found)

    def _counts(self, item: Placed) -> bool:
        # An empty buffer holds nothing: it remembers a device.
        return item.kind in self.kinds and (item.bytes > 0 or item.kind != "buffer")

    def _meant(self, entries: Sequence[Placed]) -> list[Placed]:
        return [
            item
            for item in entries
            if self._counts(item)
            and (not self.only or any(fnmatchcase(item.name, part) for part in self.only))
        ]

    def _bytes(
        self, wanted: Sequence[Placed], own: Sequence[Placed]
    ) -> tuple[str, dict[str, Param]] | None:
        due, have = _by_device(wanted), _by_device(own)
        for name in sorted({*due, *have}):
            found, expected = have.get(name, 0), due.get(name, 0)
            if abs(found - expected) > self.within * max(found, expected):
                params: dict[str, Param] = {"device": name, "found": found, "wanted": expected}
                return "placement_bytes", {**params, **_cause(wanted, own, None)}
        return None

    def _shapes(
        self, wanted: Sequence[Placed], own: Sequence[Placed]
    ) -> tuple[str, dict[str, Param]] | None:
        if self.only:
            own = _called_so(wanted, own)
        missing = _counted(wanted) - _counted(own)
        extra = _counted(own) - _counted(wanted)
        # With “only” extra tensors do not count: where a name is missing, all were taken.
        if not missing and (not extra or self.only):
            return None
        moved = _misplaced(wanted, own, missing, extra)
        if moved is not None:
            first, device, number = moved
            params: dict[str, Param] = {
                "name": plain(first.name), "actual": first.device,
                "expected": device, "misplaced": number, "total": len(wanted),
            }  # fmt: skip
            # What is returned is called “output”, or “output[…]”, which says it already.
            if not first.name.startswith(first.kind):
                params["what"] = first.kind
            return "placement_elsewhere", {**params, **_cause(wanted, own, first)}
        kind, device, _ = min(missing or extra)
        params = {"what": kind, "device": device}
        for word, entries in (("found", own), ("wanted", wanted)):
            there = [item for item in entries if (item.kind, item.device) == (kind, device)]
            params |= {word: len(there), f"{word}_bytes": sum(item.bytes for item in there)}
        return "placement_differs", {**params, **_cause(wanted, own, None)}


_Slot = tuple[str, str, tuple[int, ...]]


def _counted(entries: Sequence[Placed]) -> Counter[_Slot]:
    return Counter((item.kind, item.device, item.shape) for item in entries)


def _called_so(wanted: Sequence[Placed], own: Sequence[Placed]) -> list[Placed]:
    """Return those that are called as the wanted ones; all, where not every name is there."""
    names = {(item.kind, item.name) for item in wanted}
    named = [item for item in own if (item.kind, item.name) in names]
    return named if len(named) == len(names) else list(own)


def _misplaced(
    wanted: Sequence[Placed], own: Sequence[Placed], missing: Counter[_Slot], extra: Counter[_Slot]
) -> tuple[Placed, str, int] | None:
    """Return a tensor that lies elsewhere than it should, where it should, and how many do."""
    by_name = {(item.kind, item.name, item.shape): item.device for item in wanted}
    moved = []
    for item in own:
        homes = [
            device for kind, device, shape in missing if (kind, shape) == (item.kind, item.shape)
        ]
        if homes and extra[item.kind, item.device, item.shape]:
            moved.append((item, by_name.get((item.kind, item.name, item.shape), homes[0])))
    # Rather one that lies elsewhere by its name: any of one shape may be counted as extra.
    chosen = [(item, device) for item, device in moved if device != item.device] or moved
    return (*chosen[0], missing.total()) if chosen else None


def _cause(
    wanted: Sequence[Placed], own: Sequence[Placed], first: Placed | None
) -> dict[str, Param]:
    due, have = _by_device(wanted), _by_device(own)
    kinds = {item.kind for item in own}
    if "gradient" in {item.kind for item in wanted} - kinds:
        return {"cause": "no_gradients"}
    idle = sorted(name for name in due if not have.get(name))
    if len(have) == 1 and len(due) > 1 and idle:
        return {"cause": "all_on_one", "busy": next(iter(have)), "idle": idle[0]}
    if first is None:
        return {}
    if first.device == CPU:
        return {"cause": "never_on_gpu"}
    return {"cause": "left_on_gpu"} if _home(wanted, first) == CPU else {}


def _home(wanted: Sequence[Placed], item: Placed) -> str:
    return next((due.device for due in wanted if due.name == item.name), "")


def _elsewhere(message: str, params: dict[str, Param]) -> Verdict:
    return finding(Code.WRONG_DEVICE, message, params, Basis.CLAIM)


def _by_device(entries: Sequence[Placed]) -> dict[str, int]:
    total: dict[str, int] = {}
    for item in entries:
        total[item.device] = total.get(item.device, 0) + item.bytes
    return total


def placed_in(value: Value) -> list[Placed] | None:
    """Return the tensors in a placement, or None if it has another form."""
    try:
        return [_placed(text(name), mapping(item)) for name, item in mapping(value).items()]
    except (KeyError, TypeError):
        return None


def _placed(name: str, item: Mapping[Value, Value]) -> Placed:
    shape = tuple(natural(size) for size in items(item["shape"]))
    return Placed(name, text(item["kind"]), text(item["device"]), shape, natural(item["bytes"]))
