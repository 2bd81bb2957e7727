"""A wall that is not there shows in the proof, and the process is refused before it is given
code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.errors import InfrastructureError
from grader.sandbox.host.fork_server import CanaryHolder, ForkServerSandbox
from grader.sandbox.host.open import PROBE_SPEC, probe, unsuited, users_of_their_own
from grader.sandbox.walls import landlock, libc
from grader.sandbox.walls.plan import Mechanism, Wall, WallPlan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Walls whose absence each attempt must show, by itself, with all other walls standing.
SHOWN_BY = {
    Wall.VIEW: "find_outside",
    Wall.PIDS: "signal_parent",
    Wall.NETWORK: "namespaces",
    Wall.IPC: "namespaces",
    Wall.SCRATCH: "use_scratch",
    Wall.USER: "user",
    Wall.CAPABILITIES: "capabilities",
    Wall.NO_NEW_PRIVS: "privileges",
    Wall.DUMPABLE: "dumpable",
    Wall.PARENT_DEATH: "death_signal",
    Wall.LANDLOCK: "make_fifo",
    Wall.SECCOMP: "uncounted_memory",
    Wall.LIMITS: "limits",
}
# The kernel does not put these up without it, so that their absence would be noticed first.
GOES_WITH = {Wall.NO_NEW_PRIVS: (Wall.LANDLOCK, Wall.SECCOMP)}


@pytest.fixture(params=list(Mechanism))
def mechanism(request: pytest.FixtureRequest) -> Mechanism:
    if reason := unsuited(request.param):
        pytest.skip(f"{request.param.value}: {reason}")
    try:
        probe(request.param)
    except InfrastructureError as error:
        pytest.skip(f"{request.param.value}: {error}")
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def canaries(tmp_path: Path) -> Iterator[CanaryHolder]:
    canaries = CanaryHolder()
    yield canaries
    canaries.close()


def test_every_wall_has_an_attempt_of_its_own() -> None:
    assert set(SHOWN_BY) == set(Wall)


def test_all_walls_hold(mechanism: Mechanism) -> None:
    isolation = probe(mechanism)
    assert isolation.proved["use_scratch"] == "ok"
    assert isolation.proved["read_outside"] in ("EACCES", "ENOENT")


@pytest.mark.parametrize("wall", list(Wall), ids=lambda wall: wall.value)
def test_one_wall_less_is_refused(mechanism: Mechanism, wall: Wall, canaries: CanaryHolder) -> None:
    plan = WallPlan(mechanism, canaries.canary, landlock.abi(), users_of_their_own(), preload=False)
    if wall not in plan.walls():
        pytest.skip(f"{mechanism.value} has no {wall.value} here")
    if exempt := _exempt(mechanism, wall):
        pytest.skip(exempt)
    sandbox = ForkServerSandbox(plan.without(wall, *GOES_WITH.get(wall, ())), canaries)
    try:
        with pytest.raises(InfrastructureError) as error:
            sandbox.start(PROBE_SPEC)
    finally:
        sandbox.close()
    assert _shown_by(mechanism, wall) in str(error.value)


def _shown_by(mechanism: Mechanism, wall: Wall) -> str:
    # Without a PID namespace of its own, an ordinary user may not even mount /proc.
    special = (mechanism, wall) == (Mechanism.USERNS, Wall.PIDS)
    return "mount /tmp/proc" if special else SHOWN_BY[wall]


def _exempt(mechanism: Mechanism, wall: Wall) -> str:
    if wall is Wall.NO_NEW_PRIVS and libc.prctl(libc.PR_GET_NO_NEW_PRIVS):
        return "this container forbids new privileges to all that runs in it"
    if users_of_their_own() or mechanism is not Mechanism.FLAT or wall is not Wall.CAPABILITIES:
        return ""
    return "an ordinary user, or root without capabilities, has none to drop"
