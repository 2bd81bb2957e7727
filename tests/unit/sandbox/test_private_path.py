"""A library may put a folder of its own on ``sys.path`` as it is imported, as torch 2.6 does."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

FOLDERS = """
import sys
sys.path.append(sys.argv[1])
from grader.sandbox.walls import view
print(sys.argv[1] in view.folders())
"""


def shown(folder: Path) -> bool:
    done = subprocess.run(
        [sys.executable, "-c", FOLDERS, str(folder)], capture_output=True, text=True, check=True
    )
    return done.stdout.strip() == "True"


@pytest.mark.parametrize(("mode", "wanted"), [(0o700, False), (0o755, True)])
def test_a_folder_that_nobody_else_may_open_is_not_shown(mode: int, wanted: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(mode)
        assert shown(folder) is wanted
