"""The ``grader`` command. Parses, calls, prints; what it calls does the work.

A command's module is loaded when the command is asked for: ``--help``, ``--version`` and a usage
error would otherwise wait a second or two for libraries that they never use. ``grade``, ``batch``
and ``check`` also import within their functions, while a sandbox starts beside them.

Exit status: 0 = graded, whatever the score, pending points included; 1 = incomplete for an
infrastructure reason; 2 = wrong usage or a broken assignment; 3 = `check --fail` found something.
"""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from grader import __version__
from grader.cli.support import make_console, terminate
from grader.errors import GraderError
from grader.report.messages.language import LANGUAGES, current_language

COMMANDS = {
    "grade": ("grade.grade", "Grade one submission."),
    "batch": ("batch.batch", "Grade every submission of a class."),
    "merge": ("regrade.merge", "Fill in pending points that another machine has graded."),
    "export": ("export.export", "Write grades for a learning platform or for CI."),
    "rejudge": ("regrade.rejudge_command", "Judge a class anew after a change of the checks."),
    "regrade": (
        "regrade.regrade_command", "Run submissions of a class again, with the same inputs."
    ),
    "replay": ("regrade.replay_command", "Run one submission again and compare its verdicts."),
    "decide": ("review.decide", "Give points by hand."),
    "comment": ("review.comment", "Comment on a line of a student's code."),
    "count": ("regrade.count", "Count points that only a GPU can settle, or take them out."),
    "review": ("review.review", "Go through what waits for a person, and give points."),
    "desk": ("desk.desk", "Give points by hand in the browser, alone or with others."),
    "status": ("regrade.status", "Say how far a batch is, while it runs or after it was stopped."),
    "pictures": ("report.pictures", "Draw the reports' pictures again, from the numbers in them."),
    "similarity": (
        "similarity.similarity", "Say which submissions look alike, for a person to read."
    ),
    "report": ("report.report", "Write pages for staff and students."),
    "check": ("student.check", "Check your work on the public cases."),
    "submit-zip": (
        "student.submit_zip", "Pack what you hand in, under the right name, and read it back."
    ),
    "new": ("authoring.new", "Begin an assignment here: one question that already grades."),
    "starter": ("authoring.starter", "Generate starter/ID from reference/ID."),
    "lint": ("authoring.lint", "Try an assignment before students do."),
    "schema": ("authoring.schema", "Print a JSON Schema."),
    "pack": ("pack.pack", "Pack an assignment with its reference and this grader."),
}  # fmt: skip
"""Name → where it is, and what the list of commands says of it."""

_UNLISTED = {"on-gradescope": "pack.on_gradescope"}
"""What the grader's own packs start."""


_OF_STUDENTS = ("check", "submit-zip")


def _language() -> str:
    """Return the reader's language, before the library has read the options."""
    words = sys.argv[1:]
    asked = [after for option, after in pairwise(words) if option == "--lang"]
    asked += [word.removeprefix("--lang=") for word in words if word.startswith("--lang=")]
    return asked[-1] if asked and asked[-1] in LANGUAGES else current_language()


def _in_korean(name: str, command: Any, context: Any) -> str:
    """Return a help text in Korean, where the reader's language is that; else empty."""
    # The library shows the help before it reads any other option.
    if _language() != "ko":
        return ""
    from grader.cli.korean import help_of

    return help_of(name, command, context)


class SpokenCommand(TyperCommand):
    """A command whose help is in the reader's language."""

    def get_help(self, ctx: Any) -> str:
        """Return the help text."""
        return _in_korean(self.name or "", self, ctx) or super().get_help(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of a call.

        Raises:
            UsageError: A student's command cannot read them.
        """
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            # The library's own errors: some versions bring their classes along, others import them.
            if self.name not in _OF_STUDENTS or not hasattr(error, "format_message"):
                raise
            from grader.cli.usage import usage_error

            raise usage_error(error, ctx, _language()) from None


class LazyGroup(TyperGroup):
    """A group whose commands are loaded when they are asked for."""

    def get_help(self, ctx: Any) -> str:
        """Return the help text."""
        return _in_korean("", self, ctx) or super().get_help(ctx)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  click's signature
        """Return the names of the commands that are listed."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002  click's signature
        """Load a command; None if there is none of this name."""
        place = COMMANDS[cmd_name][0] if cmd_name in COMMANDS else _UNLISTED.get(cmd_name)
        if place is None:
            return None
        module, _, function = place.partition(".")
        return _command(cmd_name, getattr(import_module(f"grader.cli.{module}"), function))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the list of commands without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, told) for name, (_, told) in COMMANDS.items()])


_PLAIN: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    # Typer's frames double the time that a help text or a usage error takes.
    "rich_markup_mode": None,
}


def _command(name: str, function: Any) -> Any:
    alone = typer.Typer(**_PLAIN)
    alone.command(name, cls=SpokenCommand)(function)
    return typer.main.get_command(alone)


app = typer.Typer(cls=LazyGroup, help="Grade PyTorch assignments.", no_args_is_help=True, **_PLAIN)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"torchgrade {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command and turn what a person should read into one line and an exit status."""
    # A CI job that is cancelled gets this, and must leave no student processes behind.
    signal.signal(signal.SIGTERM, terminate)
    try:
        app(prog_name="grader")
    except GraderError as error:
        from rich.markup import escape

        # Not wrapped: editors and CI look for file:line at the beginning of a line.
        line = f"[bold red]{error.prefix}:[/] {escape(str(error))}"
        make_console(stderr=True).print(line, highlight=False, soft_wrap=True)
        sys.exit(error.exit_status)


if __name__ == "__main__":
    main()
