"""``grader pack``: an assignment with its grader, in the form that a platform runs.

* Gradescope: a zip with ``setup.sh`` and ``run_autograder`` on top, this program and the
  assignment below; the isolation tier is *restricted*, the most that a container there gives.
* Classroom 50: a repository with an autograde script for one submission, and a workflow of GitHub
  Actions that grades a class in one dispatch. Its first job fetches the repositories of a class and
  grades them on GitHub's own machines. The second, on a runner with a GPU, grades what waits for
  one; it gets the very bytes that the first graded, and never the token that may read students'
  repositories.

Both hold the reference. Gradescope shows students nothing of the zip; a repository must be private.

The program packs itself: the very version that was tried here is what grades there.

The workflow defends against: actions that change behind their tag (each is pinned to a commit); a
token left in a checkout; links in a repository that lead to files of the runner; names of
repositories that are options or commands.
It does not defend against: whoever may change its repository.

Scores that were found elsewhere go into Gradescope's archive, too. Gradescope takes no table of
scores for what an autograder grades, but runs the autograder again on all submissions at once. So
finished reports go into the archive, under the digest of the submitted files. Where the autograder
meets exactly these files, the report is its answer; any other submission it grades as before.
Nobody's name is in the archive: a submission is known by its files alone.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import grader
from grader.assignment.find import COURSE_FILE, FILE_NAME
from grader.authoring import template
from grader.authoring.instructions import files_beside
from grader.authoring.platform_dry_run import CPU_INDEX, DISTRIBUTION, Requirements
from grader.errors import UsageError
from grader.report.build import submission_info
from grader.report.model import Report, ReportStatus, read_report, report_bytes
from grader.run.materials import Materials, load_materials
from grader.store.files import write_atomic
from grader.store.journal import JOURNAL_FILE
from grader.submission import read_for
from grader.submission.submission import IntakeError

# The earliest time that a zip can tell: with the time of packing, no two archives would be alike.
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
POINTS_FILE = "points.txt"
LISTING = "class.txt"
"""Names of the students' repositories, where a dispatch names none."""

_COURSE, _ALL_OR_NOTHING, _WITHOUT_GPU = (
    b"schema: torchgrade/course/v1\n", b"partial: false\n", b"gpu: none\n",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pack:
    """What is packed.

    Attributes:
        materials: The assignment.
        requirements: What is installed there.
        tier: Isolation tier that is insisted on there.
        assignment: Content of the assignment's file there.
        points: Which points can be earned there, for the instructor to read.
        language: That its messages to students are in.
        without_gpu: What only a real GPU can settle does not count.
    """

    materials: Materials
    requirements: Requirements
    tier: str
    assignment: bytes
    points: str
    language: str = "en"
    without_gpu: bool = False

    @property
    def blanks(self) -> dict[str, str]:
        """What the script that grades there is filled with."""
        named = self.materials.assignment.id
        return {"id": named, "isolation": self.tier, "language": self.language}

    @property
    def files(self) -> dict[str, bytes]:
        """Parts that every platform gets: the program, the assignment, the versions, the points."""
        pins = "".join(f"{pin}\n" for pin in self.requirements.pins)
        file = self.materials.folder / FILE_NAME
        # The course's own file has names and dates; this is what it says of grades.
        said = b"" if self.materials.assignment.partial else _ALL_OR_NOTHING
        said += _WITHOUT_GPU if self.without_gpu else b""
        course = {COURSE_FILE: _COURSE + said} if said else {}
        return {
            **course,
            **_program("torchgrade/", self.requirements),
            **_assignment(self.materials, files_beside(self.materials, self.assignment)),
            file.relative_to(self.materials.root).as_posix(): self.assignment,
            "constraints.txt": pins.encode(),
            POINTS_FILE: self.points.encode(),
        }


def gradescope_zip(pack: Pack) -> bytes:
    """Return the autograder's zip; the same input gives the same bytes."""
    needs = pack.requirements
    setup = template("setup.sh", **_installing(needs))
    run = template("run_autograder.sh", **pack.blanks)
    return zip_of({"setup.sh": setup.encode(), "run_autograder": run.encode(), **pack.files})


def _installing(needs: Requirements) -> dict[str, str]:
    """Return what a script's blanks on packages are filled with."""
    packages = " ".join(needs.packages)
    return {"python": needs.python, "torch": needs.torch, "index": CPU_INDEX, "packages": packages}


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of files, by name; the scripts on top may be run."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name in ("setup.sh", "run_autograder") else 0o644) << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def packed_materials(files: Mapping[str, bytes]) -> Materials:
    """Return the assignment that a pack holds.

    Args:
        files: Path → content of what was packed.

    Raises:
        UsageError: They are no pack.
        AssignmentError: The assignment in it is broken.
    """
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        for path, content in files.items():
            # An archive may come from anywhere, and one with ``..`` would write beside the folder.
            if (
                path.startswith(("assignments/", "reference/", COURSE_FILE))
                and ".." not in Path(path).parts
            ):
                write_atomic(home / path, content)
        found = list(home.glob(f"assignments/*/{FILE_NAME}"))
        if len(found) != 1:
            raise UsageError(f"no pack of an assignment: it has no assignments/ID/{FILE_NAME}")
        return load_materials(found[0])


def classroom50_files(pack: Pack) -> dict[str, bytes]:
    """Return path → content of a repository that grades; it must not be the students'."""
    return {
        **workflow_files(pack.materials.assignment.id, pack.tier, pack.requirements),
        "autograde.sh": template("autograde.sh", **pack.blanks).encode(),
        **pack.files,
    }


def workflow_files(assignment: str, isolation: str, needs: Requirements) -> dict[str, bytes]:
    """Return path → content of what GitHub Actions needs beside the program and the assignment."""
    blanks = {"id": assignment, "isolation": isolation, "listing": LISTING, **_installing(needs)}
    blanks["journal"] = JOURNAL_FILE
    workflow = template("grade.yml", **blanks).encode()
    return {".github/workflows/grade.yml": workflow, LISTING: template(LISTING).encode()}


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write what was packed; scripts may be run.

    Raises:
        UsageError: The folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    for name, content in files.items():
        write_atomic(folder / name, content)
        if name.endswith(".sh"):
            (folder / name).chmod(0o755)


def _assignment(materials: Materials, changed: Mapping[str, bytes | None]) -> dict[str, bytes]:
    """Return the assignment's and the reference's own files, caches left out.

    Args:
        materials: The assignment.
        changed: Path → what is packed in its place; None for a file that is left out.
    """
    files = {}
    for folder in (materials.folder, materials.reference_folder):
        for path in sorted(folder.rglob("*")):
            # A link may lead out of the repository: what it leads to would be uploaded along.
            if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts:
                files[path.relative_to(materials.root).as_posix()] = path.read_bytes()
    packed = {**files, **changed}
    return {name: data for name, data in packed.items() if data is not None}


def _program(prefix: str, needs: Requirements) -> dict[str, bytes]:
    """Return this program as a project that pip installs."""
    home = Path(grader.__file__).parent
    files = {
        f"{prefix}grader/{path.relative_to(home).as_posix()}": path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    plain = "".join(f'  "{need}",\n' for need in needs.program)
    project = (
        '[build-system]\nrequires = ["setuptools>=77"]\nbuild-backend = "setuptools.build_meta"\n\n'
        f'[project]\nname = "{DISTRIBUTION}"\nversion = "{grader.__version__}"\n'
        f'requires-python = ">=3.10"\ndependencies = [\n{plain}]\n\n'
        '[project.scripts]\ngrader = "grader.cli.command:main"\n\n'
        '[tool.setuptools.packages.find]\ninclude = ["grader*"]\n\n'
        '[tool.setuptools.package-data]\ngrader = ["**/*"]\n'
    )
    return {f"{prefix}pyproject.toml": project.encode(), **files}


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
    files = _without_reports(path)
    digest = packed_materials(files).digest
    kept: dict[str, Report] = {}
    left_out = []
    for report in reports:
        if report.assignment.digest != digest:
            raise UsageError(
                f"{report.submission.id} was graded under another state of "
                f"“{report.assignment.id}” than {path} packs, or with all checks where the pack "
                "leaves some out. Pack the assignment as it is now, with --unreachable keep, and "
                "export into that; nothing was written"
            )
        if report.status is ReportStatus.INCOMPLETE or not report.submission.digest:
            left_out.append(report.submission.id)
            continue
        # Several may have handed in the same files: the report with the fewest points open counts.
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
    try:
        found = read_for(materials.assignment, submission, submission.name)
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


def _without_reports(path: Path) -> dict[str, bytes]:
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
