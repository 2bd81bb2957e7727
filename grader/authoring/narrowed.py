"""An assignment without the checks that a platform cannot grade, for its pack.

What is left is an assignment like any other: its questions' points are those of their checks, and
the platform's total is theirs. Reports on it do not mix with reports on the whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from grader.assignment.document import read_document
from grader.errors import UsageError

CheckName = tuple[str, str]
"""Ids of a question and of a check of it."""

_Node = dict[str, Any]
_PARTS = 100


def narrowed(file: str, content: bytes, without: Collection[CheckName], scale: bool) -> bytes:
    """Return the text of an assignment file without some checks.

    Questions that have none left go too, and so do cases that nothing judges any more.

    Args:
        file: Name of the file, for messages.
        content: The file; without mistakes.
        without: What is left out.
        scale: The rest is worth as much as all were, in hundredths of a point.

    Raises:
        UsageError: Nothing worth points is left.
    """
    data = read_document(file, content).data
    total = math.fsum(check["points"] for check in _checks(data))
    data["questions"] = [
        question
        for each in data["questions"]
        if (question := _without(each, {check for name, check in without if name == each["id"]}))
    ]
    left = [check for check in _checks(data) if check["points"]]
    if not left:
        raise UsageError(
            f"{file}: none of its points can be given on that platform; grade it on a machine of "
            "yours, with `grader batch`"
        )
    if scale:
        _scale(left, total)
    for question in data["questions"]:
        question["points"] = round(math.fsum(check["points"] for check in question["checks"]), 6)
    # JSON is YAML, and leaves no doubt what is a number.
    return json.dumps(data, indent=1, ensure_ascii=False).encode()


def _checks(data: Mapping[str, Any]) -> Iterator[_Node]:
    for question in data["questions"]:
        yield from question["checks"]


def _without(question: _Node, names: Collection[str]) -> _Node | None:
    # Copies: what an alias repeats in the file is one and the same object here.
    checks = [_free(check, names) for check in question["checks"] if check["id"] not in names]
    if not checks:
        return None
    judged = {name for check in checks for name in check.get("cases") or ()}
    judged |= {check["case"] for check in checks if "case" in check}
    timed = question.get("timed")
    judged |= {timed["case"]} if timed else set()
    every = any(check.get("cases") is None for check in checks)
    cases = [case for case in question["cases"] if every or case["id"] in judged]
    return {**question, "cases": cases, "checks": checks}


def _free(check: _Node, names: Collection[str]) -> _Node:
    kept = dict(check)
    if check.get("requires"):
        kept["requires"] = [name for name in check["requires"] if name not in names]
    return kept


def _scale(checks: list[_Node], total: float) -> None:
    """Give the checks all of the total, in whole hundredths; the largest remainders go up."""
    factor = total / math.fsum(check["points"] for check in checks)
    exact = [check["points"] * factor * _PARTS for check in checks]
    parts = [math.floor(each + 1e-6) for each in exact]
    over = round(total * _PARTS) - sum(parts)
    by_remainder = sorted(range(len(checks)), key=lambda index: parts[index] - exact[index])
    for index in by_remainder[:over]:
        parts[index] += 1
    for check, part in zip(checks, parts, strict=True):
        check["points"] = part / _PARTS
