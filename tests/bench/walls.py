"""What walls cost, in milliseconds: ``python tests/bench/walls.py [ROUNDS]``.

Prints medians and worst cases for each tier that this machine gives: from the request for a process
to its ``Ready``, what of that the proof takes, and from the deadline to nothing left of it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conformance"))

from driver import (  # noqa: E402  found by the line above
    SPEC,
    Running,
    processes_with,
    running,
    wait_for_processes,
)

from grader.errors import InfrastructureError  # noqa: E402
from grader.sandbox.host.open import open_sandbox  # noqa: E402
from grader.sandbox.host.processes import Sandbox  # noqa: E402

MARK = f"bench{os.getpid() % 10**6}"
NAME = f"""
import ctypes, os, signal, time

def name():
    ctypes.CDLL(None).prctl(15, b"{MARK}", 0, 0, 0)
"""
KINDS = {
    "busy loop": (1, "name()\n    while True: pass"),
    "SIGTERM ignored": (1, "signal.signal(15, signal.SIG_IGN); name(); time.sleep(600)"),
    "C call that blocks": (1, "name(); ctypes.PyDLL(None).sleep(600)"),
    "50 children": (
        51,
        "name()\n    for _ in range(50):\n        if os.fork() == 0: time.sleep(600)\n"
        "    time.sleep(600)",
    ),
    "double-forked daemon": (
        1,
        "if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            name()\n"
        "            time.sleep(600)\n        os._exit(0)\n    time.sleep(600)",
    ),
}
PROOF = """
import time
from grader.sandbox.walls import privileges, self_test
from grader.sandbox.walls.plan import Canary, ProcessPlan, Mechanism, WallPlan

def cost(mechanism):
    plan = WallPlan(Mechanism(mechanism), Canary("/none", "none", dict.fromkeys(
        ("mnt", "pid", "net", "ipc"), "")), 7)
    process = ProcessPlan(1, 2**29, 2**18, 64, 2**24, 60)
    planned = privileges.planned_limits(process, privileges.address_space())
    begin = time.perf_counter()
    self_test.attempt_all(plan, process, planned)
    return time.perf_counter() - begin
"""


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    for tier in ("full", "restricted", "none"):
        try:
            sandbox = open_sandbox(tier)
        except InfrastructureError as error:
            print(f"{tier}: {str(error).splitlines()[1].strip()}")
            continue
        with sandbox:
            measure(sandbox, rounds if tier != "none" else min(rounds, 3))


def measure(sandbox: Sandbox, rounds: int) -> None:
    tier = sandbox.isolation.tier.value
    starts, ends = [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        process = Running(sandbox.start(SPEC)).process
        starts.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        process.end()
        ends.append(time.perf_counter() - begin)
    show(tier, "start to Ready", starts)
    show(tier, "end of an idle process", ends)
    if tier == "none":
        return
    rate(sandbox, tier, rounds)
    with running(sandbox, PROOF) as process:
        mechanism = "ns" if tier == "full" else "flat"
        show(
            tier, "of which the proof", [float(process.value("cost", mechanism)) for _ in range(9)]
        )  # type: ignore[arg-type]
    for kind, (count, body) in KINDS.items():
        if "fork" in body and tier == "restricted":
            continue
        show(tier, f"deadline to gone: {kind}", [gone(sandbox, body, count) for _ in range(9)])


def gone(sandbox: Sandbox, body: str, count: int) -> float:
    with running(sandbox, f"{NAME}\ndef stay():\n    {body}\n") as process:
        process.send("stay")
        wait_for_processes(MARK, count)
        begin = time.perf_counter()
        process.process.end()
        seconds = time.perf_counter() - begin
        left = processes_with(MARK)
        assert not left, left
        return seconds


def rate(sandbox: Sandbox, tier: str, rounds: int) -> None:
    def work() -> None:
        for _ in range(rounds):
            Running(sandbox.start(SPEC)).process.end()

    threads = [threading.Thread(target=work) for _ in range(4)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begin
    print(f"{tier:12} {'processes a second, 4 at a time':38} {4 * rounds / seconds:8.1f}")


def show(tier: str, what: str, seconds: list[float]) -> None:
    milliseconds = [1000 * each for each in seconds]
    print(f"{tier:12} {what:38} {median(milliseconds):8.1f} ms, worst {max(milliseconds):8.1f}")


if __name__ == "__main__":
    main()
