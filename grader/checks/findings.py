"""Verdicts with their numbers, in plain JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping

from grader.verdict import Basis, Code, Message, Owner, Param, Status, Verdict


def finding(
    code: Code, message: str, params: Mapping[str, Param], basis: Basis = Basis.FACT
) -> Verdict:
    """Return a failed verdict of the student's own doing; its numbers are its evidence too."""
    told = Message(message, params)
    return Verdict(Status.FAILED, code, Owner.STUDENT, 0.0, told, params, basis)


def number(value: float) -> Param:
    """Return a number that JSON has: NaN and the infinities become words."""
    return value if math.isfinite(value) else str(value)


def plain(text: str) -> str:
    """Return text that every encoding of Unicode can write (a lone surrogate cannot be)."""
    return text.encode("utf-8", "replace").decode("utf-8")
