from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest

from grader.errors import InfrastructureError
from grader.sandbox.open import Choice, open_sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.sandbox.base import Sandbox

# Tier none imports torch anew for every guest, seconds each.
TIERS = [
    pytest.param(tier, marks=pytest.mark.heavy) if tier == "none" else tier
    for tier in get_args(Choice)
    if tier != "auto"
]


@pytest.fixture(scope="package", params=TIERS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    try:
        opened = open_sandbox(request.param)
    except InfrastructureError as error:
        pytest.skip(str(error).splitlines()[1].strip())
    with opened:
        yield opened


@pytest.fixture
def walled(sandbox: Sandbox) -> Sandbox:
    if sandbox.isolation.tier == "none":
        pytest.skip("tier none has no walls")
    return sandbox


@pytest.fixture
def full(sandbox: Sandbox) -> Sandbox:
    if sandbox.isolation.tier != "full":
        pytest.skip("granted by tier full only")
    return sandbox
