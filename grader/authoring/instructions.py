"""The instructions that go with a pack, and the assignment without what its platform cannot grade.

The instructions say how many points the pack is worth, which of them can be earned there, and how
long a run takes. A shortened assignment is an assignment like any other: its checks add up to its
questions' points, and these to the platform's total. Its reports do not mix with reports on the
whole assignment.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grader.assignment.cells import MISTAKES, split_cells
from grader.assignment.document import read_document
from grader.assignment.find import FILE_NAME
from grader.assignment.translation import file_of, text_of, translations
from grader.assignment.types import Assignment
from grader.authoring.platform_dry_run import Reach, Unearned, Why
from grader.errors import UsageError
from grader.report.summary import amount, counted
from grader.run.materials import Materials

Unreachable = Literal["keep", "leave-out", "scale"]
"""What becomes of checks that nobody can pass on the platform: they stay, pending; they are left
out; or they are left out, and the others are worth as much as all were."""

_MINUTE = 60
_USUAL_MINUTES = 10
_MOST_MINUTES = 40


@dataclass(frozen=True, slots=True)
class Terms:
    """What is packed for which platform.

    Attributes:
        assignment: The whole of it.
        platform: Its name in a sentence.
        tier: Isolation tier that is insisted on there.
        unreachable: What becomes of checks that nobody can pass there.
        reach: What the reference earned.
    """

    assignment: Assignment
    platform: str
    tier: str
    unreachable: Unreachable
    reach: Reach

    @property
    def total(self) -> float:
        """Points that the assignment is worth there."""
        return self.reach.within if self.unreachable == "leave-out" else self.reach.maximum


def assignment_file(materials: Materials, terms: Terms) -> bytes:
    """Return the content of the assignment's file as it is packed.

    Raises:
        UsageError: Nothing worth points is left.
    """
    path = materials.folder / FILE_NAME
    beyond = {(each.question, each.check) for each in terms.reach.of(Why.OUT_OF_REACH)}
    if terms.unreachable == "keep" or not beyond:
        return path.read_bytes()
    return narrowed(str(path), path.read_bytes(), beyond, terms.unreachable == "scale")


def files_beside(materials: Materials, packed: bytes) -> dict[str, bytes | None]:
    """Return the files that name questions, without those questions that are not packed.

    Args:
        materials: The whole assignment.
        packed: Content of its file as it is packed.

    Returns:
        Path below the root → content; None for a file of which nothing is left. {} where no
        question went.
    """
    ids = [question.id for question in materials.assignment.questions]
    left = [question["id"] for question in read_document(FILE_NAME, packed).data["questions"]]
    if len(left) == len(ids):
        return {}
    files: dict[Path, bytes | None] = {
        materials.folder / file_of(language): text_of(words, left).encode()
        for language, words in translations(materials.folder, ids).items()
    }
    known = materials.reference_folder / MISTAKES
    if known.is_file():
        asked = {
            name
            for question in materials.assignment.questions
            if question.id in left
            for name in question.names
        }
        cells = split_cells(known.read_text(encoding="utf-8"))
        kept = [cell.text for cell in cells if asked.intersection(cell.defines())]
        files[known] = (cells[0].head + "".join(kept)).encode() if kept else None
    return {path.relative_to(materials.root).as_posix(): data for path, data in files.items()}


def points_text(terms: Terms) -> str:
    """Return which points can be earned on the platform, and why others cannot."""
    reach = terms.reach
    lines = [*_beyond(terms)]
    if reach.uncounted:
        lines += [
            "These need a real GPU, which the course does not have. They are out of the maximum:",
            *_rows(reach.uncounted, terms.assignment),
        ]
    if by_hand := reach.of(Why.BY_HAND):
        lines += [
            "A person gives these (`grader decide`). They stay pending there until you bring the "
            "scores back (docs/platforms.md):",
            *_rows(by_hand, terms.assignment),
        ]
    if undecided := reach.of(Why.UNDECIDED):
        lines += [
            "On these the reference was left undecided here. A submission may be, too; its points "
            "are pending then, not lost:",
            *_rows(undecided, terms.assignment),
        ]
    if lost := reach.of(Why.LOST):
        lines += [
            "The reference itself did not earn these here. Pack again when the machine has nothing "
            "else to do. What is left then, mend before you upload (`grader lint` tells more):",
            *_rows(lost, terms.assignment),
        ]
    return "".join(f"{line}\n" for line in (*lines, _method(terms)))


def time_text(seconds: float, hanging: float) -> str:
    """Return whether a run fits into the time that Gradescope gives, and what to set if not.

    Args:
        seconds: The run of the reference.
        hanging: Seconds that a submission may take beyond, which hangs in every question.
    """
    most = (seconds + hanging) / _MINUTE
    every = os.cpu_count() or 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else every
    lines = (
        f"Grading the reference took {seconds:.0f} s here, with {counted(cores, 'core')}.",
        f"A submission that hangs in every question may take {math.ceil(most)} min.",
        f"Gradescope ends a run after {_USUAL_MINUTES} min, with 0 points: " + _limit(most),
    )
    return "\n".join(lines)


def _limit(most: float) -> str:
    if most <= _USUAL_MINUTES:
        return "that fits."
    if most <= _MOST_MINUTES:
        return f"set its time limit to {min(_MOST_MINUTES, math.ceil(most * 1.2))} min."
    return (
        f"set its time limit to {_MOST_MINUTES} min, the most that it has, and lower "
        "limits: {seconds: …} in the assignment."
    )


def _beyond(terms: Terms) -> list[str]:
    reach, points = terms.reach, counted(terms.reach.maximum, "point")
    beyond = reach.of(Why.OUT_OF_REACH)
    if not beyond:
        waiting = math.fsum(each.points for each in reach.of(Why.BY_HAND) if not each.bonus)
        by_hand = f"; {amount(waiting)} of them wait for a person" if waiting else ""
        return [f"On {terms.platform} students can earn all {points}{by_hand}."]
    if terms.unreachable == "leave-out":
        fate = f"They are left out: the assignment is worth {amount(terms.total)} there."
    elif terms.unreachable == "scale":
        fate = f"They are left out, and the others are worth {amount(terms.total)} together."
    else:
        fate = (
            "They stay pending there. Either have a machine of yours grade them and bring the "
            "scores back (docs/platforms.md), or pack again with --unreachable leave-out or scale."
        )
    return [
        f"On {terms.platform} students can earn {amount(reach.within)} of {points}. Nobody can "
        "earn these there:",
        *_rows(beyond, terms.assignment),
        fate,
    ]


def _method(terms: Terms) -> str:
    # What “auto” comes to is known only there; this is the least.
    tier = "restricted" if terms.tier == "auto" else terms.tier
    if not terms.reach.no_walls:
        return f"Found by grading the reference on tier {tier}, without a GPU."
    return (
        f"Found by grading the reference without a sandbox, under the rules of tier {tier}. This "
        f"machine cannot set that tier up: {terms.reach.no_walls}"
    )


def _rows(unearned: Sequence[Unearned], assignment: Assignment) -> list[str]:
    """Return a line for all checks of a question that have one reason."""
    grouped: dict[tuple[str, str], list[Unearned]] = {}
    for each in unearned:
        grouped.setdefault((each.question, each.reason), []).append(each)
    sizes = {question.id: len(question.listed) for question in assignment.questions}
    rows = []
    for (question, reason), group in grouped.items():
        names = f" ({', '.join(each.check for each in group)})"
        name = f"{question}{names if len(group) < sizes[question] else ''}"
        rows.append((name, counted(math.fsum(each.points for each in group), "point"), reason))
    wide = max(len(name) for name, *_ in rows)
    return [f"  {name:{wide}}  {points:>11}: {reason}" for name, points, reason in rows]


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
    total = math.fsum(check["points"] for check in _counted(data))
    data["questions"] = [
        question
        for each in data["questions"]
        if (question := _without(each, {check for name, check in without if name == each["id"]}))
    ]
    left = [check for check in _counted(data) if check["points"]]
    if not left:
        raise UsageError(
            f"{file}: none of its points can be given on that platform; grade it on a machine of "
            "yours, with `grader batch`"
        )
    if scale:
        _scale(left, total)
    for question in data["questions"]:
        counted = [check["points"] for check in question["checks"] if not check.get("bonus")]
        question["points"] = round(math.fsum(counted), 6)
    # JSON is YAML, and leaves no doubt what is a number.
    return json.dumps(data, indent=1, ensure_ascii=False).encode()


def _counted(data: Mapping[str, Any]) -> Iterator[_Node]:
    """Yield the checks whose points count into the maximum."""
    for question in data["questions"]:
        if not question.get("bonus"):
            yield from (check for check in question["checks"] if not check.get("bonus"))


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
    cases = [case for case in question.get("cases", ()) if every or case["id"] in judged]
    if all(check.get("bonus") for check in checks):
        # A question of nothing but a bonus says so itself.
        checks = [{**check, "bonus": False} for check in checks]
        question = {**question, "bonus": True}
    # A file that a person reads has no cases.
    return {**question, **({"cases": cases} if cases else {}), "checks": checks}


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
