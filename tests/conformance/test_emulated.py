"""The same suite in environments that this machine is not, emulated as root."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from grader.sandbox.host.open import unsuited
from grader.sandbox.walls.plan import Mechanism

HERE = Path(__file__).parent
SUITE = [
    "test_honest.py",
    "test_reaping.py",
    "test_escapes.py",
    "test_proof.py",
    "test_view.py",
    "test_processes_that_talk.py",
]

# Environment → tiers whose tests must have run there, not been skipped.
EXPECTED = {
    "nobody": {"full", "restricted"},
    "docker": {"restricted"},
    "no-userns": {"restricted"},
    "no-landlock": {"full"},
}


# Of Docker's defaults there are real containers, in tests/containers.
_OTHERS = {"docker", "no-userns"}


@pytest.mark.heavy
@pytest.mark.parametrize(
    "environment",
    [
        pytest.param(name, marks=pytest.mark.release) if name in _OTHERS else name
        for name in EXPECTED
    ],
)
def test_the_suite_elsewhere(environment: str) -> None:
    if os.geteuid() != 0 or unsuited(Mechanism.NS):
        pytest.skip("emulating needs root with CAP_SYS_ADMIN")
    # Not in tmp_path: its parents are closed to other users.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        _run(environment, Path(folder, "report.xml"))


def _run(environment: str, report: Path) -> None:
    tests = [str(HERE / name) for name in SUITE]
    suite = ["-m", "pytest", "-q", "-m", "not heavy", "-p", "no:cacheprovider", *tests]
    emulated = [sys.executable, str(HERE / "emulate.py"), environment, sys.executable, *suite]
    outcome = subprocess.run(
        [*emulated, f"--junitxml={report}"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        timeout=500,
    )
    assert outcome.returncode == 0, outcome.stdout[-4000:] + outcome.stderr[-1000:]
    assert _tiers_that_ran(report) == EXPECTED[environment]


def _tiers_that_ran(report: Path) -> set[str]:
    cases = ET.parse(report).iter("testcase")
    ran = [case.get("name", "") for case in cases if case.find("skipped") is None]
    tiers = {"full", "restricted", "none"}
    return {tier for tier in tiers for name in ran if f"[{tier}" in name or f"{tier}]" in name}
