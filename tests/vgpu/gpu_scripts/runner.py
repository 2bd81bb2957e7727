"""Runs whole scripts on virtual GPUs and on the CPU, and says what came of them.

A script's docstring says how it runs and what is to come of it, a line each::

    gpus: 2                  so many virtual GPUs; 1
    nproc: 2                 a process for each rank
    tolerance: 0.01          of its numbers beside the CPU's, relative; 1e-5
    refused: torch.compile   it must be refused by that name
    raises: Tensors must     it must end in an error of torch's with these words

Lines that it prints with a word and numbers behind it must be the same on the CPU.
``python tests/vgpu/gpu_scripts/runner.py`` runs all of them and prints a table.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from gpu_scripts.processes import Ran, run_together
from grader.vgpu.__main__ import Meeting

FOLDER = Path(__file__).parent / "scripts"
REFUSED = "is not supported on virtual CUDA devices"
_NUMBER = re.compile(r"[-+]?\d+\.\d*(?:e[-+]?\d+)?|[-+]?\d+|nan|inf")
OBSCURE = re.compile(r"internal error|torch\._C'|not compiled with CUDA|INTERNAL ASSERT", re.I)


@dataclass(frozen=True, slots=True)
class Script:
    """A script and what its docstring says."""

    path: Path
    title: str
    said: dict[str, str]

    @property
    def gpus(self) -> int:
        """Virtual GPUs that it needs."""
        return int(self.said.get("gpus", "1"))

    @property
    def nproc(self) -> int:
        """Ranks; 0 where the script is one process, or starts them itself."""
        return int(self.said.get("nproc", "0"))

    @property
    def tolerance(self) -> float:
        """Relative, of its numbers."""
        return float(self.said.get("tolerance", "1e-5"))


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of a run: ``works``, ``refused`` or ``wrong``, and why."""

    outcome: str
    why: str = ""
    told: str = ""


def scripts() -> list[Script]:
    """Return all of them by name."""
    return [script(path) for path in sorted(FOLDER.glob("*.py"))]


def script(path: Path) -> Script:
    """Read a script's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    lines = text.splitlines()
    pairs = (line.split(": ", 1) for line in lines[1:] if ": " in line)
    return Script(path, lines[0] if lines else path.stem, dict(pairs))


def run(given: Script) -> Ended:
    """Run a script on virtual GPUs, and where that works on the CPU; compare."""
    options = ["--gpus", str(given.gpus)]
    if given.nproc:
        options += ["--nproc", str(given.nproc)]
    command = [sys.executable, "-m", "grader.vgpu", *options, str(given.path)]
    virtual = run_together(command, [{}])[0]
    told = virtual.out + virtual.err
    wanted = given.said.get("refused") or given.said.get("raises")
    if wanted is not None:
        return _refused(virtual, wanted, "refused" in given.said)
    if virtual.status:
        refused = REFUSED in virtual.err
        return Ended("refused" if refused else "wrong", last_error(virtual.err), told)
    host = on_host([sys.executable, str(given.path)], given.nproc)
    found, expected = numbers(virtual.out), numbers("".join(ran.out for ran in host))
    why = differences(found, expected, given.tolerance)
    if why:
        told += "".join(f"\n\nOn the CPU:\n{ran.err}" for ran in host if ran.status)
    return Ended("wrong" if why else "works", why, told)


def _refused(virtual: Ran, wanted: str, by_name: bool) -> Ended:
    right = virtual.status != 0 and wanted in virtual.err
    right = right and (REFUSED in virtual.err or not by_name)
    right = right and not OBSCURE.search(virtual.err)
    outcome = ("refused" if by_name else "works") if right else "wrong"
    return Ended(outcome, last_error(virtual.err), virtual.err)


def on_host(command: Sequence[str], nproc: int, **options: Any) -> list[Ran]:
    """Run a command on the CPU, once or as ranks; return what came of each.

    Args:
        command: Python and the script.
        nproc: Ranks; 0 for one process that is none.
        options: Of ``run_together``.
    """
    if not nproc:
        return run_together(command, [{}], **options)
    meeting = Meeting()
    ranks = [
        {**meeting.environment(nproc), "RANK": str(rank), "LOCAL_RANK": str(rank)}
        for rank in range(nproc)
    ]
    return run_together(command, ranks, **options)


def numbers(text: str) -> list[tuple[str, list[float]]]:
    """Return the lines that consist of words and numbers, sorted: ranks print in any order."""
    found = []
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        values = _NUMBER.findall(rest)
        if word.isalpha() and word.islower() and values:
            found.append((word, [float(value) for value in values]))
    return sorted(found, key=lambda each: (each[0], each[1][0] if each[0] == "rank" else 0))


def differences(
    found: list[tuple[str, list[float]]], expected: list[tuple[str, list[float]]], near: float
) -> str:
    """Return in which line the numbers differ; empty where in none."""
    if not expected:
        return "printed no numbers on the CPU"
    if [len(values) for _, values in found] != [len(values) for _, values in expected]:
        return f"printed {len(found)} lines of numbers, on the CPU {len(expected)}"
    for (word, values), (_, others) in zip(found, expected, strict=True):
        for value, other in zip(values, others, strict=True):
            if not math.isclose(value, other, rel_tol=near, abs_tol=near):
                return f"{word}: {value} and on the CPU {other}"
    return ""


def last_error(text: str) -> str:
    """Return the last line of a traceback."""
    errors = re.findall(r"^(?:\[rank\d\]: *)?([\w.]*(?:Error|Exception)\b.*)$", text, re.M)
    return str(errors[-1]) if errors else text.strip()[-200:]


def main(names: Sequence[str]) -> int:
    """Run scripts and print the table."""
    chosen = [each for each in scripts() if not names or each.path.stem in names]
    wrong = 0
    for each in chosen:
        ended = run(each)
        wrong += ended.outcome == "wrong"
        sys.stdout.write(f"{ended.outcome:8} {each.path.stem:28} {ended.why[:160]}\n")
        sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
