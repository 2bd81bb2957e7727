"""Command ``desk``: grade by hand in the browser."""

from __future__ import annotations

import getpass
import os
import sys
import webbrowser
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.options import OutOfBatch
from grader.cli.support import make_console, renew_pages, say
from grader.errors import UsageError
from grader.store.journal import BusyError

_NEEDS = ("starlette", "uvicorn")


def desk(
    folder: OutOfBatch,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the browser.")
    ] = True,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port; any that is free without it.")
    ] = 0,
    names: Annotated[
        str,
        typer.Option(
            "--as", help="Who grades, separated by commas: a link each. Your user name without it."
        ),
    ] = "",
) -> None:
    """Give points by hand in the browser, alone or with others.

    Serves on this machine alone, until Ctrl-C.
    """
    if missing := [name for name in _NEEDS if find_spec(name) is None]:
        raise UsageError(
            f"grader desk needs {' and '.join(missing)}: pip install 'torchgrade[desk]', or `pip "
            f"install {' '.join(_NEEDS)}` beside torchgrade"
        )
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder; name the --out of `grader batch`")
    _serve(folder, _people(names), port, browser)


def _people(names: str) -> list[str]:
    people = [name.strip() for name in names.split(",") if name.strip()]
    if len(set(people)) < len(people):
        raise UsageError(f"--as {names}: names somebody twice")
    return people or [getpass.getuser()]


def _serve(folder: Path, people: list[str], port: int, browser: bool) -> None:
    from grader.desk.graded_class import GradedClass
    from grader.desk.guard import Keys
    from grader.desk.server import bound, links_of, server_of

    console = make_console()
    with bound(port) as listening, GradedClass(folder) as graded:
        keys, port = Keys(people), listening.getsockname()[1]
        links = links_of(keys, port)
        for name, link in links.items():
            say(console, f"{name}: {link}")
        say(console, "Ctrl-C ends it. Whoever has a link decides under its name.")
        if browser and _has_browser():
            webbrowser.open(links[people[0]])
        with suppress(KeyboardInterrupt):
            server_of(graded, keys, port).run(sockets=[listening])
    say(console, "Ended. What was decided is in the journal.")
    if graded.decided:
        try:
            renew_pages(folder, console)
        except BusyError:
            say(console, f"A batch is at work; afterwards `grader report {folder}` writes pages.")


def _has_browser() -> bool:
    """Tell whether there is a screen: a browser for the terminal would take this command's."""
    return sys.platform != "linux" or bool({"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ))
