from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.sandbox.base import Sandbox
from grader.sandbox.oneshot import OneShotSandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with OneShotSandbox() as sandbox:
        yield sandbox
