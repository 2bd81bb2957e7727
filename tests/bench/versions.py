"""What a student does, under each Python and torch to be had: one row of a table for each pair.

Makes an environment for each pair, with a wheel of this checkout and its test tools, as pip finds
them for that Python. Runs in it, from a folder outside the checkout where it can: `grader check` of
the reference and of the untouched starter, `grader grade` of all references, and the fast tests of
the self-check and the wire. Prints Markdown; a second table has the reasons. Logs are kept in
build/versions.

    python tests/bench/versions.py python3.10 python3.13 --torch 2.4.0 2.13.0 [--keep /tmp/versions]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "build/versions"
ASSIGNMENT = "pytorch101"
FILE = f"{ASSIGNMENT}.py"
COLUMNS = ("install", "check, reference", "check, starter", "grade, references", "fast tests")
FOUND = """
import sys, numpy, torch
print(".".join(map(str, sys.version_info[:3])), torch.__version__, numpy.__version__)
"""


@dataclass(slots=True)
class Row:
    """What came of one pair.

    Attributes:
        versions: Python, torch and numpy, as asked for, later as found.
        cells: By column.
        reasons: Why something could not be had or went wrong.
    """

    versions: list[str]
    cells: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment, and the log of what runs in it."""

    folder: Path
    log: Path

    def run(self, *command: str | Path, where: Path) -> subprocess.CompletedProcess[str]:
        """Run a program of this environment, with nothing of the one that runs this."""
        program = self.folder / "bin" / str(command[0])
        # XDG_CACHE_HOME: what another pair computed for the reference must not be found again.
        environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "LC_ALL": "C.UTF-8",
        }
        done = subprocess.run(
            [program, *command[1:]], cwd=where, env=environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=3600,
        )  # fmt: skip
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(map(str, command))}\n{done.stdout}\n")
        return done


def wheel(folder: Path) -> Path:
    """Build the wheel that a course gives its students."""
    command = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT)
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def last(output: str) -> str:
    """Return the line that says why a program failed."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line]
    return (errors or lines or ["no output"])[-1][:300]


def install(row: Row, environment: Environment, python: str, torch: str, product: Path) -> bool:
    """Make the environment; return whether everything is there."""
    interpreter = shutil.which(python)
    if interpreter is None:
        row.cells["install"] = "not to be had"
        row.reasons.append(f"{python} is not on this machine")
        return False
    if not (environment.folder / "bin").exists():
        subprocess.run([interpreter, "-m", "venv", environment.folder], check=True)
    pip = ("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    steps = (
        (f"torch=={torch}", f"{product}[assignments,dev]"),
        ("--force-reinstall", "--no-deps", str(product)),  # a kept environment has an older one
    )
    for step in steps:
        done = environment.run(*pip, *step, where=environment.folder)
        if done.returncode:
            row.cells["install"] = "not to be had"
            row.reasons.append(last(done.stdout))
            return False
    row.versions = environment.run("python", "-c", FOUND, where=environment.folder).stdout.split()
    row.cells["install"] = "yes"
    return True


def checked(row: Row, environment: Environment, folder: Path, column: str) -> None:
    """Run `grader check`; a starter must come out as unwritten, a reference as right."""
    done = environment.run("grader", "check", folder, "--format", "json", where=folder)
    try:
        report = json.loads(done.stdout)
        row.cells[column] = f"{report['score']:g} / {report['max_score']:g}"
        row.cells[column] += f", {report['pending']:g} at grading" if report["pending"] else ""
    except (ValueError, KeyError):
        row.cells[column] = "fails"
        row.reasons.append(f"{column}: {last(done.stdout)}")


def graded(row: Row, environment: Environment, scratch: Path) -> None:
    """Run `grader grade` on every reference: it must lose no point."""
    tiers, right = set(), 0
    references = sorted(path.name for path in (ROOT / "reference").iterdir())
    for name in references:
        path, out = ROOT / f"reference/{name}/{name}.py", scratch / f"graded-{name}"
        # Here, because an assignment's id is looked up from the folder one is in.
        done = environment.run("grader", "grade", name, path, "--out", out, where=ROOT)
        try:
            report = json.loads((out / "report.json").read_text())
        except (OSError, ValueError):
            row.reasons.append(f"{name}: {last(done.stdout)}")
            continue
        tiers.add(report["environment"]["isolation"]["tier"])
        lost = report["max_score"] - report["score"] - report["pending"]
        right += not lost
        row.reasons += [f"{name}: the reference loses {lost:g} points"] if lost else []
    row.cells["grade, references"] = f"{right} of {len(references)} ({', '.join(sorted(tiers))})"


def tested(row: Row, environment: Environment) -> None:
    """Run the fast tests of the self-check and the wire."""
    folders = ("tests/unit/selfcheck", "tests/unit/wire")
    options = ("-q", "-m", "not heavy", "-p", "no:cacheprovider")
    done = environment.run("python", "-m", "pytest", *folders, *options, where=ROOT)
    row.cells["fast tests"] = last(done.stdout.replace("rror", "")).strip("= ").split(" in ")[0]
    row.reasons += [line for line in done.stdout.splitlines() if line.startswith("FAILED")]


def row_of(python: str, torch: str, product: Path, keep: Path) -> Row:
    """Do everything for one pair."""
    row = Row([python.removeprefix("python"), torch, ""])
    name = f"{Path(python).name}-torch{torch}"
    environment = Environment(keep / name, LOGS / f"{name}.log")
    environment.folder.mkdir(parents=True, exist_ok=True)
    environment.log.unlink(missing_ok=True)
    if not install(row, environment, python, torch, product):
        return row
    with tempfile.TemporaryDirectory(prefix="versions-") as scratch:
        folder = Path(scratch) / ASSIGNMENT
        shutil.copytree(ROOT / "starter" / ASSIGNMENT, folder)
        checked(row, environment, folder, "check, starter")
        shutil.copy(ROOT / "reference" / ASSIGNMENT / FILE, folder)
        checked(row, environment, folder, "check, reference")
        graded(row, environment, Path(scratch))
    tested(row, environment)
    return row


def table(rows: list[Row]) -> str:
    """Return the rows in Markdown, and what went wrong below."""
    lines = [f"| Python | torch | numpy | {' | '.join(COLUMNS)} |", "|---" * 8 + "|"]
    for row in rows:
        cells = [*row.versions, *(row.cells.get(column, "–") for column in COLUMNS)]
        lines.append(f"| {' | '.join(cells)} |")
    reasons = [
        f"- Python {row.versions[0]}, torch {row.versions[1]}: {reason}"
        for row in rows
        for reason in row.reasons
    ]
    return "\n".join([*lines, *([""] if reasons else []), *reasons])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pythons", nargs="+", help="commands or paths")
    parser.add_argument("--torch", nargs="+", required=True)
    parser.add_argument("--keep", type=Path, help="keep environments here (some GB each)")
    options = parser.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix="versions-") as scratch:
        product = wheel(Path(scratch))
        for python in options.pythons:
            for torch in options.torch:
                keep = options.keep or Path(scratch)
                rows.append(row_of(python, torch, product, keep))
                print(table(rows[-1:]), file=sys.stderr, flush=True)
                if not options.keep:
                    shutil.rmtree(keep / f"{Path(python).name}-torch{torch}", ignore_errors=True)
    print(table(rows))


if __name__ == "__main__":
    main()
