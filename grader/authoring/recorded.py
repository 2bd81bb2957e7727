"""Scores that were found elsewhere, on their way back to Gradescope.

Gradescope takes no table of scores for what an autograder grades, but runs the autograder again on
all submissions at once. So finished reports go into the autograder's archive, under the digest of
the submitted files. Where the autograder meets exactly these files, the report is its answer; any
other submission it grades as before.

Nobody's name is in the archive: a submission is known by its files alone.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.authoring.pack import packed_materials, zip_of
from grader.errors import UsageError
from grader.report.build import submission_info
from grader.report.model import Report, ReportStatus, read_report, report_bytes
from grader.run.materials import Materials
from grader.submission import read_submission
from grader.submission.submission import IntakeError

FOLDER = "recorded"


@dataclass(frozen=True, slots=True)
class Recorded:
    """An archive with reports in it.

    Attributes:
        archive: The zip.
        reports: How many different submissions it knows.
        pending: Names of those that still have points open.
        left_out: Names of those that Gradescope grades itself, as nothing of them was run.
    """

    archive: bytes
    reports: int
    pending: tuple[str, ...]
    left_out: tuple[str, ...]


def with_reports(path: Path, reports: Iterable[Report]) -> Recorded:
    """Return an autograder's archive with reports for it to answer with.

    Args:
        path: The archive, as ``grader pack gradescope`` wrote it. Reports in it are replaced.
        reports: Of a class.

    Raises:
        UsageError: It is no such archive, or packs another state of the assignment.
    """
    files = _read(path)
    digest = packed_materials(files).digest
    kept: dict[str, Report] = {}
    left_out = []
    for report in reports:
        if report.assignment.digest != digest:
            raise UsageError(_other_state(path, report))
        if report.status is ReportStatus.INCOMPLETE or not report.submission.digest:
            left_out.append(report.submission.id)
            continue
        known = kept.get(report.submission.digest)
        if known is None or report.pending < known.pending:
            kept[report.submission.digest] = report
    pending = tuple(each.submission.id for each in kept.values() if each.pending)
    for name, report in kept.items():
        files[f"{FOLDER}/{name}.json"] = report_bytes(_nameless(report, ""))
    return Recorded(zip_of(files), len(kept), pending, tuple(left_out))


def recorded_report(folder: Path, materials: Materials, submission: Path) -> Report | None:
    """Return the report that is kept for a submission of exactly these files, or None.

    Args:
        folder: Holds the reports; need not exist.
        materials: The assignment; a report on another state of it is none.
        submission: File or folder.
    """
    asked = materials.assignment.functions
    try:
        found = read_submission(
            submission, materials.assignment.hand_in, name=submission.name, asked=asked
        )
    except IntakeError:
        return None
    info = submission_info(found)
    path = folder / f"{info.digest}.json"
    if not path.is_file():
        return None
    report = read_report(path)
    if report.assignment.digest != materials.digest or report.submission.files != info.files:
        return None
    return _nameless(report, info.id)


def _nameless(report: Report, name: str) -> Report:
    return report.model_copy(
        update={"submission": report.submission.model_copy(update={"id": name})}
    )


def _read(path: Path) -> dict[str, bytes]:
    """Return the files of an archive, earlier reports left out."""
    try:
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except zipfile.BadZipFile as error:
        raise UsageError(
            f"{path}: {error}; name the zip that `grader pack gradescope` wrote"
        ) from error
    return {name: data for name, data in files.items() if not name.startswith(f"{FOLDER}/")}


def _other_state(path: Path, report: Report) -> str:
    return (
        f"{report.submission.id} was graded under another state of “{report.assignment.id}” than "
        f"{path} packs, or with all checks where the pack leaves some out. Pack the assignment as "
        "it is now, with --unreachable keep, and export into that; nothing was written"
    )
