"""What holds for a class: the course's file, options before it, the roster, and what is graded."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from grader import __version__
from grader.batch.course import Course
from grader.batch.discover import Found
from grader.batch.grades import read_policy
from grader.batch.ledger import BatchSettings
from grader.batch.roster import Roster, read_roster
from grader.grading import Grader
from grader.run.answers import asked_of

Terms = dict[str, Any]
"""Fields of ``BatchSettings`` that hold for a class and change no check."""


def read_terms(
    course: Course | None,
    assignment: str,
    late: Path | None,
    roster: Path | None,
    without_gpu: bool,
) -> Terms:
    """Return what holds for a class, options before the course's file.

    Args:
        course: The course, if it has a file.
        assignment: Its id.
        late: File of the policy on lateness that was asked for.
        roster: File of the roster that was asked for.
        without_gpu: No GPU counts, whatever the course has.

    Raises:
        UsageError: A file is not usable.
    """
    terms: Terms = {"late": None, "roster": None}
    if course is not None:
        terms |= {"language": course.spec.language, "released": course.spec.released}
        terms["gpu"] = course.spec.gpu
        terms["late"] = None if late else course.policy(assignment)
        terms["roster"] = None if roster else course.roster()
    if late:
        terms["late"] = read_policy(late)
    if without_gpu:
        terms["gpu"] = "none"
    if roster:
        terms["roster"] = read_roster(roster)
    return terms


def of_class(terms: Terms, found: Found, known: Roster | None) -> tuple[Terms, list[str]]:
    """Return the terms with who is absent, and what is to be said of who is on no roster.

    Args:
        terms: Of the course.
        found: Everybody who handed in.
        known: The roster that the batch remembers, where the terms name none.

    Raises:
        UsageError: An extension is for somebody who is not in the class.
    """
    roster = terms["roster"] or known or Roster()
    ours = [roster.named(submission) for submission in found.submissions]
    absent = roster.absent(ours)
    # A watched folder without a roster: nobody knows yet who is in the class.
    if terms["late"] and (ours or absent):
        terms["late"].refuse_strangers(ours, [each.student() for each in absent])
    remarks: list[str] = []
    if roster.students:
        terms = {**terms, "absent": absent}
        remarks = list(roster.remarks(found.submissions))
    # What an earlier run was given stays where nothing is said now.
    return {name: value for name, value in terms.items() if value is not None}, remarks


def settings_of(
    grader: Grader, isolation: str, terms: Terms, total: int, watched: str = ""
) -> BatchSettings:
    """Return the settings of a batch that begins or goes on now.

    Args:
        grader: Has run the reference.
        isolation: The tier that was asked for.
        terms: What holds for the class.
        total: How many submissions there are so far.
        watched: The folder that is watched; empty where none is.
    """
    materials, options = grader.materials, grader.options
    settings = BatchSettings(
        assignment=materials.assignment.id,
        file=str(materials.folder / "assignment.yml"),
        version=materials.assignment.version,
        digest=materials.digest,
        seed=options.seed,
        device=options.device,
        questions=options.questions,
        isolation=isolation,
        clock=options.clock,
        plan=asked_of(materials, grader.plan),
        grader_version=__version__,
        total=total,
        begun_at=datetime.now(timezone.utc),
        watched=watched,
    )
    return settings.model_copy(update=terms)
