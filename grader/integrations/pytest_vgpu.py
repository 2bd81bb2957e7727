"""pytest on virtual GPUs: ``pytest --vgpus 2``, the marker ``vgpus`` and the fixture ``vgpus``.

Loaded into every pytest session of an environment that has torchgrade, so this module imports
nothing but pytest until somebody asks for GPUs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from grader.vgpu import Machine

_HELP = "vgpus(count=1, memory=None): run the test on so many virtual GPUs, each of memory='8GiB'"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("vgpus", "virtual GPUs")
    group.addoption(
        "--vgpus", type=_parsed_by("parse_count"), metavar="N",
        help="let torch see so many GPUs, on a machine without one, before any test is imported",
    )  # fmt: skip
    group.addoption(
        "--vgpu-memory", type=_parsed_by("parse_size"), metavar="SIZE",
        help="with --vgpus: of each, such as 8GiB; no limit",
    )  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Make the GPUs: a conftest.py may ask for ``torch.cuda.is_available()`` as it is imported."""
    options = early_config.known_args_namespace
    if options.vgpus is None:
        if options.vgpu_memory is not None:
            raise pytest.UsageError("--vgpu-memory is of virtual GPUs: --vgpus 1")
        return
    gpus = _Gpus(options.vgpus, options.vgpu_memory)
    early_config.stash[_GPUS] = gpus
    gpus.make()
    early_config.add_cleanup(gpus.end)


def pytest_configure(config: pytest.Config) -> None:
    """Say what the marker means."""
    config.addinivalue_line("markers", _HELP)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which GPUs there are."""
    gpus = config.stash.get(_GPUS, None)
    return None if gpus is None else f"virtual GPUs: {gpus}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give a test the GPUs that it asks for; the record begins anew with each test."""
    session = item.config.stash.get(_GPUS, None)
    own = _asked_for(item)
    if own is not None and own != session:
        if session is not None:
            session.end()
        item.stash[_GPUS] = own
        own.make()
    elif session is not None:
        session.begin_anew()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Take a test's own GPUs away, and put back the session's."""
    own = item.stash.get(_GPUS, None)
    if own is None:
        return
    own.end()
    session = item.config.stash.get(_GPUS, None)
    if session is not None:
        session.make()


@pytest.fixture
def vgpus() -> Machine:
    """The virtual GPUs of this test: ``vgpus.memory(0).peak``, ``vgpus.trace.events``."""
    from grader.vgpu import installed  # noqa: PLC0415  torch takes seconds to load

    machine = installed()
    assert machine is not None
    return machine


class _Gpus:
    """Virtual GPUs that a session or a test asks for.

    Args:
        count: How many.
        memory: Bytes of each; None for no bound.
    """

    def __init__(self, count: int, memory: int | None) -> None:
        self._asked = count, memory
        self._made = ExitStack()
        self._machine: Machine | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Gpus) and self._asked == other._asked

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        count, memory = self._asked
        return str(count) if memory is None else f"{count} of {memory / 2**30:.4g} GiB"

    def make(self) -> None:
        """Let torch see them, in processes that tests start, too."""
        from grader.vgpu import installed, virtual_gpus  # noqa: PLC0415  likewise
        from grader.vgpu.processes import devices_for_children  # noqa: PLC0415  likewise

        here = installed()
        if here is not None:
            # A worker of xdist has had its parent's since it imported torch.
            here.uninstall()
        self._machine = self._made.enter_context(virtual_gpus(*self._asked))
        self._made.enter_context(devices_for_children(self._machine))
        for name, module in list(sys.modules.items()):
            if name.startswith("grader.vgpu."):
                # On a GPU these frames are C++: a failure is shown at the test's own line.
                vars(module)["__tracebackhide__"] = True

    def begin_anew(self) -> None:
        """Forget what was recorded."""
        if self._machine is not None:
            self._machine.trace.clear()
            for ordinal in range(self._machine.count):
                self._machine.memory(ordinal).reset_peak()

    def end(self) -> None:
        """Take them away."""
        self._made.close()
        self._machine = None


_GPUS = pytest.StashKey[_Gpus]()


def _asked_for(item: pytest.Item) -> _Gpus | None:
    """Return the GPUs that a test asks for by its marker, or by the fixture alone; else None."""
    marker = item.get_closest_marker("vgpus")
    if marker is None:
        by_fixture = "vgpus" in getattr(item, "fixturenames", ())
        return item.config.stash.get(_GPUS, _Gpus(1, None)) if by_fixture else None
    count, memory = _arguments(*marker.args, **marker.kwargs)
    size = None if memory is None else _parse("parse_size", str(memory))
    return _Gpus(_parse("parse_count", str(count)), size)


def _arguments(count: int = 1, memory: int | str | None = None) -> tuple[int, int | str | None]:
    return count, memory


def _parse(name: str, text: str) -> Any:
    from grader.vgpu import magics  # noqa: PLC0415  likewise

    return getattr(magics, name)(text)


def _parsed_by(name: str) -> Callable[[str], Any]:
    def parsed(text: str) -> Any:
        try:
            return _parse(name, text)
        except ValueError as error:
            # Argparse prints the words of no other error.
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed
