"""How soon the command begins: by the modules that it imports, which no busy machine changes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STARTER = ROOT / "starter/pytorch101"
REFERENCE = ROOT / "reference/pytorch101/pytorch101.py"
HEAVY = {"numpy", "rich", "yaml", "jinja2", "nbformat", "matplotlib", "pytest", "torch"}
"""Libraries that a help text or a usage error has no use for."""
UNUSED = {
    "torch", "jinja2", "nbformat", "matplotlib", "IPython", "gradescope_utils", "copydetect", "ray",
    "pytest", "grader.batch", "grader.authoring", "grader.similarity", "grader.report.html",
    "grader.report.pictures",
}  # fmt: skip
"""What grading one file, or checking it, has no use for before a sandbox is there."""

SAY_MODULES = """\
import atexit, sys
sys.argv = ["grader", *sys.argv[1:]]
atexit.register(lambda: print("\\n".join(["MODULES", *sys.modules])))
from grader.cli.command import main
main()
"""
UP_TO_THE_SANDBOX = """\
import grader.sandbox.host.open
def stop(*args, **options):
    sys.exit(77)
grader.sandbox.host.open.open_sandbox = stop
"""


def modules(*arguments: object, before: str = "", status: int, says: str = "") -> set[str]:
    """Return what was imported by the time that the command ended, having said this."""
    code = SAY_MODULES.replace("from grader.cli.command", f"{before}from grader.cli.command")
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == status, done.stderr
    assert says in done.stdout
    return set(done.stdout.split("MODULES\n")[1].split())


def ours(names: set[str]) -> int:
    return sum(name.split(".")[0] == "grader" for name in names)


def found(unwanted: set[str], names: set[str]) -> set[str]:
    return {name for name in unwanted if any(f"{each}.".startswith(f"{name}.") for each in names)}


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--help"], 0),
        (["grade", "--help"], 0),
        (["--version"], 0),
        (["nonsense"], 2),
        (["grade"], 2),
        (["batch", "pytorch101", ".", "--out", "x", "--isolation", "much"], 2),
        (["grade", "pytorch101", "nowhere.py", "--out", "x"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_help_and_usage_errors_import_little(arguments: list[str], status: int) -> None:
    names = modules(*arguments, status=status)
    # An error of ours is printed by rich, a help text by nobody but typer.
    own_error = "nowhere.py" in arguments
    assert found(HEAVY - ({"rich"} if own_error else set()), names) == set()
    assert ours(names) <= 25
    assert len(names) <= 350


def test_an_unknown_assignment_is_told_before_anything_large_is_imported(tmp_path: Path) -> None:
    names = modules("grade", "nonsense", REFERENCE, "--out", tmp_path, status=2)
    assert found(HEAVY - {"rich"}, names) == set()
    assert ours(names) <= 30


def test_grade_opens_a_sandbox_before_it_reads_the_assignment(tmp_path: Path) -> None:
    arguments = ("grade", "pytorch101", REFERENCE, "--out", tmp_path)
    names = modules(*arguments, before=UP_TO_THE_SANDBOX, status=77)
    # Its fork-server imports torch meanwhile. What comes later costs no time, on two cores.
    unwanted = UNUSED | {"numpy", "rich", "yaml", "grader.checks", "grader.assignment.types"}
    assert found(unwanted, names) == set()
    assert ours(names) <= 70


def test_check_opens_a_sandbox_before_it_imports_the_judge() -> None:
    names = modules("check", STARTER, before=UP_TO_THE_SANDBOX, status=77)
    # Its fork-server imports torch meanwhile. What comes later costs no time, on two cores.
    assert found(UNUSED | {"numpy", "rich", "yaml", "grader.checks", "grader.run"}, names) == set()
    assert ours(names) <= 60


def test_a_syntax_error_is_told_before_anything_large_is_imported(tmp_path: Path) -> None:
    folder = tmp_path / "pytorch101"
    shutil.copytree(STARTER, folder)
    (folder / "pytorch101.py").write_text("import torch\nsizes = (1, 2\n")
    names = modules("check", folder, status=0, says="line 2, column 9: '(' was never closed.")
    # A third of a second on an idle machine, of which typer alone takes half.
    unwanted = UNUSED | {"numpy", "yaml", "safetensors", "grader.checks", "grader.run"}
    assert found(unwanted | {"grader.assignment", "grader.sandbox"}, names) == set()
    assert ours(names) <= 40


def test_no_line_of_the_help_text_is_cut_short() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grader", "--help"], capture_output=True, text=True, check=True
    )
    commands = done.stdout.split("Commands:")[1].strip().splitlines()
    assert len(commands) >= 17
    assert [line for line in commands if line.endswith("...")] == []
