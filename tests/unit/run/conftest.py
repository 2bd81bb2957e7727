from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.sandbox.base import Sandbox
from grader.sandbox.oneshot import OneShotSandbox
from grader.sandbox.open import open_sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The best walls to be had, whose guests start in milliseconds."""
    with open_sandbox("auto") as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def oneshot() -> Iterator[Sandbox]:
    """Guests that are processes of their own, as on a student's laptop."""
    with OneShotSandbox() as sandbox:
        yield sandbox
