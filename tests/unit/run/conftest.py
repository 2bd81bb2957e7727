from __future__ import annotations

from collections.abc import Iterator

import pytest
import toy_starter

from grader.sandbox.host.guests import Sandbox
from grader.sandbox.host.open import OneShotSandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The best walls to be had, whose guests start in milliseconds."""
    with toy_starter.lent() as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def oneshot() -> Iterator[Sandbox]:
    """Guests that are processes of their own, as on a student's laptop."""
    with OneShotSandbox() as sandbox:
        yield sandbox
