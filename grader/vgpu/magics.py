"""Virtual GPUs in a notebook: ``%load_ext grader``, or ``%load_ext grader.vgpu`` for these alone.

``%vgpu 2`` gives the notebook two of them, ``%vgpu 2 8GiB`` with so much memory each; ``%vgpu off``
takes them away. ``%%vgpu 2`` at the head of a cell does the same if need be, runs the cell, and
says what they did in it. ``%%vgpu 2 --card v100`` also puts the cell on a timeline and shows a
picture of it; ``--no-arithmetic`` then leaves out all computing. ``%vgpu_trace`` lists everything
since they were made, with ``--card t4`` in the time that it would take there.
"""

from __future__ import annotations

import sys
from typing import Any

from grader import vgpu
from grader.vgpu.machine import Machine, installed
from grader.vgpu.options import Asked, parse_line
from grader.vgpu.pictures import PictureError, Shown, picture
from grader.vgpu.show import listing, overview
from grader.vgpu.timeline import Profile, afterwards, on_timeline
from grader.vgpu.timeline.report import Report


class Magics:
    """The two magics of one notebook.

    Args:
        shell: IPython's.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def vgpu(self, line: str, cell: str | None = None) -> Shown | None:
        """Have virtual GPUs; with a cell, run it on them, say what they did, and show when.

        A line that nobody can make sense of is told so, and the cell does not run.
        """
        words = _words(line)
        if words == ["off"]:
            _remove()
            return None
        try:
            asked = parse_line(words)
            if asked.card is not None and cell is None:
                raise ValueError("--card is for a cell: write %%vgpu, or %vgpu_trace --card v100")
            machine = _have(asked)
        except ValueError as error:
            # A traceback through IPython would hide the one line that matters.
            sys.stderr.write(f"%vgpu: {error}\n")
            return None
        return None if cell is None else self._run(cell, machine, asked)

    def vgpu_trace(self, line: str = "") -> Shown | None:
        """Print everything that the devices did since they were made."""
        machine = installed()
        if machine is None:
            sys.stdout.write("There are no virtual GPUs; %vgpu 2 makes two.\n")
            return None
        try:
            asked = parse_line(_words(line))
            if asked != Asked(card=asked.card):
                raise ValueError("write %vgpu_trace or %vgpu_trace --card v100")
        except ValueError as error:
            sys.stderr.write(f"%vgpu_trace: {error}\n")
            return None
        card = asked.card
        report = None if card is None else afterwards(machine.trace.since(0), card, machine.names)
        sys.stdout.write(f"{listing(machine)}\n{overview(machine, report=report)}")
        return _shown(report, card)

    def _run(self, cell: str, machine: Machine, asked: Asked) -> Shown | None:
        start = machine.trace.count
        report = None
        if asked.card is None:
            self._shell.run_cell(cell)
        else:
            clocks = [self._shell.user_module]
            line = on_timeline(asked.card, arithmetic=asked.arithmetic, clocks=clocks)
            with line, line.lap() as lap:
                self._shell.run_cell(cell)
            report = lap.report
        sys.stdout.write("\n" + overview(machine, start, report))
        return _shown(report, asked.card)


def load_ipython_extension(shell: Any) -> None:
    """Register ``%vgpu``, ``%%vgpu`` and ``%vgpu_trace``; called by ``%load_ext``."""
    magics = Magics(shell)
    shell.register_magic_function(magics.vgpu, "line_cell", "vgpu")
    shell.register_magic_function(magics.vgpu_trace, "line", "vgpu_trace")


def _words(line: str) -> list[str]:
    # IPython leaves comments in what it hands a magic.
    return line.partition("#")[0].split()


def _have(asked: Asked) -> Machine:
    machine = installed()
    if machine is not None:
        same = (machine.count, machine.memory(0).limit) == (asked.count, asked.memory)
        if same or asked.count is None:
            return machine
    _remove()
    return vgpu.install(asked.count or 1, asked.memory)


def _remove() -> None:
    machine = installed()
    if machine is not None:
        machine.uninstall()


def _shown(report: Report | None, card: Profile | None) -> Shown | None:
    if report is None or card is None:
        return None
    title = f"On {card.title}"
    try:
        drawn = picture(report, title)
    except PictureError as error:
        sys.stderr.write(f"{error}\n")
        return None
    return None if drawn is None else Shown(drawn, title)
