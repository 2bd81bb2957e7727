"""Which tests go to one worker of pytest-xdist.

All tests of a file do, so that what they share is made once: a sandbox, a grader whose reference
ran. ``--dist loadgroup`` would do that by marks, but pytest 9.2 made the names of tests read-only,
and pytest-xdist 3.8 writes its groups into those names: the marks have no effect, without a word.
"""

from __future__ import annotations

import re
from typing import Any

from xdist.scheduler import LoadScopeScheduling

_TOGETHER = ("tests/containers/",)
"""Folders that go to one worker as a whole: they share a container engine."""

_APART = (
    "tests/test_assignments.py",
    "tests/test_oracle.py",
    "tests/test_submissions.py",
    "tests/unit/benches/test_states.py",
    "tests/vgpu/gpu_scripts/test_scripts.py",
)
"""Files that are cut up by assignment or script: they take longest, and share nothing more.

The last one, in one piece, would keep one worker for minutes while the others wait."""


def scope_of(test: str) -> str:
    """Return the name of what a test shares its worker with."""
    path = test.partition("::")[0]
    for folder in _TOGETHER:
        if path.startswith(folder):
            return folder
    assignment = re.search(r"\[(\w+)[/\]]", test) if path in _APART else None
    return f"{path} {assignment[1]}" if assignment else path


class ByFile(LoadScopeScheduling):
    """Hands out files in the order of their names.

    The default begins with the files of most tests, and ends with the one that has a single long
    test, while the other workers wait.
    """

    def __init__(self, config: Any, log: Any) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)
