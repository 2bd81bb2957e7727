"""How many virtual GPUs, with how much memory, in place of what: as people write it."""

from __future__ import annotations

import re

_UNITS = {
    "": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip


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
