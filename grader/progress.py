"""How far something is: a bar on a terminal, a line every so often where there is none."""

from __future__ import annotations

import time
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

EVERY = 30.0
"""Seconds between two lines: often enough to see that it lives, seldom enough for a log."""
_LONG = 90


def make_progress(console: Console, lines: bool = True) -> Progress:
    """Return a display that leaves nothing behind.

    Args:
        console: Where the bar is drawn, if that is a terminal.
        lines: Elsewhere, say on standard error how far it is.
    """
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[tally]}", style="dim"),
    )
    if console.is_terminal:
        return _Bar(*columns, console=console, transient=True)
    # In a file a bar would leave an empty line among the results.
    return (_Lines if lines else _Bar)(*columns, console=console, disable=True)


class _Bar(Progress):
    """Each task may have a tally beside its bar."""

    def add_task(self, description: str, *args: Any, tally: str = "", **fields: Any) -> TaskID:
        """See ``rich.progress.Progress.add_task``."""
        return super().add_task(description, *args, tally=tally, **fields)


class _Lines(_Bar):
    """Prints a line where a bar would be redrawn."""

    _began = 0.0
    _printed = 0.0

    def add_task(self, description: str, *args: Any, tally: str = "", **fields: Any) -> TaskID:
        """See ``rich.progress.Progress.add_task``."""
        self._began = self._printed = time.monotonic()
        return super().add_task(description, *args, tally=tally, **fields)

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """See ``rich.progress.Progress.update``."""
        super().update(task_id, **changes)
        self._print_line(self._tasks[task_id])

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        """See ``rich.progress.Progress.advance``."""
        super().advance(task_id, advance)
        self._print_line(self._tasks[task_id])

    def _print_line(self, task: Task) -> None:
        now = time.monotonic()
        if now - self._printed < EVERY:
            return
        self._printed = now
        typer.echo(line(task, now - self._began), err=True)


def line(task: Task, seconds: float) -> str:
    """Return how far a task is, and how long it will take, after so many seconds."""
    if not task.total:
        return f"{task.description}, for {span(seconds)}"
    parts = [f"{task.description}: {task.completed:g} of {task.total:g}"]
    if 0 < task.completed < task.total:
        parts.append(f"about {span(seconds / task.completed * (task.total - task.completed))} left")
    if task.fields.get("tally"):
        parts.append(task.fields["tally"])
    return ", ".join(parts)


def span(seconds: float) -> str:
    """Return a time as people say it."""
    return f"{seconds:.0f} s" if seconds < _LONG else f"{seconds / 60:.0f} min"
