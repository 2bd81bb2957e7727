"""Where the command begins."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from grader.cli import command
from grader.cli.app import main
from grader.cli.support import terminate
from grader.interpreter import ONE_THREAD


class Interrupted:
    """A module that is still being imported when Ctrl-C is pressed."""

    def __getattr__(self, name: str) -> object:
        raise KeyboardInterrupt


def test_an_interrupt_while_importing_ends_it_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "keep_to_one_thread", lambda: None)
    monkeypatch.setitem(sys.modules, "grader.cli.app", Interrupted())

    with pytest.raises(SystemExit) as ended:
        command.main()

    assert ended.value.code == 130


AT_NUMPY = """\
import os, signal, sys
sys.argv = ["grader", "schema", "assignment"]
from importlib.abc import MetaPathFinder

class Interrupting(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
"""
AT_THE_OPTIONS = """\
import os, signal
from grader.cli import app as cli
cli.main = lambda: os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.parametrize("when", [AT_NUMPY, AT_THE_OPTIONS], ids=["imports", "options"])
def test_a_signal_before_it_is_at_work_ends_it_quietly(when: str) -> None:
    code = f"{when}\nfrom grader.cli.command import main\nmain()\n"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(("set_before", "expected"), [({}, "1"), ({"OMP_NUM_THREADS": "3"}, "3")])
def test_libraries_get_one_thread_unless_told_otherwise(
    set_before: dict[str, str], expected: str
) -> None:
    clean = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    code = (
        "import os, sys; from grader.interpreter import keep_to_one_thread; keep_to_one_thread();"
        "print(os.environ['OMP_NUM_THREADS'], 'numpy' in sys.modules)"
    )

    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, **set_before},
        capture_output=True,
        text=True,
        check=True,
    )

    assert told.stdout.split() == [expected, "False"]


@pytest.mark.parametrize("turn", range(2))
def test_a_command_in_this_process_leaves_no_handler_to_the_next_test(
    turn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # pytest's own process has none; the second turn sees what the first has left.
    assert signal.getsignal(signal.SIGTERM) is not terminate, turn
    monkeypatch.setattr("sys.argv", ["grader", "--version"])
    with pytest.raises(SystemExit):
        main()
    assert signal.getsignal(signal.SIGTERM) is terminate
