"""The stage is a process like any other, and the actor cannot reach it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from driver import SPEC, Running

from grader.assignment.types import Limits
from grader.run.scenario_relay import ScenarioRelay
from grader.run.session import ProcessSession
from grader.wire.messages import Call, Load, Loaded, Ready, from_frame, to_frame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.sandbox.host.processes import Sandbox, SandboxedProcess

SECRET = "SECRET_OF_THE_SCENARIO"

ACTOR = f"""
import os
from pathlib import Path

def seen():
    found = []
    try:
        pids = os.listdir("/proc")
    except OSError:
        pids = map(str, range(1, 2**15))
    for pid in pids:
        if pid.isdigit() and int(pid) != os.getpid():
            for part in ("cmdline", "environ", "cwd", "fd", "root", "mem"):
                try:
                    open(f"/proc/{{pid}}/{{part}}").close()
                    found.append(f"{{pid}}/{{part}}")
                except OSError:
                    pass
    return [item for item in found if "cmdline" not in item]

def files():
    found = []
    for root in ("/tmp", "/var/tmp", "/dev/shm", os.getcwd()):
        for place, _, names in os.walk(root):
            found += [name for name in names if name == "scenario.py"]
    return found

def sockets():
    try:
        lines = Path("/proc/net/unix").read_text().splitlines()[1:]
    except OSError:
        return []
    return [line for line in lines if ".calls" in line]

def memory():
    # What the fork-server held when this process was forked from it.
    import gc
    return any(isinstance(item, str) and "{SECRET[:6]}" + "{SECRET[6:]}" == item
               for item in gc.get_objects())
"""


@pytest.fixture
def stage(walled: Sandbox) -> Iterator[tuple[SandboxedProcess, dict[str, str]]]:
    process = walled.start(SPEC)
    ready = from_frame(process.connection.receive(), Ready)
    source = f"{SECRET} = '{SECRET}'\nopen('scenario-was-here', 'w').close()\n"
    process.connection.send(to_frame(Load({}, "scenario.py", stage=source)))
    loaded = from_frame(process.connection.receive(), Loaded)
    assert loaded.fault is None
    yield process, ready.walls
    process.end()


def test_the_stage_stands_behind_the_same_walls(
    walled: Sandbox, stage: tuple[SandboxedProcess, dict[str, str]]
) -> None:
    process = walled.start(SPEC)
    try:
        actor = Running(process)
    finally:
        process.end()
    assert stage[1].keys() == actor.walls.keys()
    assert {name: met for name, met in stage[1].items() if met != actor.walls[name]} == {}


def test_the_actor_does_not_reach_the_stage(
    walled: Sandbox, stage: tuple[SandboxedProcess, dict[str, str]]
) -> None:
    process = walled.start(SPEC)
    try:
        actor = Running(process)
        assert actor.load(ACTOR).fault is None
        found = {name: actor.value(name) for name in ("seen", "files", "sockets", "memory")}
    finally:
        process.end()
    assert stage[0].pid is not None  # it lives all the while
    assert found == {"seen": [], "files": [], "sockets": [], "memory": False}


SCENARIO = """
from grader.scenario_process import actor, callback, folder, read

def parse(path):
    return path.read_text()

def plays():
    place = folder(write=True)
    (place / "in").write_text("abc")
    seen = []
    actor.call("works", callback(seen.append, most=2), str(place / "in"), str(place / "out"))
    return seen, [read(parse, place / name) for name in ("in", "out")]
"""
WORKS = b"""
def works(f, source, goal):
    f("heard")
    with open(source) as file:
        text = file.read()
    with open(goal, "w") as file:
        file.write(text.upper())
"""


def test_a_case_is_played_on_every_tier_with_walls(walled: Sandbox) -> None:
    stage = ScenarioRelay(walled, Load({}, "scenario.py", stage=SCENARIO), Limits())
    session = ProcessSession(walled, Load({"work.py": WORKS}, "work.py"), stage)
    try:
        session.prepare(SPEC)
        seen = session.call(Call("plays", scenario=True), 30.0)
    finally:
        session.finish()
    assert seen.claims.value == (["heard"], ["abc", "ABC"]), seen
