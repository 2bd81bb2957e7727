"""How many virtual GPUs, of which card, with how much memory: as people write it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from grader.vgpu.timeline.profiles import Profile, profile

_UNITS = {
    "": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip

_CARD, _SHAPES = "--card", "--no-arithmetic"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the line of a magic asks for.

    Attributes:
        count: Number of GPUs; None: those that are there, or one.
        memory: Bytes of each; None for no bound.
        card: Whose time it is to take; None for none.
        arithmetic: Whether anything is computed.
    """

    count: int | None = None
    memory: int | None = None
    card: Profile | None = None
    arithmetic: bool = True


def parse_line(words: list[str]) -> Asked:
    """Return what ``2 8GiB --card v100 --no-arithmetic`` asks for; all of it may be left out.

    Raises:
        ValueError: It is none of that, or there is no such card.
    """
    rest = list(words)
    card = None
    if _CARD in rest:
        at = rest.index(_CARD)
        # A card that is left out is told like one that does not exist: with the list of them.
        card = profile("".join(rest[at + 1 : at + 2]))
        del rest[at : at + 2]
    arithmetic = _SHAPES not in rest
    rest = [word for word in rest if word != _SHAPES]
    if len(rest) > 2 or any(word.startswith("-") for word in rest):
        raise ValueError(
            "write %vgpu 2, %vgpu 2 8GiB or %vgpu off; in a cell also %%vgpu 2 --card v100, and "
            "with that --no-arithmetic"
        )
    if not arithmetic and card is None:
        raise ValueError(f"{_SHAPES} leaves times alone: name a card for them, {_CARD} v100")
    count = parse_count(rest[0]) if rest else None
    return Asked(count, parse_size(rest[1]) if len(rest) == 2 else None, card, arithmetic)


def parse_picture(text: str) -> tuple[Path, str]:
    """Return a picture's file and its form, ``svg`` or ``png``.

    Raises:
        ValueError: The name has another ending.
    """
    path = Path(text)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        raise ValueError(f"“{text}” is no name of a picture; it must end in .svg or .png")
    return path, kind


def parse_time(text: str) -> float:
    """Return seconds: ``2.5s``, ``300ms``; a number alone is in seconds.

    Raises:
        ValueError: It is no time.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|ms|us|µs)?\s*", text)
    if found is None:
        raise ValueError(f"“{text}” is no time; write a number and a unit, such as 2.5s or 300ms")
    return float(found[1]) * {"ms": 1e-3, "us": 1e-6, "µs": 1e-6}.get(found[2], 1.0)


def parse_lap(text: str) -> int:
    """Return the number of a lap.

    Raises:
        ValueError: It is none from 1 on.
    """
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"“{text}” is no number of a lap; the first is 1")
    return int(text)


def parse_size(text: str) -> int:
    """Return bytes: ``8GiB``, ``512M`` and ``1.5 GB`` are understood.

    Raises:
        ValueError: It is no size, or less than a byte.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    unit = found[2].lower() if found else ""
    if found is None or unit not in _UNITS:
        raise ValueError(f"“{text}” is no size; write a number and a unit, such as 8GiB or 512MiB")
    size = int(float(found[1]) * _UNITS[unit])
    if size < 1:
        raise ValueError(f"“{text}” is less than one byte")
    return size


def parse_count(text: str) -> int:
    """Return a number of GPUs.

    Raises:
        ValueError: It is none from 1 to 64.
    """
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise ValueError(f"“{text}” is no number of GPUs; write one from 1 to 64")
    return int(text)


def parse_ranks(text: str) -> int:
    """Return a number of processes.

    Raises:
        ValueError: It is none from 1 to 64.
    """
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise ValueError(f"“{text}” is no number of processes; write one from 1 to 64")
    return int(text)


def parse_module(text: str) -> tuple[str, str]:
    """Return the name of a module and the file that answers to it.

    Raises:
        ValueError: It has another form than ``torchvision.models=resnet.py``.
    """
    name, _, file = text.partition("=")
    named = all(part.isidentifier() for part in name.split("."))
    if not named or not file.endswith(".py") or file.startswith("/"):
        raise ValueError(
            f"“{text}” is no module with a file beside the script; write "
            "torchvision.models.resnet=resnet.py"
        )
    return name, file
