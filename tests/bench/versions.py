"""torchgrade under each Python and torch that can be had: a row of a table for each pair.

Makes an environment for each pair as pip finds it, with a wheel of this checkout and its test
tools, and removes it after its row. Runs in it what a newcomer does (``TRIALS``) and writes the
table of docs/versions.md. Rows of pairs that are not named stay as they are. Logs are kept in
build/versions. An environment with torch for CUDA takes 5 to 7 GB of disk.

    python tests/bench/versions.py 3.13:2.13.0 3.10:2.4.1 [--folder /somewhere] [--dry]

``3.13`` stands for the program ``python3.13``; a path of an interpreter does as well.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "build/versions"
PAGE = ROOT / "docs/versions.md"
MARKS = ("<!-- versions: made by tests/bench/versions.py -->", "<!-- end of versions -->")
ASSIGNMENT = "pytorch101"
FILE = f"{ASSIGNMENT}.py"
SHOWCASE = ROOT / f"tests/submissions/{ASSIGNMENT}/showcase"
SCRIPTS = ("autocast_lists", "ddp_spawn", "model_parallel", "streams_and_events")
NOT_TO_BE_HAD = "not to be had"

FOUND = """
import sys, numpy, torch
build = f"CUDA {torch.version.cuda}" if torch.version.cuda else "CPU"
print(".".join(map(str, sys.version_info[:3])), torch.__version__.split("+")[0], sep="|", end="|")
print(build, numpy.__version__, sep="|")
"""
RUN_NOTEBOOK = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=900, kernel_name="python3").execute()
print(notebook.cells[-1].outputs[-1].data["text/html"])
"""


class TrialError(Exception):
    """Something did not come out as it must; says what."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment, and the log of what runs in it."""

    folder: Path
    log: Path

    def run(
        self, *command: str | Path, where: Path, status: int | None = 0
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of this environment, with nothing of the one that runs this.

        Raises:
            TrialError: It took more than an hour, or ended with another status.
        """
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        program = self.folder / "bin" / str(command[0])
        try:
            done = subprocess.run(
                [program, *command[1:]], cwd=where, text=True, check=False, timeout=3600,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                # XDG_CACHE_HOME: no pair finds what another computed for the reference.
                env={**kept, "XDG_CACHE_HOME": str(self.folder / "cache"), "LC_ALL": "C.UTF-8",
                     "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise TrialError(f"{command[0]} took more than an hour") from None
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(map(str, command))}\n{done.stdout}\n")
        if status is not None and done.returncode != status:
            raise TrialError(last(done.stdout))
        return done

    def pytest(self, *options: str | Path, where: Path) -> str:
        """Run pytest, and return its count of tests; none may have failed."""
        options = ("-q", "-p", "no:cacheprovider", *options)
        printed = self.run("python", "-m", "pytest", *options, where=where, status=None).stdout
        count = printed.strip().splitlines()[-1].strip("= ").split(" in ")[0]
        if failed := re.findall(r"^(?:FAILED|ERROR) (\S+)", printed, re.MULTILINE):
            raise TrialError(f"{count}: {', '.join(failed)}")
        if "passed" not in count:
            raise TrialError(count)
        return re.sub(r", \d+ (deselected|warnings?)", "", count)


def last(output: str) -> str:
    """Return the line that says why a program failed."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line]
    return (errors or lines or ["no output"])[-1][:300]


def graded(environment: Environment, scratch: Path) -> str:
    """Run the batch of ``make grade``: each row is to be final."""
    out = scratch / "grades"
    asked = (ASSIGNMENT, SHOWCASE, "--without", "gpu", "--out", out)
    environment.run("grader", "batch", *asked, where=ROOT)
    environment.run("python", ROOT / ".ci/check_grades.py", out, where=ROOT)
    return f"{len(list(SHOWCASE.iterdir()))} rows final"


def checked(environment: Environment, scratch: Path) -> str:
    """Run the self-check on the untouched starter and on the solution: it loses no point."""
    untouched = self_check(environment, starter(scratch / "untouched", solved=False))
    if untouched["score"]:
        raise TrialError(f"the untouched starter has {untouched['score']:g} points")
    right = self_check(environment, starter(scratch / "right", solved=True))
    said = f"{right['score']:g} + {right['pending']:g}?"
    if right["score"] + right["pending"] != right["max_score"]:
        raise TrialError(f"the solution has {said} of {right['max_score']:g} points")
    return f"0 and {said}"


def self_check(environment: Environment, folder: Path) -> dict[str, float]:
    """Return the report of ``grader check`` in a folder."""
    done = environment.run("grader", "check", "--format", "json", where=folder, status=None)
    try:
        report: dict[str, float] = json.loads(done.stdout)
    except ValueError:
        raise TrialError(last(done.stdout)) from None
    return report


def starter(folder: Path, solved: bool) -> Path:
    """Lay a starter into a folder, beside the solution where it is wanted."""
    shutil.copytree(ROOT / "starter" / ASSIGNMENT, folder)
    if solved:
        shutil.copy(ROOT / "reference" / ASSIGNMENT / FILE, folder)
    return folder


def with_pytest(environment: Environment, scratch: Path) -> str:
    """Run pytest in a starter with the solution."""
    return environment.pytest(where=starter(scratch / "pytest", solved=True))


def notebook(environment: Environment, scratch: Path) -> str:
    """Run the starter's notebook from top to bottom, beside the solution: no cell may raise."""
    folder = starter(scratch / "notebook", solved=True)
    program = ("python", "-c", RUN_NOTEBOOK, folder / f"{ASSIGNMENT}.ipynb")
    page = environment.run(*program, where=folder).stdout
    if "✗" in page:
        raise TrialError("the notebook marks something of the solution as wrong")
    return "ok"


def on_virtual_gpus(environment: Environment, _: Path) -> str:
    """Run ``python -m grader.vgpu`` on four scripts: the same numbers as on the CPU."""
    test = "tests/vgpu/gpu_scripts/test_scripts.py::test_a_script_does_what_its_docstring_says"
    environment.pytest(*(f"{test}[{name}]" for name in SCRIPTS), where=ROOT)
    return f"{len(SCRIPTS)} scripts"


def walls(environment: Environment, _: Path) -> str:
    """Run the fast conformance tests of the sandbox."""
    return environment.pytest("tests/conformance", "-m", "not heavy", where=ROOT)


TRIALS: dict[str, Callable[[Environment, Path], str]] = {
    "`make grade`": graded,
    "self-check: starter and solution": checked,
    "`pytest`": with_pytest,
    "notebook": notebook,
    "virtual GPUs": on_virtual_gpus,
    "tests of the sandbox": walls,
}
HEAD = ("Python", "torch", "build", "numpy", "installed", *TRIALS)


@dataclass(slots=True)
class Row:
    """What came of one pair.

    Attributes:
        versions: Python, torch, its build and numpy: as asked for, later as found.
        cells: By column.
        reasons: Why something could not be had or went wrong.
    """

    versions: list[str]
    cells: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)

    def line(self) -> str:
        """Return it as a row in Markdown."""
        cells = (self.cells.get(column, "") for column in HEAD[4:])
        return f"| {' | '.join((*self.versions, *cells))} |"


def install(row: Row, environment: Environment, interpreter: str, product: Path) -> None:
    """Make the environment.

    Raises:
        TrialError: There is no such torch for this Python, or something else is missing.
    """
    if not (environment.folder / "bin").exists():
        subprocess.run([interpreter, "-m", "venv", environment.folder], check=True)
    pip = ("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    wanted = (f"torch=={row.versions[1]}", f"{product}[assignments,dev]")
    environment.run(*pip, *wanted, where=environment.folder)
    # An environment that was kept has an older wheel.
    environment.run(*pip, "--force-reinstall", "--no-deps", product, where=environment.folder)
    found = environment.run("python", "-c", FOUND, where=environment.folder).stdout
    row.versions = found.strip().splitlines()[-1].split("|")
    size = sum(path.lstat().st_size for path in environment.folder.rglob("*") if path.is_file())
    row.cells["installed"] = f"{size / 1e9:.1f} GB"


def row_of(pair: str, product: Path, folder: Path) -> Row:
    """Do everything for one pair, and remove its environment."""
    python, _, torch = pair.rpartition(":")
    interpreter = shutil.which(python if "/" in python else f"python{python}")
    program = Path(python).name
    row = Row([program.removeprefix("python"), torch, "", ""])  # no path of this machine
    name = f"{program}-torch{torch}"
    environment = Environment(folder / name, LOGS / f"{name}.log")
    environment.log.unlink(missing_ok=True)
    try:
        if interpreter is None:
            raise TrialError(f"python{python} is not on this machine")
        environment.folder.mkdir(parents=True, exist_ok=True)
        install(row, environment, interpreter, product)
    except TrialError as error:
        row.cells["installed"] = NOT_TO_BE_HAD
        row.reasons.append(str(error))
    else:
        try_all(row, environment)
    shutil.rmtree(environment.folder, ignore_errors=True)
    return row


def try_all(row: Row, environment: Environment) -> None:
    """Fill the cells of a row."""
    with tempfile.TemporaryDirectory(prefix="versions-") as scratch:
        for column, trial in TRIALS.items():
            try:
                row.cells[column] = trial(environment, Path(scratch))
            except TrialError as error:
                row.cells[column] = "fails"
                row.reasons.append(f"{column}: {error}")
            print(f"{column}: {row.cells[column]}", file=sys.stderr, flush=True)


def pair_of(line: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the minor version of Python and the version of torch of a row of the table."""
    python, torch = (re.findall(r"\d+", cell) for cell in line.split("|")[1:3])
    return tuple(map(int, python[:2])), tuple(map(int, torch))


def merged(page: str, rows: Iterable[Row]) -> str:
    """Return a page with these rows in its table, in place of former ones of their pairs."""
    before, _, rest = page.partition(MARKS[0])
    former, _, after = rest.partition(MARKS[1])
    found = {pair_of(line): line for line in re.findall(r"^\| \d.*\|$", former, re.MULTILINE)}
    found |= {pair_of(row.line()): row.line() for row in rows}
    head = (f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|")
    table = "\n".join((*head, *(found[pair] for pair in sorted(found))))
    return f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pairs", nargs="+", metavar="PYTHON:TORCH")
    parser.add_argument("--folder", type=Path, help="where environments are made, one at a time")
    parser.add_argument("--dry", action="store_true", help="leave docs/versions.md as it is")
    options = parser.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="versions-") as scratch:
        Path(scratch).chmod(0o755)  # other users are to read it: student processes are such
        command = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", scratch)
        subprocess.run((*command, ROOT), check=True)
        product = next(Path(scratch).glob("*.whl"))
        for pair in options.pairs:
            row = row_of(pair, product, options.folder or Path(scratch))
            print(row.line(), *row.reasons, sep="\n", flush=True)
            if not options.dry:
                page = PAGE.read_text(encoding="utf-8")
                PAGE.write_text(merged(page, [row]), encoding="utf-8")


if __name__ == "__main__":
    main()
