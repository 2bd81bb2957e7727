"""Virtual GPUs in a notebook: ``%load_ext grader``, or ``%load_ext grader.vgpu`` for these alone.

``%vgpu 2`` gives the notebook two of them, ``%vgpu 2 8GiB`` with so much memory each; ``%vgpu off``
takes them away. ``%%vgpu 2`` at the head of a cell does the same if need be, runs the cell, and
says what they did in it. ``%%vgpu 2 --card v100`` also puts the cell on a timeline and shows a
picture of it; ``--no-arithmetic`` then leaves out all computing. ``%vgpu_trace`` lists everything
since they were made, with ``--card t4`` in the time that it would take there.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader import vgpu
from grader.vgpu.core.machine import Machine, installed
from grader.vgpu.show import listing, overview
from grader.vgpu.timeline import Profile, afterwards, on_timeline
from grader.vgpu.timeline.profiles import profile
from grader.vgpu.timeline.report import PictureError, Report, ShownPicture, picture
from grader.vgpu.words import said


class Magics:
    """The two magics of one notebook."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def vgpu(self, line: str, cell: str | None = None) -> ShownPicture | None:
        """Have virtual GPUs; with a cell, run it on them, say what they did, and show when.

        A line that nobody can make sense of is reported, and the cell does not run.
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

    def vgpu_trace(self, line: str = "") -> ShownPicture | None:
        """Print everything that the devices did since they were made."""
        machine = installed()
        if machine is None:
            sys.stdout.write(said("There are no virtual GPUs; %vgpu 2 makes two.") + "\n")
            return None
        try:
            asked = parse_line(_words(line))
            if asked != MagicLine(card=asked.card):
                raise ValueError("write %vgpu_trace or %vgpu_trace --card v100")
        except ValueError as error:
            sys.stderr.write(f"%vgpu_trace: {error}\n")
            return None
        card = asked.card
        report = None if card is None else afterwards(machine.trace.since(0), card, machine.names)
        sys.stdout.write(f"{listing(machine)}\n{overview(machine, report=report)}")
        return _shown(report, card)

    def _run(self, cell: str, machine: Machine, asked: MagicLine) -> ShownPicture | None:
        start = machine.trace.count
        report = None
        if asked.card is None:
            self._shell.run_cell(cell)
        else:
            # Here are a cell's own names for clocks, such as that of “from time import
            # perf_counter”.
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


def _have(asked: MagicLine) -> Machine:
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


def _shown(report: Report | None, card: Profile | None) -> ShownPicture | None:
    if report is None or card is None:
        return None
    title = f"On {card.title}"
    try:
        drawn = picture(report, title)
    except PictureError as error:
        sys.stderr.write(f"{error}\n")
        return None
    return None if drawn is None else ShownPicture(drawn, title)


_UNITS = {
    "": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip

_CARD, _SHAPES = "--card", "--no-arithmetic"


@dataclass(frozen=True, slots=True)
class MagicLine:
    """What the line of a magic asks for.

    Attributes:
        count: Number of GPUs; None: those that are there, or one.
        memory: Bytes of each; None for no bound.
        card: Whose time it is to take; None for none.
        arithmetic: Whether anything is computed.
    """

    count: int | None = None
    memory: int | None = None
    card: Profile | None = None
    arithmetic: bool = True


def parse_line(words: list[str]) -> MagicLine:
    """Return what ``2 8GiB --card v100 --no-arithmetic`` asks for; all of it may be left out.

    Raises:
        ValueError: It is none of that, or there is no such card.
    """
    rest = list(words)
    card = None
    if _CARD in rest:
        at = rest.index(_CARD)
        # A card that is left out is reported like one that does not exist: with the list of them.
        card = profile("".join(rest[at + 1 : at + 2]))
        del rest[at : at + 2]
    arithmetic = _SHAPES not in rest
    rest = [word for word in rest if word != _SHAPES]
    if len(rest) > 2 or any(word.startswith("-") for word in rest):
        raise ValueError(
            "write %vgpu 2, %vgpu 2 8GiB or %vgpu off; in a cell also %%vgpu 2 --card v100, and "
            "with that --no-arithmetic"
        )
    if not arithmetic and card is None:
        raise ValueError(f"{_SHAPES} leaves times alone: name a card for them, {_CARD} v100")
    count = parse_count(rest[0]) if rest else None
    return MagicLine(count, parse_size(rest[1]) if len(rest) == 2 else None, card, arithmetic)


def parse_picture(text: str) -> tuple[Path, str]:
    """Return a picture's file and its form, ``svg`` or ``png``.

    Raises:
        ValueError: The name has another ending.
    """
    path = Path(text)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        raise ValueError(f"“{text}” is no name of a picture; it must end in .svg or .png")
    return path, kind


def parse_time(text: str) -> float:
    """Return seconds: ``2.5s``, ``300ms``; a number alone is in seconds.

    Raises:
        ValueError: It is no time.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|ms|us|µs)?\s*", text)
    if found is None:
        raise ValueError(f"“{text}” is no time; write a number and a unit, such as 2.5s or 300ms")
    return float(found[1]) * {"ms": 1e-3, "us": 1e-6, "µs": 1e-6}.get(found[2], 1.0)


def parse_lap(text: str) -> int:
    """Return the number of a lap.

    Raises:
        ValueError: It is none from 1 on.
    """
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"“{text}” is no number of a lap; the first is 1")
    return int(text)


def parse_size(text: str) -> int:
    """Return bytes: ``8GiB``, ``512M`` and ``1.5 GB`` are understood.

    Raises:
        ValueError: It is no size, or less than a byte.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    unit = found[2].lower() if found else ""
    if found is None or unit not in _UNITS:
        raise ValueError(f"“{text}” is no size; write a number and a unit, such as 8GiB or 512MiB")
    size = int(float(found[1]) * _UNITS[unit])
    if size < 1:
        raise ValueError(f"“{text}” is less than one byte")
    return size


def parse_count(text: str) -> int:
    """Return a number of GPUs.

    Raises:
        ValueError: It is none from 1 to 64.
    """
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise ValueError(f"“{text}” is no number of GPUs; write one from 1 to 64")
    return int(text)


def parse_ranks(text: str) -> int:
    """Return a number of processes.

    Raises:
        ValueError: It is none from 1 to 64.
    """
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise ValueError(f"“{text}” is no number of processes; write one from 1 to 64")
    return int(text)


def parse_module(text: str) -> tuple[str, str]:
    """Return the name of a module and the file that answers to it.

    Raises:
        ValueError: It has another form than ``torchvision.models=resnet.py``.
    """
    name, _, file = text.partition("=")
    named = all(part.isidentifier() for part in name.split("."))
    if not named or not file.endswith(".py") or file.startswith("/"):
        raise ValueError(
            f"“{text}” is no module with a file beside the script; write "
            "torchvision.models.resnet=resnet.py"
        )
    return name, file
