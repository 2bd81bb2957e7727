"""Resource limits: the kernel's own bounds on one process.

Defends against: core dumps, files too large, too many descriptors, address space beyond the budget,
CPU time without end, locked memory, message queues, and processes or threads beyond the number
allowed (not counted for the superuser, which a guest never is).
Does not defend against: memory of many processes together; the host's watch sums it.
"""

from __future__ import annotations

import resource
from pathlib import Path

from grader.sandbox.walls import cuda
from grader.sandbox.walls.plan import GuestPlan

OPEN_FILES = 512
THREAD_SPACE = 512 * 2**20
"""Address space that thread stacks and arenas take without touching it, in bytes."""


def process_limit(plan: GuestPlan) -> int:
    """Return how many processes and threads a guest may have, itself among them."""
    return 1 + plan.processes + (cuda.THREADS if plan.gpus else 0)


def planned(plan: GuestPlan, space: int) -> dict[str, int]:
    """Return limit name → value, soft and hard alike.

    Args:
        plan: The guest's plan.
        space: Address space that the process already has, in bytes.
    """
    limits = {
        "CORE": 0,
        "FSIZE": max(plan.scratch, plan.output),
        "NOFILE": OPEN_FILES,
        "AS": space + plan.memory + THREAD_SPACE,
        "CPU": plan.cpu_seconds,
        "MEMLOCK": 65536,
        "MSGQUEUE": 0,
    }
    if not plan.shared_uid:
        limits["NPROC"] = process_limit(plan)
    if plan.gpus:
        limits = {name: value for name, value in limits.items() if name not in cuda.UNLIMITED}
    return limits


def address_space() -> int:
    """Return the size of this process's address space, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def apply(limits: dict[str, int]) -> None:
    """Set limits for good.

    Raises:
        OSError: A limit is above one that already holds.
    """
    for name, value in limits.items():
        which = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(which)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (allowed, allowed))


def unset(limits: dict[str, int]) -> list[str]:
    """Return the names of limits that are wider than planned."""
    wide = []
    for name, value in limits.items():
        for held in resource.getrlimit(getattr(resource, f"RLIMIT_{name}")):
            if held == resource.RLIM_INFINITY or held > value:
                wide.append(name)
                break
    return wide
