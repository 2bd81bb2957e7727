"""Where each question runs: on real GPUs, on virtual ones, on none, or not on this machine.

Which GPUs there are is asked of the driver's files: the host imports no torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from grader.assignment.types import Question
from grader.errors import UsageError
from grader.run.device_state import list_gpus, visible_gpus
from grader.sandbox.host.guests import Gpu, GuestNeeds
from grader.verdict import Code, Message, Verdict, deferred

DeviceChoice = Literal["auto", "cpu", "virtual", "cuda"]
"""``auto`` prefers real GPUs to virtual ones, ``cpu`` has none of any sort, ``cuda`` insists."""

Grants = Callable[[GuestNeeds], bool]


def resolve(
    question: Question, choice: DeviceChoice, gpus: int, grants: Grants
) -> GuestNeeds | Verdict:
    """Return what a question's guest must be given, or why it is not graded here.

    Args:
        question: With its ``needs``.
        choice: Of whoever grades.
        gpus: Real GPUs to be had.
        grants: Whether the sandbox grants such needs.
    """
    needs = question.needs
    real = GuestNeeds(needs.cuda, needs.processes, needs.loopback)
    # A timeline is one of virtual GPUs: it tells the same wherever it is graded.
    if needs.cuda and (choice in ("auto", "virtual") or (needs.timeline and choice == "cuda")):
        if choice == "auto" and not needs.timeline and needs.cuda <= gpus and grants(real):
            return real
        memory = needs.cuda_memory_mb or 0
        virtual = GuestNeeds(0, needs.processes, needs.loopback, needs.cuda, memory)
        return virtual if grants(virtual) else _not_granted(virtual)
    found = 0 if choice == "cpu" else gpus
    if needs.cuda > found:
        told = Message("no_device", {"cuda": needs.cuda, "found": found})
        return deferred(Code.NO_DEVICE, told)
    return real if grants(real) else _not_granted(real)


def device_name(needs: GuestNeeds) -> str:
    """Return what a question ran on, for the report: ``cpu``, ``cuda ×1``, ``virtual cuda ×2``."""
    if needs.virtual:
        return f"virtual cuda ×{needs.virtual}"
    return f"cuda ×{needs.cuda}" if needs.cuda else "cpu"


def devices_name(all_needs: Iterable[GuestNeeds]) -> str:
    """Return what a whole run used: of each sort of GPU the most that a question had."""
    needs = list(all_needs)
    most = (
        GuestNeeds(cuda=max((item.cuda for item in needs), default=0)),
        GuestNeeds(virtual=max((item.virtual for item in needs), default=0)),
    )
    names = [device_name(item) for item in most if item != GuestNeeds()]
    return ", ".join(names) or "cpu"


def _not_granted(needs: GuestNeeds) -> Verdict:
    ordinary = "processes" if needs.processes else "a loopback network"
    # Walls that show GPUs to no guest refuse for that alone.
    wanted = "a GPU" if needs.cuda else ordinary
    return deferred(Code.NO_PERMISSION, Message("no_permission", {"needs": wanted}))


def usable_gpus(device: DeviceChoice) -> tuple[Gpu, ...]:
    """Return the real GPUs to grade with.

    Raises:
        UsageError: One was insisted on, and there is none.
    """
    gpus = visible_gpus() if device in ("auto", "cuda") else ()
    if device == "cuda" and not gpus:
        hidden = " that CUDA_VISIBLE_DEVICES names" if list_gpus() else ""
        raise UsageError(
            f"--device cuda, but this machine has no GPU{hidden} that a driver offers; use "
            "--device auto to grade on virtual ones"
        )
    return gpus
