"""What is said where walls cannot be had: a hint stands beside the error that it is about."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from grader.errors import InfrastructureError
from grader.sandbox.host import open as opening
from grader.sandbox.host.fork_server import CanaryHolder, ForkServerSandbox
from grader.sandbox.host.processes import Isolation, ProcessSpec, WallRefusedError
from grader.sandbox.walls import landlock, libc, privileges
from grader.sandbox.walls.plan import Canary, Mechanism, WallPlan

pytestmark = pytest.mark.skipif(os.name != "posix", reason="walls need Linux")


def refused(monkeypatch: pytest.MonkeyPatch, *, root: bool, error: InfrastructureError) -> str:
    """Return what is said when every probe meets an error."""

    def fail(_: Mechanism) -> Isolation:
        raise error

    monkeypatch.setattr(opening, "probe", fail)
    monkeypatch.setattr(opening, "closed_folder", str)
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    monkeypatch.setattr(privileges, "lacking", list)
    monkeypatch.setattr(opening, "mapped", lambda: True)
    monkeypatch.setattr(landlock, "abi", lambda: 6)
    monkeypatch.setattr(opening, "ForkServerSandbox", lambda *_: Closed())
    plan = WallPlan(Mechanism.FLAT, Canary("", "", {}))
    monkeypatch.setattr(opening, "_plan", lambda *_, **__: plan)
    with pytest.raises(InfrastructureError) as caught:
        opening.open_sandbox("auto")
    return str(caught.value)


class Closed:
    """Stands in for a sandbox that is never used."""

    def close(self) -> None:
        pass


def of(mechanism: str, text: str) -> str:
    (line,) = [line for line in text.splitlines() if line.strip().startswith(f"{mechanism}:")]
    return line


@pytest.mark.parametrize("root", [True, False])
def test_an_error_of_another_kind_has_no_hint(monkeypatch: pytest.MonkeyPatch, root: bool) -> None:
    error = InfrastructureError("the fork-server died; No module named 'grader'")
    text = refused(monkeypatch, root=root, error=error)
    tried = ("ns", "flat") if root else ("userns", "flat")
    for mechanism in tried:
        assert of(mechanism, text).endswith("No module named 'grader'")


@pytest.mark.parametrize(
    ("root", "call", "mechanism", "hint"),
    [
        (True, "unshare 0x20000000", "ns", "CAP_SYS_ADMIN"),
        (False, "unshare 0x10000000", "userns", "allow user namespaces to ordinary users"),
        (False, "mount /tmp/proc", "userns", "systempaths=unconfined"),
    ],
)
def test_a_call_that_was_refused_has_its_hint(
    monkeypatch: pytest.MonkeyPatch, root: bool, call: str, mechanism: str, hint: str
) -> None:
    error = WallRefusedError(f"[Errno 1] {call}: Operation not permitted", call)
    text = refused(monkeypatch, root=root, error=error)
    assert hint in of(mechanism, text)
    assert of("flat", text).endswith("Operation not permitted")


@pytest.mark.parametrize(("held", "lacking"), [(0, True), (0x1EB, False), (0x1EA, True)])
def test_root_is_as_much_as_its_capabilities(
    monkeypatch: pytest.MonkeyPatch, held: int, lacking: bool
) -> None:
    names: Callable[[str], int] = lambda kind: held  # noqa: E731
    monkeypatch.setattr(privileges, "capabilities", names)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert bool(privileges.lacking()) is lacking
    assert opening.users_of_their_own() is not lacking
    assert bool(opening.unsuited(Mechanism.NS)) is lacking


@pytest.mark.parametrize(
    ("mechanism", "closed", "own"),
    [
        (Mechanism.FLAT, "", True),
        (Mechanism.FLAT, "/root", False),
        (Mechanism.NS, "/root", True),
    ],
)
def test_where_others_cannot_get_at_the_interpreter_processes_share_the_user(
    monkeypatch: pytest.MonkeyPatch, mechanism: Mechanism, closed: str, own: bool
) -> None:
    monkeypatch.setattr(opening, "users_of_their_own", lambda: True)
    monkeypatch.setattr(opening, "closed_folder", lambda: closed)
    monkeypatch.setattr(libc, "prctl", lambda *_: 0)
    monkeypatch.setattr(landlock, "abi", lambda: 6)
    canaries = CanaryHolder()
    try:
        assert opening._plan(mechanism, canaries, preload=False).slots is own
    finally:
        canaries.close()


@pytest.mark.parametrize(
    ("mechanism", "held", "granted"),
    [
        (Mechanism.NS, 1 << 12, True),
        (Mechanism.NS, 1 << 21, False),
        (Mechanism.USERNS, 0, True),
        (Mechanism.FLAT, 1 << 12, False),
    ],
)
def test_a_loopback_takes_a_capability_of_root(
    monkeypatch: pytest.MonkeyPatch, mechanism: Mechanism, held: int, granted: bool
) -> None:
    monkeypatch.setattr(privileges, "capabilities", lambda kind: held)
    sandbox = ForkServerSandbox.__new__(ForkServerSandbox)
    sandbox.plan = WallPlan(mechanism, Canary("", "", {}))
    assert sandbox.grants(ProcessSpec(loopback=True)) is granted
    assert sandbox.grants(ProcessSpec(processes=2)) is (mechanism is not Mechanism.FLAT)
