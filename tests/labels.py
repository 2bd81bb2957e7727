"""The labelled submissions of this repository; ``grader.authoring.labels`` reads their labels.

A submission that attacks says so in a block ``exploit:`` of its label; see ``Exploit`` and, for the
demonstrations, ``tests/exploits/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.assignment.cells import LABELLED, LabelledSubmission, labelled_submissions
from grader.authoring import labels
from grader.authoring.labels import Label, LabelError, read_fields

ROOT = Path(__file__).parents[1]
SUBMISSIONS = ROOT / LABELLED
TAKES_LONG = ("minibatch", "parallel")
"""Assignments that train, or start processes: a submission takes seconds."""


@dataclass(frozen=True, slots=True)
class Exploit:
    """What an attack is about.

    Attributes:
        group: Letter of the group it belongs to.
        tries: What it tries, in a line.
        stopped_by: What stops it: walls, or properties of the design.
        typical: What comes of it in a grader that shares its interpreter with hand-ins.
        works_without: Kind of demonstration → its arguments. Empty for the controls of a group.
        limits: Fields of the assignment's limits, replaced while this hand-in is graded.
        clock: It is graded with the clock on.
        claim: What its verdict rests on, where that is something a process says of itself: what
            forging it takes, and what is gained by that.
    """

    group: str
    tries: str
    stopped_by: str = ""
    typical: str = ""
    works_without: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    claim: str = ""
    clock: bool = False


def submissions_of(assignment: str, *groups: str) -> Iterator[LabelledSubmission]:
    """Yield the labelled submissions of an assignment, group by group, sorted by name."""
    path = ROOT / "reference" / assignment / f"{assignment}.py"
    reference = {path.name: path.read_text(encoding="utf-8")}
    for group in groups:
        folder = SUBMISSIONS / assignment / group
        yield from labelled_submissions(folder, reference) if folder.is_dir() else ()


def read_label(submission: Path | LabelledSubmission) -> Label:
    """Return a submission's label.

    Raises:
        LabelError: It has none, or one with an unknown key, status or code.
    """
    if isinstance(submission, Path):
        submission = LabelledSubmission(submission.stem, submission)
    return labels.read_label(submission, [f"{submission.path.parents[1].name}.py"])


def exploit_of(label: Label) -> Exploit | None:
    """Return what attack a label tells of, or None for what is none.

    Raises:
        LabelError: Something in the block is unknown or missing.
    """
    return None if label.exploit is None else _exploit(dict(label.exploit), "exploit")


def _exploit(value: object, where: str) -> Exploit:
    texts = {"group", "tries", "stopped_by", "typical", "works_without", "claim"}
    fields = read_fields(value, texts | {"limits", "clock"}, where)
    for name in texts & set(fields):
        if not isinstance(fields[name], str):
            raise LabelError(f"{where}.{name} is {fields[name]!r}, not a text")
    if missing := {"group", "tries"} - set(fields):
        raise LabelError(f"{where}: {', '.join(sorted(missing))} missing")
    shown = _demonstrations(fields.pop("works_without", ""))
    if shown and (missing := {"stopped_by", "typical"} - set(fields)):
        raise LabelError(f"{where}: {', '.join(sorted(missing))} missing")
    return Exploit(**fields, works_without=shown)


def _demonstrations(text: str) -> dict[str, tuple[str, ...]]:
    """Read ``kind: argument, argument; kind``."""
    shown = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        kind, _, rest = part.partition(":")
        if kind == "exempt":
            return {kind: (text.partition(":")[2].strip(),)}
        shown[kind] = tuple(item.strip() for item in rest.split(",") if item.strip())
    return shown
