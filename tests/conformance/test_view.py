"""What the view shows stays visible and read-only, also where it lies in a process's scratch."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from driver import SPEC, running

import grader
from grader.errors import InfrastructureError
from grader.sandbox.host.fork_server import CanaryHolder, ForkServerSandbox
from grader.sandbox.host.forked import Link
from grader.sandbox.host.open import probe, unsuited, users_of_their_own
from grader.sandbox.walls import landlock, view
from grader.sandbox.walls.plan import Mechanism, WallPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

SPACES = [Mechanism.NS, Mechanism.USERNS]
ROOMY = replace(SPEC, memory=4 * 2**30)
"""For a process that imports torch itself: a build with CUDA maps more than 512 MiB."""
PLACES = [view.SCRATCH, view.SHARED_MEMORY]

TRYING = """
import os
import shutil

def outcome(action, *args):
    try:
        return action(*args) or "ok"
    except OSError as error:
        return type(error).__name__ + ": " + os.strerror(error.errno)

def imported():
    import late_module
    return late_module.VALUE

def tampered(library):
    file, top = library + "/late_module.py", os.path.dirname(library)
    return {
        "write": outcome(lambda: open(file, "a").close()),
        "create": outcome(lambda: open(library + "/new.py", "w").close()),
        "create beside": outcome(lambda: open(top + "/new.py", "w").close()),
        "unlink": outcome(os.unlink, file),
        "chmod": outcome(os.chmod, file, 0o666),
        "rename library": outcome(os.rename, library, library + "2"),
        "rename top": outcome(os.rename, top, top + "2"),
        "rmdir top": outcome(os.rmdir, top),
        "rmtree top": outcome(shutil.rmtree, top),
        "link": outcome(os.link, file, os.path.dirname(top) + "/link.py"),
    }

def beside(library):
    return sorted(os.listdir(os.path.dirname(library)))

def scratch(place):
    path = place + "/mine"
    with open(path, "w") as file:
        file.write("mine")
    os.rename(path, path + "2")
    os.unlink(path + "2")
    return sorted(set(os.listdir(place)) - {"hand_in.py"})
"""


@pytest.fixture(params=SPACES, ids=lambda mechanism: mechanism.value)
def mechanism(request: pytest.FixtureRequest) -> Mechanism:
    if reason := unsuited(request.param):
        pytest.skip(f"{request.param.value}: {reason}")
    try:
        probe(request.param)
    except InfrastructureError as error:
        pytest.skip(f"{request.param.value}: {error}")
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> str:
    if not os.access(request.param, os.W_OK):
        pytest.skip(f"{request.param} cannot be written to")
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def library(place: str) -> Iterator[Path]:
    """A folder of modules in a place that processes have as scratch; all but walls let them
    write."""
    top = Path(tempfile.mkdtemp(prefix="view-", dir=place))
    (top / "not_shown").mkdir()
    folder = top / "library"
    folder.mkdir()
    (folder / "late_module.py").write_text("VALUE = 'late'\n")
    for path in (top, folder, folder / "late_module.py"):
        path.chmod(0o777)
    yield folder
    shutil.rmtree(top)


def opened(
    mechanism: Mechanism, on_path: str, monkeypatch: pytest.MonkeyPatch
) -> ForkServerSandbox:
    extra = f"import sys; sys.path.append({on_path!r}); "
    monkeypatch.setattr(Link, "program", extra + Link.program)
    canaries = CanaryHolder()
    plan = WallPlan(mechanism, canaries.canary, landlock.abi(), users_of_their_own(), preload=False)
    return ForkServerSandbox(plan, canaries)


def _of_this_suite(place: str) -> set[str]:
    names = (sys.prefix, sys.base_prefix, grader.__file__)
    paths = {Path(name).resolve() for name in names} | {Path(name) for name in names}
    return {path.relative_to(place).parts[0] for path in paths if path.is_relative_to(place)}


def test_a_library_below_the_scratch_can_be_read_and_not_touched(
    mechanism: Mechanism, place: str, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = opened(mechanism, str(library), monkeypatch)
    try:
        with running(sandbox, TRYING, ROOMY) as process:
            met = process.value("tampered", str(library))
            assert process.value("imported") == "late"
            assert process.value("beside", str(library)) == ["library"]
            found = process.value("scratch", place)
    finally:
        sandbox.close()
    # The suite's own interpreter may lie there too; this test's siblings and the host's files not.
    assert isinstance(found, list)
    assert set(found) == {library.parent.name, *_of_this_suite(place)}
    assert isinstance(met, dict)
    assert "ok" not in met.values(), met
    assert met["write"].endswith("Read-only file system")
    assert met["rename top"].endswith("busy")
    assert met["rmdir top"].endswith("busy")
    assert sorted(path.name for path in library.iterdir()) == ["late_module.py"]


def test_a_hidden_library_is_refused_by_its_name(
    mechanism: Mechanism, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a process would be like that mounts its scratch over the library, and no more.
    forget = (
        "from grader.sandbox.walls import view; below = view.below; view.below = lambda place: "
        f"tuple(path for path in below(place) if path != {str(library.parent)!r}); "
    )
    monkeypatch.setattr(Link, "program", forget + Link.program)
    sandbox = opened(mechanism, str(library), monkeypatch)
    try:
        with pytest.raises(InfrastructureError, match=f"read_library met ENOENT at {library}"):
            sandbox.start(SPEC)
    finally:
        sandbox.close()


def test_a_scratch_on_the_path_is_refused(
    mechanism: Mechanism, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = opened(mechanism, place, monkeypatch)
    try:
        with pytest.raises(InfrastructureError, match=f"{place} is on Python's path"):
            sandbox.start(SPEC)
    finally:
        sandbox.close()
