"""Golden files, and which tests go to one worker.

A golden file is a whole output, kept beside the tests and compared byte for byte. After a change
that is meant, ``make golden`` (``pytest --golden``) writes them anew; read the difference before
committing it.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from forked_of_one import ForkedOfOne

from grader.run import judge_submission
from grader.sandbox.host import open as opening
from grader.static_analysis.facts import SourceFacts
from grader.static_analysis.reader import SourceReader

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a script: all that tests start and interrupt would ignore it too.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What a run keeps for the next must not come from another run of the tests, nor from a user's.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="grader-cache-")
atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)

GOLDEN = Path(__file__).parent / "golden"


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist, there are no workers
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from spread import ByFile  # noqa: PLC0415  needs pytest-xdist

    return ByFile(config, log)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage meanwhile: nearly all that is made stays to the end."""
    gc.disable()
    yield
    gc.freeze()  # nor is it looked through again, by later collections and by each fork
    gc.enable()


@pytest.fixture(autouse=True)
def signals_as_they_were() -> Iterator[None]:
    """Take back the handler that ``grader.cli.app.main`` leaves in its process.

    A fork has it too. A signal that comes just before the fork waits for a lock is then never
    heard, and whoever has sent it waits for ever.
    """
    before = signal.getsignal(signal.SIGTERM)
    yield
    if signal.getsignal(signal.SIGTERM) is not before:
        signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session", autouse=True)
def fork_servers_forked_of_one() -> Iterator[None]:
    """Fork the fork-servers of all sandboxes here of one, as those of a class are.

    Each would import torch anew, for two core-seconds. ``tests/conformance`` starts its own.
    """
    origins = ForkedOfOne()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "ForkServerSandbox", origins.opened)
        yield
    origins.close()


class _OneReader(SourceReader):
    """A reader of sources that all graders of a run share; each would start one, to read a file."""

    _shared = SourceReader()

    def start(self) -> None:
        self._shared.start()

    def read(self, data: bytes) -> SourceFacts:
        return self._shared.read(data)


@pytest.fixture(scope="session", autouse=True)
def sources_read_in_one_process() -> Iterator[None]:
    """Read the sources of all submissions in one process, as those of a class are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge_submission, "SourceReader", _OneReader)
        yield


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is for a release is heavy."""
    for item in items:
        if item.get_closest_marker("release"):
            item.add_marker(pytest.mark.heavy)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write the golden files anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with ``tests/golden/NAME``, or write it there under ``--golden``."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--golden"):
            path.write_text(text, encoding="utf-8", newline="")
        assert path.exists(), f"{path} is missing; write it with make golden"
        # Read without newline translation: a CSV ends its lines with CR LF.
        assert path.read_bytes().decode() == text, f"{path} differs; if meant, make golden"

    return compare
