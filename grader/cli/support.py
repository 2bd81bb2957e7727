"""What the commands share: options made of arguments, the assignment, the sandbox, progress."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from grader.cli.options import ClockChoice, DeviceChoice, IsolationChoice
from grader.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from grader.batch.grades import Grade, LatePolicy
    from grader.batch.pages import Look
    from grader.grading import Grader, Options
    from grader.report.model import Report, ReportStatus
    from grader.run.capabilities import DeviceChoice as DeviceName
    from grader.run.materials import Materials
    from grader.sandbox.host.open import Preload
    from grader.sandbox.host.processes import OpenedSandbox, Sandbox


def make_options(
    device: DeviceChoice, seed: int | None, questions: str, clock: ClockChoice = ClockChoice.off
) -> Options:
    """Return what whoever grades chose; a seed is drawn where none is given."""
    import secrets

    from grader.grading import Options

    # Drawn anew each time: a fixed default would let answers be looked up beforehand.
    drawn = secrets.randbelow(2**31) if seed is None else seed
    return Options(drawn, device.value, split_ids(questions), clock is ClockChoice.auto)


def split_ids(text: str) -> tuple[str, ...]:
    """Return the ids in a text that separates them by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def find_file(assignment: str) -> Path:
    """Return the assignment file that an id or a path names.

    Raises:
        UsageError: There is none.
    """
    from grader.assignment.find import find_assignment

    return find_assignment(assignment, Path.cwd())


def read_materials(assignment: str) -> Materials:
    """Return the assignment that an id or a path names.

    Raises:
        UsageError: There is none.
        AssignmentError: It is broken.
    """
    file = find_file(assignment)
    # Reading it takes most of the start: an assignment that is not there is reported before.
    from grader.run.materials import load_materials

    return load_materials(file)


def open_early(isolation: IsolationChoice, file: Path, device: DeviceName) -> OpenedSandbox:
    """Return the sandbox asked for, before the assignment is read.

    Its fork-server imports torch for seconds. The files' places say what is needed here.
    """
    from grader.run.gpu_state import visible_gpus
    from grader.sandbox.host.open import open_sandbox

    folder = file.resolve().parent
    solutions, tests = (folder.parent.parent / name for name in ("reference", "tests"))
    # By the text: no question needs a GPU without this word, and nothing is parsed yet.
    asked = device in ("auto", "cuda") and b"cuda" in file.read_bytes()
    return open_sandbox(
        isolation.value,
        hidden=_hidden(solutions, solutions / folder.name, tests),
        gpus=visible_gpus() if asked else (),
        preload=_preload(folder, solutions / folder.name),
    )


def _hidden(*secret: Path) -> tuple[str, ...]:
    """Return which of these paths and of the grader's own no student process may open."""
    from grader.store.files import REFERENCES, open_cache

    cache = open_cache(REFERENCES)
    # The cache too: it holds the hidden inputs with their answers.
    paths = (*secret, cache.folder) if cache else secret
    return tuple(str(path) for path in paths if path.exists())


def _preload(folder: Path, solution: Path) -> Preload:
    """Return what the fork-server imports for the sake of an assignment's own files."""
    from grader.assignment.find import GIVEN, SCENARIO
    from grader.sandbox.host.open import preload
    from grader.store.files import open_cache

    files = (folder / SCENARIO, folder / GIVEN, *solution.glob("*.py"))
    fonts = open_cache("fonts")
    texts = (path.read_bytes() for path in files if path.is_file())
    return preload(texts, str(fonts.folder) if fonts else "")


def make_sandbox(
    isolation: IsolationChoice, materials: Materials, device: DeviceName = "virtual"
) -> OpenedSandbox:
    """Return the sandbox asked for; its student processes try to reach the reference and the tests.

    Args:
        isolation: The tier.
        materials: The assignment.
        device: Student processes of questions that need a GPU are shown real ones with ``auto`` and
            ``cuda``.
    """
    from grader.run.capabilities import usable_gpus
    from grader.sandbox.host.open import open_sandbox

    asked = any(question.needs.cuda for question in materials.assignment.questions)
    return open_sandbox(
        isolation.value,
        hidden=_hidden(materials.reference_folder, materials.root / "tests"),
        preload=_preload(materials.folder, materials.reference_folder),
        gpus=usable_gpus(device) if asked else (),
    )


def make_folder(out: Path) -> None:
    """Have a folder for reports before anything is graded, not after.

    Raises:
        UsageError: It cannot be made, or not be written.
    """
    from grader.store.files import PROBE_FILE

    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / PROBE_FILE
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UsageError(
            f"--out {out}: cannot be written ({error.strerror}); name another folder"
        ) from None


class TerminatedExit(SystemExit):
    """SIGTERM: somebody ends the command, as Ctrl-C does."""

    def __init__(self) -> None:
        super().__init__(128 + signal.SIGTERM)


def terminate(*_: object) -> None:
    """End the command; a handler of SIGTERM.

    Raises:
        TerminatedExit: Always.
    """
    raise TerminatedExit


@contextmanager
def interruptible(advice: str) -> Iterator[None]:
    """Turn Ctrl-C into one line and exit status 130, and SIGTERM into the same line and 143.

    Args:
        advice: What is kept, and how to go on.

    Raises:
        typer.Exit: It was interrupted.
        TerminatedExit: It was ended.
    """
    try:
        yield
    except TerminatedExit:
        typer.echo(f"Ended from outside. {advice}", err=True)
        raise
    except KeyboardInterrupt:
        typer.echo(f"Interrupted. {advice}", err=True)
        raise typer.Exit(130) from None


def make_console(*, stderr: bool = False) -> Console:
    """Return what prints on the terminal."""
    from rich.console import Console

    return Console(stderr=stderr)


def say(console: Console, text: str) -> None:
    """Print one line as it is: not wrapped, not coloured, no markup."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def write_pages(grades: Sequence[Grade], folder: Path, look: Look, console: Console) -> None:
    """Write the pages of a class, and say where.

    Raises:
        UsageError: A folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    from grader.batch.pages import write_class
    from grader.progress import make_progress

    with make_progress(console) as progress:
        task = progress.add_task("pages", total=len(grades))
        path = write_class(grades, folder, look, lambda: progress.advance(task))
    say(console, f"Written: {path}, for staff, and two pages for each submission")


def lateness_of(folder: Path, late: Path | None, console: Console, kept: bool) -> LatePolicy | None:
    """Return what lateness costs in a batch, and say whose word that is.

    Args:
        folder: ``--out`` of the batch.
        late: ``--late`` of this command, which counts instead of what the batch remembers.
        console: Where to say it.
        kept: The batch will remember what this command is given.

    Raises:
        UsageError: The file is no policy, or extends the time of somebody who is not in the class;
            no batch was begun there.
    """
    from grader.batch.course import policy_now
    from grader.batch.grades import read_policy
    from grader.batch.ledger import read_remembered

    given = read_policy(late) if late else None
    remembered = read_remembered(folder, given)
    if given is None:
        if remembered:
            say(console, f"Lateness as the batch remembers: {remembered}.")
        if (now := policy_now(folder)) and now != remembered:
            say(
                console,
                f"course.yml says otherwise by now: {now}. `grader batch … --resume` has the batch "
                "take that over.",
            )
        return remembered
    if remembered and given != remembered:
        until = "from now on" if kept else "this time only"
        say(console, f"Lateness as in {late}, {until}: {given}. Until now: {remembered}.")
    return given


def renew_pages(folder: Path, console: Console) -> None:
    """Write the pages of a batch from its journal, if anything is graded there.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
        InfrastructureError: The disk is full or broken.
    """
    from grader.batch.pages import read_class

    grades, look = read_class(folder)
    if grades:
        write_pages(grades, folder, look, console)


def remembering(materials: Materials, sandbox: Sandbox, options: Options, drawn: bool) -> Grader:
    """Return a grader that keeps what the reference did, and takes it where it was kept.

    Args:
        materials: The assignment.
        sandbox: Where the reference runs.
        options: What was chosen.
        drawn: The seed among these was drawn. A person at a terminal gets the one that was drawn
            for them last, for an hour. A script gets a new one each time, and nothing is kept: what
            runs for each submission by itself, a student could have run until its inputs are known.
    """
    from dataclasses import replace

    from grader.grading import Grader
    from grader.run.baseline_file import open_references

    cache = None
    if not drawn or sys.stdin.isatty():
        cache = open_references(materials, sandbox, (options.device, *options.questions), drawn)
    recent = cache.recent_seed() if cache and drawn else None
    grader = Grader(
        materials, sandbox, options if recent is None else replace(options, seed=recent)
    )
    grader.keep_reference(cache)
    return grader


def prepared(materials: Materials, sandbox: Sandbox, options: Options) -> Grader:
    """Return a grader that has run the reference.

    Raises:
        AssignmentError: The assignment is broken.
        InfrastructureError: No student process can be started.
    """
    from grader.grading import Grader

    return _prepare(Grader(materials, sandbox, options))


def _prepare(grader: Grader) -> Grader:
    grader.prepare()
    for note in grader.notes:
        typer.echo(note, err=True)
    return grader


def grade_one(grader: Grader, submission: Path, sandbox: Sandbox, console: Console) -> Report:
    """Grade one submission, and show how far it is.

    Args:
        grader: Has not run the reference yet.
        submission: What was handed in.
        sandbox: Where it runs.
        console: Where to show it.

    Raises:
        UsageError: It cannot be read.
        AssignmentError: The assignment is broken.
        InfrastructureError: No student process can be started.
    """
    from grader.progress import make_progress
    from grader.run.answer_budget import bounded

    with make_progress(console) as progress:
        task = progress.add_task("reference", total=None)
        return (
            _prepare(grader)
            .with_sandbox(sandbox, bounded())
            .grade(
                submission,
                submission.name,
                lambda question: progress.update(task, description=question),
            )
        )


def exit_for(statuses: Iterable[ReportStatus]) -> None:
    """End with 1 where the grader itself failed somewhere."""
    from grader.report.model import ReportStatus

    if ReportStatus.INCOMPLETE in statuses:
        raise typer.Exit(1)
