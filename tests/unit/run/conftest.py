from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
import toy_starter

from grader.grading import Grader, Options
from grader.run.materials import Materials
from grader.sandbox.host.open import OneShotSandbox
from grader.sandbox.host.processes import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The best walls to be had, whose processes start in milliseconds."""
    with toy_starter.lent() as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def oneshot() -> Iterator[Sandbox]:
    """Processes that are processes of their own, as on a student's laptop."""
    with OneShotSandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def opened() -> Iterator[Callable[[Materials], Grader]]:
    """Opens graders on virtual GPUs, ready to grade."""
    with ExitStack() as stack:

        def opened(materials: Materials) -> Grader:
            sandbox = stack.enter_context(toy_starter.lent())
            grader = Grader(materials, sandbox, Options(seed=5, device="virtual"))
            grader.prepare()
            return grader

        yield opened
