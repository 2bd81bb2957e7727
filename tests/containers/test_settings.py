"""Torchgrade in the containers that people run: what holds in each, and that grades are right.

In each setting the command grades the showcase, or its right and its wrong file, and the process's
proof tells which walls stand. The conformance suite runs, and attacks are graded, where settings
come together or give the other tier. With Docker's defaults the whole suite runs, and some of all
attacks. A sample runs in each of them, of what a wall or a limit stops: what the judge stops does
not depend on where it runs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from exploits.lab import Entry, entries
from labels import read_label

from containers import table
from containers.engine import COURSE, ROOT, Engine, Setting, course

SHOWCASE = "tests/submissions/pytorch101/showcase"
USER = ("--user", "1000")
READ_ONLY = ("--read-only", "--tmpfs", "/tmp")
SMALL = ("--memory", "1g", "--pids-limit", "64")
NO_NEW = ("--security-opt", "no-new-privileges")
UNCONFINED = ("--security-opt", "seccomp=unconfined")
ADMINISTRATOR = ("--cap-add", "SYS_ADMIN", "--cap-add", "NET_ADMIN")
NO_CAPABILITIES = ("--cap-drop", "ALL")
ALL_OF_PROC = ("--security-opt", "systempaths=unconfined")
PACKAGE = "/opt/torchgrade"

COMMAND = "import sys; from grader.cli.command import main; sys.exit(main())"
TIERS = ("full", "restricted")
FEWER = ("test_honest.py", "test_proof.py")
"""Of the conformance suite, what runs where a setting changes little."""

TOGETHER = ("root", "user", "hardened", "administrator", "user-namespaces")
"""Where walls are tested and attacks graded: the others are parts of these."""

LIMITS = {"H_fork_bomb", "H_memory_private", "H_stdout_flood", "H_thread_leak"}
"""Of the attacks that a limit stops, what runs everywhere; others wait for a deadline."""


@dataclass(frozen=True, slots=True)
class Case:
    """A setting and what is expected there.

    Attributes:
        title: For the table.
        options: Of ``docker run``.
        installed: Where the package lies, if not among the others, and how Python finds it.
        tier: What ``--isolation auto`` must give.
        attempts: Of a process to break out, each of which must fail.
        whole: The whole suite and all of the showcase run here, and beside the sample every sixth
            attack.
    """

    title: str
    options: tuple[str, ...] = ()
    installed: str = ""
    tier: str = "restricted"
    attempts: int = 25
    whole: bool = False


CASES = {
    "root": Case("root, Docker's defaults", whole=True),
    "user": Case("`--user 1000`, not in /etc/passwd", USER),
    "user-unconfined": Case("the same, seccomp unconfined", (*USER, *UNCONFINED)),
    "no-capabilities": Case("root, `--cap-drop ALL`", NO_CAPABILITIES),
    "read-only": Case("root, `--read-only --tmpfs /tmp`", READ_ONLY),
    "small": Case("root, `--memory 1g --pids-limit 64`", SMALL),
    "no-new-privileges": Case("root, no-new-privileges", NO_NEW),
    "hardened": Case("all of these at once, as a user",
                     (*USER, *READ_ONLY, *SMALL, *NO_NEW, *NO_CAPABILITIES)),
    "pythonpath": Case("root, installed by PYTHONPATH", installed="PYTHONPATH"),
    "pth": Case("root, installed by a .pth file", installed=".pth"),
    "administrator": Case("root, `--cap-add SYS_ADMIN --cap-add NET_ADMIN`, seccomp unconfined",
                          (*ADMINISTRATOR, *UNCONFINED), tier="full", attempts=27),
    "user-namespaces": Case("`--user 1000`, seccomp and systempaths unconfined",
                            (*USER, *UNCONFINED, *ALL_OF_PROC), tier="full", attempts=27),
}  # fmt: skip


@pytest.fixture(
    params=[
        name if name in TOGETHER else pytest.param(name, marks=pytest.mark.release)
        for name in CASES
    ]
)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def setting(case: Case, out: Path) -> Setting:
    """Return how a case is run, with a folder that it may write to as ``/out``."""
    out.chmod(0o777)
    mounts = course() | {out: "/out"}
    options = [*case.options, "--workdir", "/tmp"]
    if case.installed:
        mounts[ROOT / "grader"] = f"{PACKAGE}/grader:ro"
    if case.installed == "PYTHONPATH":
        options += ["--env", f"PYTHONPATH={PACKAGE}"]
    elif case.installed:
        path = out.parent / "torchgrade.pth"
        path.write_text(PACKAGE)
        mounts[path] = "/usr/lib/python3/dist-packages/torchgrade.pth:ro"
    return Setting(tuple(options), mounts)


def test_the_command_grades_the_showcase(engine: Engine, name: str, tmp_path: Path) -> None:
    case, out = CASES[name], tmp_path / "out"
    out.mkdir()
    submissions, given = sorted((ROOT / SHOWCASE).iterdir()), f"{COURSE}/{SHOWCASE}"
    if not case.whole:
        # What never ends waits for its limits, and does so alike in all settings.
        submissions = [path for path in submissions if path.stem in ("right", "wrong")]
        (out / "class").mkdir()
        for path in submissions:
            shutil.copy(path, out / "class")
        given = "/out/class"
    batch = ["batch", f"{COURSE}/assignments/pytorch101", given]
    # Labels hold where nothing is timed.
    command = ["python3", "-c", COMMAND, *batch, "--clock", "off", "--out", "/out/grades"]
    outcome = engine.run(command, setting(case, out), seconds=540)
    assert outcome.returncode == 0, outcome.stdout[-3000:] + outcome.stderr[-3000:]

    reports = {path.stem: _report(out / "grades", path.stem) for path in submissions}
    misses = {path.stem: read_label(path).misses(reports[path.stem]) for path in submissions}
    assert not any(misses.values()), misses
    for report in reports.values():
        isolation = report["environment"]["isolation"]
        assert isolation["tier"] == case.tier
        assert len(isolation["proved"]) == case.attempts, isolation["proved"]
    held = reports["right"]["environment"]["isolation"]
    table.note(case.title, tier=held["tier"], attempts=len(held["proved"]), graded=len(reports))


def _report(folder: Path, name: str) -> dict[str, Any]:
    (path,) = folder.rglob(f"{name}/report.json")
    report: dict[str, Any] = json.loads(path.read_text())
    return report


@pytest.mark.parametrize("name", TOGETHER)
def test_walls_hold_and_attacks_get_what_their_labels_say(
    engine: Engine, name: str, tmp_path: Path
) -> None:
    case, out = CASES[name], tmp_path / "out"
    out.mkdir()
    suite = f"{COURSE}/tests/conformance"
    tests = [suite] if case.whole else [f"{suite}/{file}" for file in FEWER]
    corpus = f"{COURSE}/tests/exploits/test_corpus.py"
    judged = f"{corpus}::test_the_verdict_is_exact_and_nothing_is_gained"
    attacks = [f"{judged}[{each}]" for each in _attacks(case)]
    options = [
        "-q",
        "-rfE",
        "-m",
        "not heavy",
        "-p",
        "no:cacheprovider",
        "--junitxml=/out/report.xml",
    ]
    command = ["python3", "-m", "pytest", *options, f"--rootdir={COURSE}"]
    command += ["-c", f"{COURSE}/pyproject.toml", *tests, *attacks]
    outcome = engine.run(command, setting(case, out), seconds=540)
    assert outcome.returncode == 0, outcome.stdout[-6000:] + outcome.stderr[-1000:]

    ran = _that_ran(out / "report.xml")
    walls = [test for test in ran if test.suite == "conformance"]
    honest = [test.parameters for test in walls if test.module == "test_honest"]
    tiers = {tier for tier in TIERS for parameters in honest if tier in parameters}
    # A user who may make namespaces gets tier restricted as well, by asking for it.
    assert case.tier in tiers
    assert tiers <= {case.tier, "restricted"}
    graded = [test for test in ran if test.suite == "exploits"]
    assert len(graded) >= len(_sample())
    table.note(case.title, suite=len(walls), attacks=len(graded))


def _attacks(case: Case) -> Sequence[str]:
    """Return the sample, and some of the others where all is run."""
    sample = _sample()
    if not case.whole:
        return sample
    others = [each.name for each in entries() if each.name not in sample]
    return [*sample, *others[::6]]


def _sample() -> Sequence[str]:
    """Return the attacks that only a wall stops, and some that a limit stops."""
    walls = (each.name for each in entries() if _walls(each) and each.name[0] in "ABF")
    return [*walls, *sorted(LIMITS)]


def _walls(entry: Entry) -> bool:
    exploit = entry.exploit
    return exploit is not None and "wall" in exploit.works_without


@dataclass(frozen=True, slots=True)
class Ran:
    """A test that ran in a container."""

    suite: str
    module: str
    parameters: frozenset[str]


def _that_ran(report: Path) -> list[Ran]:
    found = []
    for case in ET.parse(report).iter("testcase"):
        if case.find("skipped") is None:
            parameters = case.get("name", "").rstrip("]").partition("[")[2]
            suite, module = case.get("classname", "").split(".")[-2:]
            found.append(Ran(suite, module, frozenset(parameters.split("-"))))
    return found
