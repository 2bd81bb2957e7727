"""The fork-server itself: what it does when it dies, and what it says when it cannot start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from driver import PATIENCE, SPEC, processes_with, running, wait_for_processes

from grader.errors import InfrastructureError
from grader.sandbox.host.fork_server import CanaryHolder, ForkServerSandbox
from grader.sandbox.host.open import (
    Choice,
    Preload,
    open_sandbox,
    probe,
    unsuited,
    users_of_their_own,
)
from grader.sandbox.host.processes import Tier
from grader.sandbox.walls import landlock
from grader.sandbox.walls.plan import Mechanism, WallPlan


def _best() -> Mechanism:
    reasons = []
    for mechanism in Mechanism:
        if reason := unsuited(mechanism):
            reasons.append(reason)
            continue
        try:
            probe(mechanism)
        except InfrastructureError as error:
            reasons.append(str(error))
        else:
            return mechanism
    pytest.skip("; ".join(reasons))


@pytest.fixture
def small():
    """A sandbox whose fork-server has no torch, and so starts at once."""
    best = _best()
    canaries = CanaryHolder()
    sandbox = ForkServerSandbox(
        WallPlan(best, canaries.canary, landlock.abi(), users_of_their_own(), preload=False),
        canaries,
    )
    yield sandbox
    sandbox.close()


def test_a_line_with_a_high_number_is_not_the_submissions() -> None:
    # More than a student process may open.
    taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(600)]
    try:
        with open_sandbox("auto") as sandbox:
            sandbox.start(SPEC).end()
    finally:
        for fd in taken:
            os.close(fd)


def test_a_dead_fork_server_is_started_again_once(small: ForkServerSandbox) -> None:
    small.start(SPEC).end()
    small._link._process.kill()
    small._link._thread.join(10)
    small.start(SPEC).end()
    small._link._process.kill()
    small._link._thread.join(10)
    with pytest.raises(InfrastructureError, match="fork-server"):
        small.start(SPEC)


def test_a_process_whose_fork_server_died_is_nobodys_fault(small: ForkServerSandbox) -> None:
    process = small.start(SPEC)
    small._link._process.kill()
    small._link._thread.join(10)
    with pytest.raises(InfrastructureError, match="fork-server died"):
        process.end()
    with pytest.raises(InfrastructureError, match="fork-server died"):
        process.end()


def test_nothing_is_left_in_the_file_system(small: ForkServerSandbox) -> None:
    small.start(SPEC).end()
    folder = Path(small._canaries.canary.folder)
    assert folder.exists()
    mounts = Path("/proc/self/mountinfo").read_text()
    small.close()
    assert not folder.exists()
    assert Path("/proc/self/mountinfo").read_text() == mounts


ENDING = """
import sys, time
sys.path[:0] = {path!r}
from driver import SPEC, Running
from grader.sandbox.host.open import open_sandbox
sandbox = open_sandbox("auto")
process = Running(sandbox.start(SPEC))
process.load('''
import ctypes, os, time
def stay():
    ctypes.CDLL(None).prctl(15, b"{mark}", 0, 0, 0)
    time.sleep(600)
''')
process.send("stay")
time.sleep(600)
"""


def test_when_the_host_is_killed_all_go(tmp_path: Path) -> None:
    _best()  # Skips where there is none.
    mark = f"host{os.getpid() % 10**6}"
    script = tmp_path / "host.py"
    script.write_text(ENDING.format(path=[str(Path(__file__).parent)], mark=mark))
    host = subprocess.Popen([sys.executable, str(script)])
    try:
        wait_for_processes(mark, 1)
    finally:
        host.send_signal(signal.SIGKILL)
        host.wait()
    deadline = time.monotonic() + PATIENCE
    while processes_with(mark):
        assert time.monotonic() < deadline
        time.sleep(0.01)


HANDED_ON = """
import os, signal, sys, threading
sys.path[:0] = {path!r}
from driver import SPEC, Running, processes_with, wait_for_processes
from grader.sandbox.host.open import open_sandbox

STAYS = '''
import ctypes, time
def one():
    return 1
def stay():
    ctypes.CDLL(None).prctl(15, b"{mark}", 0, 0, 0)
    time.sleep(600)
'''
source = open_sandbox("auto").hand_on()
assert threading.active_count() == 1
ended, killed = os.fork(), 1
if ended:
    killed = os.fork()
if not ended or not killed:
    with source.open() as sandbox:
        process = Running(sandbox.start(SPEC))
        process.load(STAYS)
        assert process.value("one") == 1
        if not killed:
            process.send("stay")
            process.reply(600)
    os._exit(0)
assert os.waitpid(ended, 0)[1] == 0
wait_for_processes("{mark}", 1)
os.kill(killed, signal.SIGKILL)
os.waitpid(killed, 0)
while processes_with("{mark}"):
    pass
source.close()
"""


def test_forks_of_the_host_have_fork_servers_of_their_own(tmp_path: Path) -> None:
    _best()  # Skips where there is none.
    mark = f"fork{os.getpid() % 10**6}"
    script = tmp_path / "host.py"
    script.write_text(HANDED_ON.format(path=[str(Path(__file__).parent)], mark=mark))
    command = [sys.executable, str(script)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_where_the_fork_server_has_died_others_start_their_own(small: ForkServerSandbox) -> None:
    with small.hand_on() as source:
        with source.open() as another:
            another.start(SPEC).end()
        small._link._process.kill()
        small._link._process.wait()
        for _ in range(2):
            with source.open() as another:
                another.start(SPEC).end()


def test_one_is_closed_without_a_word_where_its_fork_server_has_gone(
    capfd: pytest.CaptureFixture[str],
) -> None:
    canaries = CanaryHolder()
    plan = WallPlan(_best(), canaries.canary, landlock.abi(), users_of_their_own(), preload=False)
    first = ForkServerSandbox(plan, canaries)
    first.start(SPEC).end()
    source = first.hand_on()
    another = source.open()
    process = another.start(SPEC)
    source.close()
    another.close()
    with pytest.raises(InfrastructureError, match="died"):
        process.end()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("choice", ["full", "restricted"])
def test_less_than_asked_is_refused_with_what_to_do(
    choice: Choice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.sandbox.host.open.unsuited", lambda mechanism: "not today")
    with pytest.raises(InfrastructureError) as error:
        open_sandbox(choice)
    assert f"“{choice}” was asked for" in str(error.value)
    assert "not today" in str(error.value)
    assert "--isolation none" in str(error.value)


def test_auto_never_falls_to_none_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.host.open.unsuited", lambda mechanism: "not today")
    with pytest.raises(InfrastructureError):
        open_sandbox("auto")


def test_auto_elsewhere_is_none_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with open_sandbox("auto") as sandbox:
        assert sandbox.isolation.tier is Tier.NONE
    with pytest.raises(InfrastructureError, match="need Linux"):
        open_sandbox("full")


def test_a_hidden_path_inside_the_view_is_refused() -> None:
    if all(unsuited(each) for each in Mechanism):
        pytest.skip("no walls here")
    sandbox = open_sandbox("auto", hidden=(os.__file__,))
    with sandbox, pytest.raises(InfrastructureError, match="read_outside met ok"):
        sandbox.start(SPEC)


DRAWS = """
import os, sys
imported = sorted({"h5py", "matplotlib.pyplot"} & set(sys.modules))

def draw():
    import matplotlib.pyplot as plt
    plt.plot([1, 2])
    plt.savefig("a.png")
    return imported, os.path.exists("a.png"), os.environ["MPLCONFIGDIR"] == os.getcwd()
"""


def test_processes_find_what_the_assignment_imports(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    preload = Preload(("h5py", "matplotlib.pyplot", "not_installed"), str(tmp_path))
    with open_sandbox("auto", preload=preload) as sandbox, running(sandbox, DRAWS) as process:
        imported, drawn, own_folder = process.value("draw")
        assert "matplotlib.pyplot" in imported
        assert (drawn, own_folder) == (True, True)
    assert list(tmp_path.glob("fontlist*.json"))


IMPORTED = """
import sys
import time
imported = "torch.distributed.tensor" in sys.modules

def ready():
    return imported
"""


def test_what_virtual_gpus_take_is_imported_while_the_first_process_is_at_work() -> None:
    # Torch 2.6 brings it along with something else.
    warmed = "from grader.student_process.server import warm\nwarm()\n"
    command = [sys.executable, "-c", f"{warmed}{IMPORTED}\nprint(imported)"]
    alone = subprocess.run(command, capture_output=True, text=True, check=True)
    with open_sandbox("auto") as sandbox:
        with running(sandbox, IMPORTED) as first:
            assert str(first.value("ready")) == alone.stdout.strip()
        with running(sandbox, IMPORTED) as second:
            assert second.value("ready") is True
