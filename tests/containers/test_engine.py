"""The engine that the other tests use: containers are real, and nothing of them stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from containers import engine as engines
from containers.engine import COURSE, Engine, Setting, UnavailableError, course, opened


def test_a_container_has_its_own_files_and_no_network(engine: Engine) -> None:
    outcome = engine.run(["sh", "-c", "cat /proc/net/dev; ls /; id -u"], Setting())
    assert outcome.returncode == 0, outcome.stderr
    assert "eth0" not in outcome.stdout
    assert "course" not in outcome.stdout
    assert outcome.stdout.splitlines()[-1] == "0"


def test_torchgrade_is_installed_in_it(engine: Engine) -> None:
    asked = "import grader, torch; print(grader.__file__, torch.__version__)"
    outcome = engine.run(["python3", "-c", asked], Setting(mounts=course()))
    assert outcome.stdout.startswith("/usr/lib/python3/dist-packages/grader/"), outcome.stderr
    listed = engine.run(["ls", COURSE], Setting(mounts=course()))
    assert "assignments" in listed.stdout.split()


def test_what_takes_too_long_is_ended(engine: Engine) -> None:
    with pytest.raises(TimeoutError, match=r"took more than 2 s\nbegun"):
        engine.run(["sh", "-c", "echo begun; sleep 60"], Setting(), seconds=2)
    assert engine.docker("ps", "--all", "--quiet").stdout == ""


def test_a_machine_without_an_engine_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("another reason comes first: this is not root")
    monkeypatch.setattr(engines, "_program", lambda name: "" if name == "dockerd" else name)
    with pytest.raises(UnavailableError, match="dockerd not installed: apt-get"), opened(tmp_path):
        pass


def test_an_ordinary_user_is_told_that_it_takes_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UnavailableError, match="root"), opened():
        pass
