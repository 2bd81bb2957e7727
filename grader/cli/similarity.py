"""Command ``similarity``: which submissions look alike."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from grader.batch.discover import SIMILARITY_FOLDER, ClassSubmission, discover
from grader.batch.ledger import graded_so_far, setup_of
from grader.cli.support import interruptible, make_console, make_folder, read_materials, say
from grader.errors import UsageError
from grader.progress import make_progress
from grader.run.materials import Materials
from grader.store.journal import JOURNAL_FILE, open_journal
from grader.text import inert

_ROWS = 20
_MAX_NAME = 40


def similarity(
    folder: Annotated[
        Path,
        typer.Argument(
            help="--out of `grader batch`, or a class folder as `grader batch` takes it.",
            metavar="DIR|FOLDER",
        ),
    ],
    assignment: Annotated[
        str, typer.Option("--assignment", help="Id or path; a batch knows its own.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the pages; DIR/similarity of a batch.")
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold", min=0.05, max=1.0, help="List pairs from this score on; 1 is all alike."
        ),
    ] = 0.6,
) -> None:
    """Say which submissions look alike, for a person to read. Grades nothing, proves nothing."""
    if find_spec("copydetect") is None:
        raise UsageError(
            "grader similarity needs copydetect: pip install 'torchgrade[similarity]', or `pip "
            "install copydetect` beside torchgrade"
        )
    submissions, materials, target = _class(folder, assignment, out)
    make_folder(target)
    with interruptible("Nothing was written."):
        _compare(submissions, materials, target, threshold)


def _class(
    folder: Path, assignment: str, out: Path | None
) -> tuple[Sequence[ClassSubmission], Materials, Path]:
    """Return the submissions, what was asked of them, and where pages go."""
    if (folder / JOURNAL_FILE).is_file():
        with open_journal(folder / JOURNAL_FILE) as journal:
            setup = setup_of(journal, folder)
            submissions = [done.submission for done in graded_so_far(journal)]
        target = out or folder / SIMILARITY_FOLDER
        return submissions, read_materials(assignment or setup.file), target
    if not assignment or out is None:
        raise UsageError(
            f"{folder} is not --out of a batch (there is no {JOURNAL_FILE}); for a class folder "
            "add --assignment ID and --out DIR"
        )
    return discover(folder, out).submissions, read_materials(assignment), out


def _compare(
    submissions: Sequence[ClassSubmission], materials: Materials, out: Path, threshold: float
) -> None:
    from grader.similarity.compare import compare
    from grader.similarity.pages import Comparison, People, write_pages
    from grader.similarity.texts import Scripts, read_class, read_starter

    console, people = make_console(), People(submissions)
    with make_progress(console) as progress, Scripts() as scripts:
        task = progress.add_task("reading", total=len(submissions))
        given = read_starter(materials.starter, scripts)
        wanted, asked = materials.assignment.hand_in, materials.assignment.asked
        several = asked if len(asked) > 1 else {}
        read = read_class(submissions, wanted, scripts, several, lambda: progress.advance(task))
        progress.update(task, description="comparing")
        findings = compare(read.compared, given, threshold, people.apart)
    title = materials.assignment.title or materials.assignment.id
    comparison = Comparison(
        title, len(submissions), read, findings, threshold, people, given=bool(given)
    )
    page = write_pages(comparison, out)
    for names in findings.copies[:_ROWS]:
        how = "identical" if comparison.same_bytes(names) else "the same but for names and layout"
        say(console, f"{how}: {', '.join(inert(name, _MAX_NAME) for name in names)}")
    for pair in findings.pairs[:_ROWS]:
        one, two = (inert(side.name, _MAX_NAME) for side in (pair.first, pair.second))
        say(console, f"{pair.score:4.0%}  {one}  {two}  ({pair.tokens} tokens)")
    counts = {
        f"Pairs from {threshold:.0%} on": findings.pairs,
        "Sets of copies, names and layout aside": findings.copies,
        "Too little of their own": findings.thin,
        "Not compared": read.unread,
    }
    say(console, " ".join(f"{what}: {len(which)}." for what, which in counts.items()))
    say(console, f"To be read, not believed: {page}")
