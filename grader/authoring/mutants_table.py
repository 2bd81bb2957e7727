"""The mutants of an assignment in a terminal: a row a question, then each survivor's diff."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from grader.authoring.mutants import LEAST, MARKS, MOST_EQUIVALENT, Tally, score_of


def print_mutants(tallies: Sequence[Tally], console: Console) -> None:
    """Print how many mutants the checks caught, and those that they did not."""
    table = Table()
    table.add_column("question")
    for name in ("mutants", "caught", "survived", "equivalent", "untried"):
        table.add_column(name, justify="right")
    for tally in tallies:
        table.add_row(tally.question, *(str(number) for number in _numbers(tally)))
    sums = [sum(column) for column in zip(*map(_numbers, tallies), strict=True)] or [0] * 5
    table.add_section()
    table.add_row("all", *(str(number) for number in sums))
    console.print(table)
    for tally in tallies:
        for mutant in tally.survivors:
            console.print(f"[bold]{escape(mutant.function)}[/]: {mutant.kind}", highlight=False)
            console.print(escape(mutant.diff), highlight=False)
    console.print(_summary(tallies, sums), highlight=False)


def _numbers(tally: Tally) -> tuple[int, int, int, int, int]:
    return tally.total, tally.caught, len(tally.survivors), tally.equivalent, tally.untried


def _summary(tallies: Sequence[Tally], sums: Sequence[int]) -> str:
    score = score_of(tallies)
    lines = [f"Caught {score:.1%} of the mutants that were tried (at least {LEAST:.0%} wanted)."]
    if sums[2]:
        lines.append(
            f"Mend a check or add a case for each survivor; mark in {MARKS} what does the same."
        )
    if sums[3] > MOST_EQUIVALENT * sums[0]:
        lines.append(f"More than {MOST_EQUIVALENT:.0%} are marked as equivalent.")
    return "\n".join(lines)
