"""Virtual GPUs in a notebook: ``%load_ext grader.vgpu``.

``%vgpu 2`` gives the notebook two of them, ``%vgpu 2 8GiB`` with so much memory each; ``%vgpu off``
takes them away. ``%%vgpu 2`` at the head of a cell does the same if need be, runs the cell, and
says what they did in it. ``%vgpu_trace`` lists everything since they were made.
"""

from __future__ import annotations

import sys
from typing import Any

from grader import vgpu
from grader.vgpu.machine import Machine, installed
from grader.vgpu.options import parse_count, parse_size
from grader.vgpu.show import listing, overview


class Magics:
    """The two magics of one notebook.

    Args:
        shell: IPython's.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._asked: tuple[int, int | None] | None = None

    def vgpu(self, line: str, cell: str | None = None) -> None:
        """Have virtual GPUs; with a cell, run it on them and say what they did.

        A line that is neither a number of GPUs, with a size or without, nor ``off`` is told so, and
        the cell does not run.
        """
        # IPython leaves comments in what it hands a magic.
        words = line.partition("#")[0].split()
        if words == ["off"]:
            self._remove()
            return
        try:
            machine = self._have(words)
        except ValueError as error:
            # A traceback through IPython would hide the one line that matters.
            sys.stderr.write(f"%vgpu: {error}\n")
            return
        if cell is None:
            return
        start = machine.trace.count
        self._shell.run_cell(cell)
        sys.stdout.write("\n" + overview(machine, start))

    def vgpu_trace(self, _: str = "") -> None:
        """Print everything that the devices did since they were made."""
        machine = installed()
        if machine is None:
            sys.stdout.write("There are no virtual GPUs; %vgpu 2 makes two.\n")
            return
        sys.stdout.write(f"{listing(machine)}\n{overview(machine)}")

    def _have(self, words: list[str]) -> Machine:
        if len(words) > 2:
            raise ValueError("write %vgpu 2, %vgpu 2 8GiB or %vgpu off")
        machine = installed()
        if not words and machine is not None:
            return machine
        count = parse_count(words[0]) if words else 1
        asked = count, parse_size(words[1]) if len(words) == 2 else None
        if machine is not None and asked == self._asked:
            return machine
        self._remove()
        self._asked = asked
        return vgpu.install(*asked)

    def _remove(self) -> None:
        machine = installed()
        if machine is not None:
            machine.uninstall()


def load_ipython_extension(shell: Any) -> None:
    """Register ``%vgpu``, ``%%vgpu`` and ``%vgpu_trace``; called by ``%load_ext``."""
    magics = Magics(shell)
    shell.register_magic_function(magics.vgpu, "line_cell", "vgpu")
    shell.register_magic_function(magics.vgpu_trace, "line", "vgpu_trace")
