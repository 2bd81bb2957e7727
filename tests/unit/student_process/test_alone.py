"""Counted calls that start no processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from grader.student_process.alone import alone


def forks() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)


WAYS = [
    forks,
    lambda: os.system("true"),
    lambda: subprocess.run([sys.executable, "-c", ""], check=True),
    lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0),
]


@pytest.mark.parametrize("way", WAYS, ids=["fork", "system", "subprocess", "posix_spawn"])
def test_a_process_is_refused_while_it_would_go_uncounted(way: Callable[[], object]) -> None:
    with alone(True), pytest.raises(PermissionError, match="Operation not permitted"):
        way()
    way()
    with alone(False):
        way()
