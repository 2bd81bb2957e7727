"""User IDs for processes: no two graders on one machine hold the same."""

from __future__ import annotations

import os
import signal

import pytest

from grader.errors import InfrastructureError
from grader.sandbox.host import fork_server
from grader.sandbox.host.fork_server import FIRST_USER, USERS, Slots


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    # A range of its own: other graders may be at work on this machine.
    # One for each process: these tests run side by side, too.
    monkeypatch.setattr(
        fork_server, "FIRST_USER", FIRST_USER + 10 * USERS + 4 * (os.getpid() % 1000)
    )
    monkeypatch.setattr(fork_server, "USERS", 4)


def test_two_graders_never_hold_the_same(few: None) -> None:
    one, other = Slots(), Slots()
    held = [one.take(), other.take(), one.take(), other.take()]
    assert len(set(held)) == 4
    with pytest.raises(InfrastructureError, match="no free user ID"):
        one.take()


def test_one_that_is_given_back_can_be_had_again(few: None) -> None:
    one, other = Slots(), Slots()
    held = [one.take() for _ in range(4)]
    one.give_back(held[2])
    assert other.take() == held[2]


def test_one_that_a_process_has_is_not_handed_out(
    few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = fork_server.FIRST_USER + 1
    monkeypatch.setattr(fork_server, "in_use", lambda uid: uid == taken)
    one = Slots()
    assert taken not in {one.take() for _ in range(3)}


def test_a_survivor_is_told_and_its_id_kept(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server, "_END_SECONDS", 0.01)
    one = Slots()
    uid = one.take()
    monkeypatch.setattr(fork_server, "in_use", lambda _: True)
    monkeypatch.setattr(fork_server, "lives", lambda _: True)
    with pytest.raises(InfrastructureError, match=f"survived under user ID {uid}"):
        one.give_back(uid)
    monkeypatch.setattr(fork_server, "in_use", lambda _: False)
    assert uid not in {Slots().take() for _ in range(3)}


@pytest.mark.skipif(not hasattr(os, "fork") or os.geteuid() != 0, reason="takes root")
def test_one_that_ended_and_is_not_reaped_is_no_survivor(
    few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "_END_SECONDS", 0.01)
    one = Slots()
    uid = one.take()
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.setresuid(uid, uid, uid)
        os.write(told, b"x")
        signal.pause()
    try:
        assert os.read(ready, 1) == b"x"
        with pytest.raises(InfrastructureError, match="survived"):
            one.give_back(uid)
        os.kill(child, signal.SIGKILL)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        one.give_back(uid)
        assert uid not in {Slots().take() for _ in range(3)}
    finally:
        os.waitpid(child, 0)
        os.close(ready)
        os.close(told)
