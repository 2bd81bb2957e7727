"""What a fork-server imports for an assignment: what its own files import, and no more."""

from __future__ import annotations

import pytest

from grader.sandbox.host.open import Preload, preload
from grader.sandbox.walls.plan import Canary, Mechanism, WallPlan
from grader.student_process.server import warm
from grader.wire.messages import from_bytes, to_bytes

DRAWS = b"def plot():\n    import matplotlib.pyplot as plt\n"
READS = b"import torch, math\nfrom h5py import File\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ([b"import torch\n# import h5py\nx = 'import matplotlib'\n"], Preload()),
        ([b"import torch", READS], Preload(("h5py",))),
        ([DRAWS, READS], Preload(("h5py", "matplotlib.pyplot"), "/fonts")),
    ],
)
def test_what_the_assignments_files_import(files: list[bytes], found: Preload) -> None:
    assert preload(files, "/fonts") == found


def test_without_a_folder_for_fonts_each_process_imports_for_itself() -> None:
    assert preload([DRAWS, READS], "") == Preload(("h5py",))


def test_the_fork_server_is_told() -> None:
    plan = WallPlan(Mechanism.NS, Canary("/f", "s", {}), also=("h5py",), fonts="/fonts")
    assert from_bytes(to_bytes(plan), WallPlan) == plan


def test_what_is_not_installed_is_left_out() -> None:
    warm(("not_installed_anywhere",))
