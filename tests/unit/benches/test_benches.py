"""Benchmarks are run by hand: what they import must be there when somebody does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BENCHES = Path(__file__).parents[2] / "bench"
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
