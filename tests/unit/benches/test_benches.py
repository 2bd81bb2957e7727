"""Benchmarks are run by hand: what they import must be there when somebody does."""

from __future__ import annotations

import ast
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from faults import no_faults

BENCHES = Path(__file__).parents[2] / "bench"
IMPORT = re.compile(r"from (grader(?:\.\w+)*) import ([^()\n]+)")
LOAD = """
import runpy, sys
for path in sys.argv[1:]:
    runpy.run_path(path)
"""


def test_every_bench_can_be_loaded() -> None:
    files = sorted(BENCHES.glob("*.py"))
    paths = os.pathsep.join(map(str, (BENCHES, BENCHES.parent)))
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *map(str, files)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert files


def _is_there(name: str) -> bool:
    try:
        pkgutil.resolve_name(name)
    except (AttributeError, ImportError):
        return False
    return True


def _unknown(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for module, names in IMPORT.findall(node.value):
                each = [f"{module}.{name.split()[0]}" for name in names.split(",")]
                yield from (name for name in each if not _is_there(name))


def test_programs_in_the_text_of_a_bench_import_what_is_there() -> None:
    benches = {path.name: path for path in sorted(BENCHES.glob("*.py"))}
    no_faults(benches, _unknown, "it was renamed or is gone: say what is there now")
