"""What a program came to, in plain values that can be compared and written down."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from typing import Any

import torch

from gpu.programs import PROGRAMS, Program


def outcome(program: Program) -> Any:
    """Run a program; return its values, or the type and words of what it raised."""
    try:
        return plain_value(program.run())
    except Exception as error:  # noqa: BLE001 whatever is raised is the outcome
        return {"raised": type(error).__name__, "words": str(error)}


def plain_value(value: Any) -> Any:
    """Return a value as JSON would have it; a tensor as device, type, gradient and elements."""
    if isinstance(value, torch.Tensor):
        return {
            "device": str(value.device),
            "dtype": str(value.dtype),
            "requires_grad": value.requires_grad,
            "values": _rounded(value.detach().cpu().tolist()),
        }
    if isinstance(value, dict):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    return _rounded(value) if isinstance(value, float) else str(value)


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    # Five digits: processors differ beyond.
    return float(f"{value:.5g}") if isinstance(value, float) else value


def differences(one: Any, other: Any, where: str = "outcome") -> Iterator[str]:
    """Yield where two outcomes differ; numbers may by a ten-thousandth, as processors do."""
    if isinstance(one, float) and isinstance(other, float):
        if not math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-6):
            yield f"{where}: {one} and {other}"
    elif isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from differences(first, second, f"{where}[{index}]")
    elif one != other or type(one) is not type(other):
        yield f"{where}: {one!r} and {other!r}"


def main() -> None:
    """Print the outcomes of all programs that the machine's devices allow, as JSON by name."""
    found = {}
    for program in PROGRAMS:
        if program.devices <= torch.cuda.device_count():
            torch.cuda.set_device(0)
            found[program.name] = outcome(program)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
