"""``grader merge``: a folder of reports, or one report, completed from other folders.

Everything is read and checked before the first file is written: where one submission of a class
does not fit, nothing changes. Of a batch's folder the journal is read and completed, and the files
made from it; a later ``--resume`` or export finds what was merged.

A GPU is dear, and a student process on it reaches the driver. So a GPU worker takes a submission
only for questions that wait for a device, and only if everything else about them has passed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from grader.batch.discover import ClassSubmission, Found
from grader.batch.grades import LatePolicy
from grader.batch.ledger import (
    absent_of,
    graded_so_far,
    grades_of,
    keep,
    policy_of,
    revise,
    write_grades,
)
from grader.errors import UsageError
from grader.report.build import PLACES
from grader.report.gradebook import write_gradebook
from grader.report.gradescope import write_results
from grader.report.layers import MachineLayer, fold
from grader.report.merge import Allowed, ConflictError, MergeError, completions, waits_for_device
from grader.report.model import REPORT_FILE, Report, read_report, write_report
from grader.report.pictures import write_pictures
from grader.report.summary import counted, few
from grader.store.journal import JOURNAL_FILE, open_journal, watched


@dataclass(frozen=True, slots=True)
class Merged:
    """What became of a folder.

    Attributes:
        reports: All of it, completed, by the submission's name.
        changed: Names of the submissions in which something was filled.
        batch: Whether it is a class and not one submission.
        completed: Points that were pending and no longer are.
        expected: Names of the submissions that waited for a device and that the other folders
            should have completed.
    """

    reports: tuple[Report, ...]
    changed: tuple[str, ...]
    batch: bool
    completed: float = 0.0
    expected: tuple[str, ...] = ()

    @property
    def fruitless(self) -> bool:
        """Tell whether something should have been completed, and nothing was."""
        return bool(self.expected) and not self.completed


_NOTHING = Allowed()


def merge_folders(
    folders: Sequence[Path], allowed: Allowed = _NOTHING, policy: LatePolicy | None = None
) -> Merged:
    """Complete the first folder from the others, and write it.

    Args:
        folders: At least two; each holds one ``report.json``, or a class: sub-folders with one.
        allowed: What may be done beyond filling what is pending.
        policy: What lateness costs in a batch from now on; as it remembers where None.

    Raises:
        UsageError: A folder is named twice, holds no report, or one that does not fit, or another
            ``grader`` is at work in the first; nothing was written.
        InfrastructureError: The disk is full or broken.
    """
    if len(folders) < 2:
        raise UsageError("grader merge takes two folders or more: the one to complete comes first")
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise UsageError("one folder is named twice; the others hold what another machine graded")
    # Before the first journal is held: it may be one of these too.
    others = [_read_other(folder) for folder in folders[1:]]
    with ExitStack() as stack:
        path = folders[0] / JOURNAL_FILE
        journal = stack.enter_context(open_journal(path)) if path.is_file() else None
        # Without what people decided: a merge completes what the grader said, beneath that.
        known = {each.name: each for each in graded_so_far(journal)} if journal else {}
        base = {name: each.said for name, each in known.items()} or read_folder(folders[0])
        _refuse_misfits(folders, base, others)
        layers = _completions(base, others, allowed)
        done = {name: fold(report, layers.get(name, ())) for name, report in base.items()}
        left = math.fsum(base[name].pending - done[name].pending for name in base)
        if journal:
            policy = policy_of(journal, folders[0], policy)
            keep(journal, folders[0], late=policy)
            for name, new in layers.items():
                known[name] = replace(known[name], machines=(*known[name].machines, *new))
                revise(journal, known[name])
            done = {name: each.report for name, each in known.items()}
        merged = _written(folders[0], done, tuple(layers))
        if journal:
            grades = grades_of(list(known.values()), policy)
            write_grades(grades, folders[0], absent_of(journal, folders[0]))
        elif merged.batch:
            write_gradebook(merged.reports, folders[0])
        return replace(merged, completed=left, expected=_expected(base, others))


def sentences(merged: Merged) -> list[str]:
    """Return what was completed, what still waits and for what, and what to do about it."""
    done = f"{counted(merged.completed, 'point')} of {counted(len(merged.changed), 'submission')}"
    lines = [f"Completed: {done}."]
    open_points: dict[str, dict[str, float]] = {}
    for report in merged.reports:
        for _, check in report.checks():
            if check.pending:
                of_code = open_points.setdefault(check.code.value, {})
                of_code[report.submission.id] = of_code.get(report.submission.id, 0) + check.pending
    for code, points in sorted(open_points.items()):
        total = counted(round(math.fsum(points.values()), PLACES), "point")
        lines.append(f"Still pending ({code}): {total}, of {few(list(points))}")
    if merged.fruitless:
        lines.append(
            f"These waited for a GPU, and none of their points was completed: "
            f"{few(merged.expected)}. What the GPU worker printed says why; let it grade again."
        )
    return lines


def _expected(
    base: Mapping[str, Report], others: Sequence[Mapping[str, Report]]
) -> tuple[str, ...]:
    """Return the names of what waits for a device and is in another folder.

    Where all of these are empty, whatever waits should have been there.
    """
    graded = set().union(*others) or set(base)
    return tuple(
        report.submission.id
        for name, report in base.items()
        if name in graded and any(map(waits_for_device, report.questions))
    )


def _written(folder: Path, done: Mapping[str, Report], changed: tuple[str, ...]) -> Merged:
    # The unchanged too, byte for byte: so a merge that was interrupted is completed by another.
    for name, report in done.items():
        write_report(report, folder / name)
        write_results(report, folder / name)
        write_pictures(report, folder / name)
    reports = tuple(sorted(done.values(), key=lambda report: report.submission.id))
    return Merged(reports, changed, "" not in done)


def _completions(
    base: Mapping[str, Report], others: Sequence[Mapping[str, Report]], allowed: Allowed
) -> dict[str, tuple[MachineLayer, ...]]:
    """Return what fills pending checks of each that has some.

    Raises:
        UsageError: Something does not fit; all conflicts of a class are shown at once.
    """
    found, conflicts = {}, []
    for name, report in base.items():
        theirs = [other[name] for other in others if name in other]
        try:
            if layers := completions(report, theirs, allowed):
                found[name] = layers
        except ConflictError as error:
            conflicts.append(str(error))
    if conflicts:
        raise ConflictError(
            "\n".join(
                (
                    *conflicts,
                    "Nothing was written. Look at these; --leave-conflicts merges all the rest, "
                    "and leaves these questions as they are in the first folder",
                )
            )
        )
    return found


def read_folder(folder: Path) -> dict[str, Report]:
    """Return the reports of a folder: sub-folder → report; under an empty name if it is one.

    Raises:
        UsageError: It holds none, or one that cannot be read.
    """
    if (folder / REPORT_FILE).is_file():
        return {"": read_report(folder / REPORT_FILE)}
    found = sorted(folder.glob(f"*/{REPORT_FILE}"))
    if not found:
        raise UsageError(
            f"{folder}: holds neither a {REPORT_FILE} nor sub-folders with one; name the --out "
            "folder of `grader grade` or `grader batch`"
        )
    return {path.parent.name: read_report(path) for path in found}


def _read_other(folder: Path) -> dict[str, Report]:
    """Return the reports of a folder; none of an empty one, where a worker had nothing to do."""
    if folder.is_dir() and not any(folder.iterdir()):
        return {}
    try:
        # What a person decided there is laid over its reports, and is no word of that machine.
        with watched(folder / JOURNAL_FILE) as (journal, _):
            return {each.name: each.said for each in graded_so_far(journal)}
    except UsageError:
        # One report, reports that were brought without their journal, or a journal that is damaged.
        return read_folder(folder)


def _refuse_misfits(
    folders: Sequence[Path], base: Mapping[str, Report], others: Sequence[Mapping[str, Report]]
) -> None:
    for folder, other in zip(folders[1:], others, strict=True):
        if other and ("" in base) != ("" in other):
            raise MergeError(
                f"{folders[0]} holds {_kind(base)}, {folder} {_kind(other)}; name two of a kind"
            )
        if strangers := sorted(set(other) - set(base)):
            raise MergeError(
                f"{folder} holds submissions that {folders[0]} does not: {', '.join(strangers)}; "
                "nothing was written. The folder with all submissions comes first"
            )


def _kind(reports: Mapping[str, Report]) -> str:
    return "one submission" if "" in reports else "a class"


@dataclass(frozen=True, slots=True)
class WaitingSubmissions:
    """What is left to do.

    Attributes:
        found: The submissions that wait for a device; none where there is nothing to do.
        questions: Ids of the questions that any of them waits with.
    """

    found: Found
    questions: tuple[str, ...]


def waiting(found: Found, folder: Path, assignment: str) -> WaitingSubmissions:
    """Return what an earlier batch left for a machine with a GPU.

    Raises:
        UsageError: The folder holds no reports, or of another assignment.
    """
    earlier = read_folder(folder)
    for report in earlier.values():
        if report.assignment.id != assignment:
            raise UsageError(
                f"--only-pending {folder}: holds reports on “{report.assignment.id}”, not on "
                f"“{assignment}”"
            )
    left = {submission: _questions(submission, earlier) for submission in found.submissions}
    taken = tuple(submission for submission, questions in left.items() if questions)
    asked = dict.fromkeys(name for questions in left.values() for name in questions)
    return WaitingSubmissions(Found(taken, found.left_out), tuple(asked))


def _questions(submission: ClassSubmission, earlier: Mapping[str, Report]) -> tuple[str, ...]:
    report = earlier.get(submission.name)
    if report is None:
        return ()
    return tuple(question.id for question in report.questions if waits_for_device(question))
