"""Commands around one assignment, for its author (new, starter, lint, schema) and its students."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.cli.options import (
    AssignmentArg,
    DeviceChoice,
    DeviceOpt,
    IsolationChoice,
    IsolationOpt,
    Language,
    LanguageOpt,
    QuestionsOpt,
    SchemaName,
    SeedOpt,
)
from grader.cli.support import (
    exit_for,
    interruptible,
    make_console,
    make_options,
    make_sandbox,
    read_materials,
    split_ids,
)

if TYPE_CHECKING:
    from rich.console import Console

    from grader.grading import Options
    from grader.report.model import Report
    from grader.report.student import StudentView
    from grader.run.materials import Materials
    from grader.selfcheck.engine import SelfCheck
    from grader.selfcheck.workplace import Unreadable


def new(
    name: Annotated[str, typer.Argument(metavar="ID", help="Of the assignment, as a module's.")],
) -> None:
    """Begin an assignment here: one question that already grades."""
    from grader.authoring.lint import new_assignment

    for path in new_assignment(name, Path.cwd()):
        typer.echo(f"wrote {path.relative_to(Path.cwd())}")
    typer.echo(f"Next: grader starter {name}, then grader lint {name}")


def starter(
    assignment: AssignmentArg,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if starter/ID is out of date.")
    ] = False,
) -> None:
    """Generate starter/ID from reference/ID."""
    materials = read_materials(assignment)
    from grader.authoring.starter import (
        build_starter,
        check_public,
        check_starter,
        make_public,
        write_starter,
    )
    from grader.selfcheck.spare import SpareSandbox
    from grader.selfcheck.write import to_files

    spec, folder = materials.assignment, materials.starter
    files = build_starter(spec, materials.folder, materials.reference_folder)
    if not check:
        # The instructor's own code on their own machine: no walls are needed around it.
        with SpareSandbox() as sandbox:
            made = make_public(materials, sandbox)
        for path in write_starter(files | to_files(made.public), folder):
            typer.echo(f"wrote {path}")
        for (question, case), reason in made.left_out.items():
            typer.echo(f"left to grading: {question}, case {case}: {reason}")
        return
    problems = check_starter(files, folder) or check_public(materials)
    for problem in problems:
        typer.echo(str(problem), err=True)
    if problems:
        raise typer.Exit(2)
    typer.echo(f"starter/{spec.id} is up to date")


def lint(
    assignment: AssignmentArg,
    isolation: IsolationOpt = IsolationChoice.auto,
    mutants: Annotated[
        bool,
        typer.Option("--mutants", help="Grade the reference with one mistake at a time instead."),
    ] = False,
    seed: SeedOpt = None,
    questions: QuestionsOpt = "",
) -> None:
    """Try an assignment before students do.

    The reference earns full points on three seeds, the starter none, and every check can fail.
    """
    materials = read_materials(assignment)
    if mutants:
        _try_mutants(materials, isolation, make_options(DeviceChoice.auto, seed, questions))
        return
    from grader.authoring.lint import lint_assignment
    from grader.progress import make_progress

    with make_sandbox(isolation, materials) as sandbox, make_progress(make_console()) as progress:
        task = progress.add_task("reference", total=None)
        findings = lint_assignment(
            materials,
            sandbox,
            lambda name, done, total: progress.update(
                task, description=name, completed=done, total=total
            ),
        )
    for finding in findings:
        typer.echo(str(finding), err=True)
    if findings:
        raise typer.Exit(2)
    typer.echo(f"{materials.assignment.id}: no problems found")


def _try_mutants(materials: Materials, isolation: IsolationChoice, options: Options) -> None:
    from grader.authoring.mutants import LEAST, print_mutants, score_of, try_mutants
    from grader.progress import make_progress

    console = make_console()
    with make_sandbox(isolation, materials) as sandbox, make_progress(console) as progress:
        task = progress.add_task("mutants", total=None)
        tallies = try_mutants(
            materials,
            sandbox,
            options,
            lambda name, done, total: progress.update(
                task, description=name, completed=done, total=total
            ),
        )
    print_mutants(tallies, console)
    if score_of(tallies) < LEAST:
        raise typer.Exit(2)


def schema(
    name: Annotated[SchemaName, typer.Argument(help="Document to describe.")],
) -> None:
    """Print a JSON Schema.

    Those of assignment.yml and course.yml are for editors, that of report.json for scripts.
    """
    import json

    from grader.assignment.types import assignment_schema
    from grader.batch.course import course_schema
    from grader.report.model import report_schema

    documents: dict[SchemaName, Any] = {
        SchemaName.assignment: assignment_schema,
        SchemaName.course: course_schema,
        SchemaName.report: report_schema,
    }
    typer.echo(json.dumps(documents[name](), indent=2, ensure_ascii=False))


_HERE = Path()
PathArg = Annotated[
    Path, typer.Argument(help="The folder you work in, or a file in it.", show_default=False)
]
SelfIsolationOpt = Annotated[
    IsolationChoice,
    typer.Option("--isolation", help="Walls around your code; auto takes the best there are."),
]


def check(
    path: PathArg = _HERE,
    questions: QuestionsOpt = "",
    device: DeviceOpt = DeviceChoice.auto,
    isolation: SelfIsolationOpt = IsolationChoice.auto,
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay, and check again what you change.")
    ] = False,
    lang: LanguageOpt = None,
) -> None:
    """Check your work on the public cases. No score: grading tries more."""
    _speak(lang)
    from grader.selfcheck.spare import open_for_check

    with interruptible("Nothing is lost."), open_for_check(isolation.value) as sandbox:
        # The fork-server imports torch, for seconds, while the judge is imported.
        from grader.report.student import StudentView
        from grader.selfcheck.engine import SelfCheck
        from grader.selfcheck.terminal import conclude, watch_folder
        from grader.selfcheck.workplace import open_workplace, read_workplace, syntax_error

        place = open_workplace(path)
        unreadable = syntax_error(read_workplace(place))
        ids, console = split_ids(questions), make_console()
        own = SelfCheck(place, sandbox, device.value)
        view = StudentView(console, place.public.hints, own.details, own.printed)
        if watch:
            watch_folder(own, ids, view)
            return
        if unreadable is not None:
            _show(unreadable, view)
            return
        report = _checked(own, ids, view, console)
        for message in own.noticed_while_loading():
            view.tell(message, "red")
        view.report(report, ids)
        conclude(report, place, view)
    exit_for([report.status])


def _show(unreadable: Unreadable, view: StudentView) -> None:
    """Print a syntax error, and the line with a mark below where Python stopped."""
    view.tell(unreadable.message, "red")
    if unreadable.line:
        view.print(f"    {unreadable.line}")
        view.print(f"    {' ' * unreadable.column}^", "red")


def _checked(own: SelfCheck, ids: tuple[str, ...], view: StudentView, console: Console) -> Report:
    """Check, and print each question as soon as it is judged."""
    public = own.workplace.public
    order = [item.id for item in public.assignment.questions if not ids or item.id in ids]
    from grader.progress import make_progress

    with make_progress(console, lines=False) as progress:
        task = progress.add_task("starting", total=len(ids or public.plan))
        return own.check(
            ids,
            lambda name: progress.update(task, description=name, advance=1),
            lambda result: view.result(result, order),
        )


def submit_zip(path: PathArg = _HERE, lang: LanguageOpt = None) -> None:
    """Pack what you hand in, under the right name, and read it back."""
    _speak(lang)
    from grader.report.student import StudentView
    from grader.selfcheck.workplace import open_workplace, pack

    place = open_workplace(path)
    view = StudentView(make_console(), place.public.hints)
    packed = pack(place)
    if not packed.same:
        view.say("packed_differs", "red", file=str(packed.path))
        raise typer.Exit(1)
    view.say("packed", "green", file=str(packed.path))
    for name, size, digest in packed.content:
        view.print(f"  {name}  {size} bytes  sha256 {digest[:16]}…")


def _speak(lang: Language | None) -> None:
    if lang is not None:
        from grader.report.messages.catalogue import choose

        choose(lang.value)
