from __future__ import annotations

from collections.abc import Iterator

import pytest
from faults import no_faults

from grader.sandbox.walls.plan import Canary, Mechanism, ProcessPlan, Wall, WallPlan
from grader.sandbox.walls.self_test import breaches
from grader.wire.messages import from_bytes, to_bytes

CANARY = Canary("/var/tmp/x", "name", {"net": "net:[1]"}, ("/reference",))
PROCESS = ProcessPlan(1, memory=1, output=1, processes=8, scratch=1, cpu_seconds=1)
HELD = {
    "write_outside": "ENOENT", "read_outside": "ENOENT", "find_outside": "ENOENT",
    "overfill_scratch": "ENOSPC", "internet_socket": "EPERM", "connect_abstract": "ECONNREFUSED",
    "namespaces": "separate", "signal_parent": "ESRCH", "trace": "EPERM",
    "uncounted_memory": "EPERM", "lock_library": "EPERM", "watch_library": "EPERM",
    "new_namespace": "EPERM", "fork_too_many": "EAGAIN",
    "exceed_memory": "ENOMEM", "limits": "held", "gain_root": "EPERM", "user": "own",
    "capabilities": "none", "privileges": "none", "dumpable": "no", "death_signal": "SIGKILL",
    "descriptors": "none", "use_scratch": "ok", "read_library": "ok", "start_thread": "ok",
}  # fmt: skip


@pytest.mark.parametrize("mechanism", list(Mechanism))
def test_a_plan_survives_the_way_to_the_fork_server(mechanism: Mechanism) -> None:
    plan = WallPlan(mechanism, CANARY, 7, slots=True).without(Wall.SECCOMP)
    assert from_bytes(to_bytes(plan), WallPlan) == plan
    assert from_bytes(to_bytes(PROCESS), ProcessPlan) == PROCESS


def test_a_switched_off_wall_is_still_asked_for() -> None:
    plan = WallPlan(Mechanism.NS, CANARY).without(Wall.SECCOMP)
    assert not plan.has(Wall.SECCOMP)
    assert Wall.SECCOMP in plan.walls()


def test_no_landlock_no_landlock_wall() -> None:
    assert Wall.LANDLOCK not in WallPlan(Mechanism.NS, CANARY, 0).walls()
    assert Wall.LANDLOCK in WallPlan(Mechanism.NS, CANARY, 1).walls()


def test_this_file_knows_what_each_attempt_meets() -> None:
    attempts = {
        line.split()[0]: line for line in breaches(WallPlan(Mechanism.NS, CANARY), PROCESS, {})
    }
    no_faults(
        attempts,
        lambda line: [] if line.split()[0] in HELD else [line],
        "write into HELD what the attempt meets where its wall holds",
    )


def test_a_whole_proof_has_no_breach() -> None:
    assert breaches(WallPlan(Mechanism.NS, CANARY), PROCESS, HELD) == []


def _passes_for_held(name: str) -> Iterator[str]:
    plan = WallPlan(Mechanism.NS, CANARY)
    left_out = {other: met for other, met in HELD.items() if other != name}
    for met, told in (
        (left_out | {name: "something else"}, f"{name} met something else, where"),
        (left_out, f"{name} met nothing"),
    ):
        found = breaches(plan, PROCESS, met)
        if not any(line.startswith(told) for line in found):
            yield f"no breach “{told} …”, but {found}"


def test_each_attempt_counts() -> None:
    no_faults(
        {name: name for name in HELD}, _passes_for_held, "let self_test.py ask for its outcome"
    )
