from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest

from grader.errors import InfrastructureError
from grader.sandbox.host import fork_server
from grader.sandbox.host import open as opening
from grader.sandbox.host.forked import Link
from grader.sandbox.host.open import Choice, open_sandbox, users_of_their_own
from grader.sandbox.walls.plan import Mechanism, WallPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.sandbox.host.processes import Sandbox

# Tier none imports torch anew for every process, seconds each.
TIERS = [
    pytest.param(tier, marks=pytest.mark.heavy) if tier == "none" else tier
    for tier in get_args(Choice)
    if tier != "auto"
]


HERE = Path(__file__).parent
EXPOSE = (
    f"import sys; sys.path.insert(0, {str(HERE)!r}); import emulate; "
    f"sys.path.remove({str(HERE)!r}); emulate.expose_interpreter(); "
)


class ExposingLink(Link):
    """Shows the fork-server of tier restricted an interpreter that lies in a closed folder.

    In a mount namespace of its own, where that folder holds the interpreter and lets others enter.
    """

    def __init__(
        self, plan: WallPlan, tick: Callable[[], None], origin: Link | None = None
    ) -> None:
        if plan.mechanism is Mechanism.FLAT:
            self.program = EXPOSE + self.program
        super().__init__(plan, tick, origin)


@pytest.fixture(scope="package", autouse=True)
def exposed() -> Iterator[None]:
    """Have tier restricted tested where only the place of Python is in its way.

    As root, processes are users of their own, and may not enter ``/root``. Where root may mount,
    that need not keep the tier from being tested.
    """
    with pytest.MonkeyPatch.context() as patch:
        # Not a fork of what other tests have started.
        patch.setattr(opening, "ForkServerSandbox", fork_server.ForkServerSandbox)
        if users_of_their_own() and opening.closed_folder() and _may_mount():
            patch.setattr(fork_server, "Link", ExposingLink)
            patch.setattr(opening, "closed_folder", str)
        yield


def _may_mount() -> bool:
    try:
        opening.probe(Mechanism.NS)
    except InfrastructureError:
        return False
    return True


@pytest.fixture(scope="package", params=TIERS)
def sandbox(request: pytest.FixtureRequest, exposed: None) -> Iterator[Sandbox]:
    """One as a class is graded in: its fork-server is a fork of another's."""
    try:
        opened = open_sandbox(request.param)
    except InfrastructureError as error:
        pytest.skip(str(error).splitlines()[1].strip())
    with opened.hand_on() as source, source.open() as another:
        yield another


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
