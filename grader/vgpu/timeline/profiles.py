"""Published constants of a GPU and its links, from data files that name the source of each number.

A file ``profiles/NAME.json`` maps each field of ``Profile`` to its value and its source. They are
read when this module is imported: behind a guest's walls there may be no more reading.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path

_OPTIONAL = {"sustained"}
FOLDER = Path(__file__).parent / "profiles"


@dataclass(frozen=True, slots=True)
class Profile:
    """A GPU, its links, and what the host spends on it.

    Attributes:
        name: Of the file.
        title: As its maker calls it.
        flops: Peak of float32 arithmetic without tensor cores, FLOP/s.
        bandwidth: Of device memory, bytes/s.
        floor: Shortest time of a kernel, s.
        launch: What the host spends on issuing one operation, s.
        memory: Bytes of device memory.
        peer: Bytes/s from one GPU to another, one way. Where GPUs cannot reach each other a copy
            goes through the host, which is slower: the file says which is meant.
        pinned: Bytes/s between a GPU and page-locked host memory, one way.
        pageable: Bytes/s between a GPU and ordinary host memory, one way.
        latency: Of a copy, beside the time of its bytes, s.
        sustained: The share of ``flops`` that a network reaches, where somebody has published a
            measurement; 1, the peak itself, where a file does not say.
    """

    name: str
    title: str
    flops: float
    bandwidth: float
    floor: float
    launch: float
    memory: int
    peer: float
    pinned: float
    pageable: float
    latency: float
    sustained: float = 1.0

    def slowed(self, factor: float, peer: float | None = None) -> Profile:
        """Return a card with ``factor`` times the peak and the bandwidth, and another link.

        Args:
            factor: Above 0.
            peer: Bytes/s between GPUs; as it is where None.
        """
        link = self.peer if peer is None else peer
        return replace(
            self, flops=self.flops * factor, bandwidth=self.bandwidth * factor, peer=link
        )


def profile(name: str) -> Profile:
    """Return the profile of that name.

    Raises:
        ValueError: There is none; says which there are.
    """
    try:
        return PROFILES[name]
    except KeyError:
        near = get_close_matches(name.lower(), PROFILES, n=1)
        hint = f"; did you mean “{near[0]}”?" if near else ""
        known = ", ".join(PROFILES)
        raise ValueError(f"“{name}” is no device profile; there are {known}{hint}") from None


def read(path: Path) -> Profile:
    """Return the profile that a file holds.

    Raises:
        ValueError: A field is missing, unknown, not above 0, or without a source.
    """
    told = json.loads(path.read_text(encoding="utf-8"))
    return _checked(path.name, path.stem, told)


def _checked(file: str, name: str, told: Mapping[str, Mapping[str, object]]) -> Profile:
    wanted = {field.name for field in fields(Profile)} - {"name"}
    for field in sorted((wanted ^ set(told)) - _OPTIONAL):
        what = "is missing" if field in wanted else "is no field of a profile"
        raise ValueError(f"{file}: “{field}” {what}")
    values = {}
    for field, entry in told.items():
        value = entry.get("value")
        if field != "title" and not (isinstance(value, (int, float)) and value > 0):
            raise ValueError(f"{file}: “{field}” must be a number above 0, not {value!r}")
        if not entry.get("source"):
            raise ValueError(f"{file}: “{field}” names no source")
        values[field] = value
    return Profile(name=name, **values)  # type: ignore[arg-type]


PROFILES: Mapping[str, Profile] = {path.stem: read(path) for path in sorted(FOLDER.glob("*.json"))}
