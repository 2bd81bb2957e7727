"""What this machine can grade, and what whoever grades chose: GPUs, packages, options.

Which GPUs there are is asked of the driver's files: the host imports no torch. Which packages there
are is asked of a student process, for its walls may hide what the host has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from grader.assignment.types import Assignment, Limits, Question
from grader.errors import UsageError, nearest
from grader.observation import Outcome
from grader.run.gpu_driver import why_none
from grader.run.gpu_state import visible_gpus
from grader.run.process_limits import process_for, process_spec
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import Gpu, ProcessSpec, Sandbox
from grader.text import inert
from grader.verdict import Code, Message, Param, Verdict, deferred
from grader.wire.messages import Call, Load

DeviceChoice = Literal["auto", "cpu", "virtual", "cuda"]
"""``auto`` prefers real GPUs to virtual ones, ``cpu`` has none of any sort, ``cuda`` insists."""

Grants = Callable[[ProcessSpec], bool]


def resolve(
    assignment: Assignment, question: Question, choice: DeviceChoice, gpus: int, grants: Grants
) -> ProcessSpec | Verdict:
    """Return what a question's student process gets, or why it is not graded here."""
    needs, alone = question.needs, process_for(assignment, question)
    real = replace(alone, cuda=needs.cuda)
    # A timeline is one of virtual GPUs: it tells the same wherever it is graded.
    if needs.cuda and (choice in ("auto", "virtual") or (needs.timeline and choice == "cuda")):
        if choice == "auto" and not needs.timeline and needs.cuda <= gpus and grants(real):
            return real
        memory = needs.cuda_memory_mb or 0
        virtual = replace(alone, virtual_gpus=needs.cuda, virtual_gpu_memory_mb=memory)
        return virtual if grants(virtual) else _not_granted(virtual)
    usable = 0 if choice == "cpu" else gpus
    # Deferred, not failed: the points stay pending and a machine with a GPU can fill them.
    if needs.cuda > usable:
        message = Message("no_device", {"cuda": needs.cuda, "found": usable})
        return deferred(Code.NO_DEVICE, message)
    return real if grants(real) else _not_granted(real)


def devices_name(specs: Iterable[ProcessSpec]) -> str:
    """Return what processes ran on, for the report: of each sort of GPU the most that one had.

    For example ``cpu``, ``cuda ×1``, ``cuda ×1, virtual cuda ×2``.
    """
    counts = [(spec.cuda, spec.virtual_gpus) for spec in specs] or [(0, 0)]
    most = zip(("cuda", "virtual cuda"), map(max, zip(*counts, strict=True)), strict=True)
    return ", ".join(f"{name} ×{count}" for name, count in most if count) or "cpu"


def _not_granted(spec: ProcessSpec) -> Verdict:
    ordinary = "processes" if spec.processes else "a loopback network"
    # Walls that show GPUs to no student process refuse for that alone.
    wanted = "a GPU" if spec.cuda else ordinary
    return deferred(Code.NO_PERMISSION, Message("no_permission", {"needs": wanted}))


def usable_gpus(device: DeviceChoice) -> tuple[Gpu, ...]:
    """Return the real GPUs to grade with.

    Raises:
        UsageError: One was insisted on, and there is none.
    """
    gpus = visible_gpus() if device in ("auto", "cuda") else ()
    if device == "cuda" and not gpus:
        raise UsageError(
            f"--device cuda, but this machine has no GPU that can be used: {why_none()}. Use "
            "--device auto to grade on virtual ones"
        )
    return gpus


_FILE = "packages.py"
_SOURCE = b"""
import importlib


def load(name):
    importlib.import_module(name)
"""
_SECONDS = 60.0
_SPEC = process_spec(Limits(memory_mb=8192, processes=256))
"""Wide: some packages start threads as they are imported."""

_MAX_TEXT = 200


def missing_packages(sandbox: Sandbox, questions: Iterable[Question]) -> dict[str, str]:
    """Return the modules that questions need and student processes cannot import → why.

    Raises:
        InfrastructureError: No student process can be started.
    """
    missing: dict[str, str] = {}
    session = ProcessSession(sandbox, Load({_FILE: _SOURCE}, _FILE))
    try:
        for name in sorted({name for item in questions for name in item.needs.packages}):
            # Inside the loop: a package that ends its process must not take the next ones along.
            session.prepare(_SPEC)
            observation = session.failed_load or session.call(Call("load", (name,)), _SECONDS)
            if observation.outcome is not Outcome.COMPLETED:
                fault = observation.claims.fault
                why = f"{fault.type}: {fault.message}" if fault else observation.detail
                # Asked of a sandboxed process, not of this one: its walls may hide what the host
                # has.
                missing[name] = inert(why, _MAX_TEXT)
    finally:
        session.close()
    return missing


def lacking(question: Question, missing: Mapping[str, str]) -> Verdict | None:
    """Return the verdict on a question whose module no student process can import, or None.

    Args:
        question: With its ``needs``.
        missing: Modules that cannot be imported → why.
    """
    absent = [name for name in question.needs.packages if name in missing]
    return no_package(absent, missing[absent[0]]) if absent else None


def no_package(names: list[str], why: str) -> Verdict:
    """Return the verdict on what needs modules that student processes cannot import."""
    params: Mapping[str, Param] = {"packages": [*names], "detail": why}
    return deferred(Code.NO_PACKAGE, Message("no_package", params))


@dataclass(frozen=True, slots=True)
class Options:
    """What whoever grades may choose.

    Attributes:
        seed: Of all drawn inputs; recorded in the report.
        device: ``auto`` takes real GPUs for the questions that can have them and virtual ones for
            the others, ``cpu`` none of either, ``virtual`` no real ones, ``cuda`` no virtual ones.
        questions: Ids to grade; all where empty.
        clock: Time what is graded on its speed; else those points stay pending.
        without_gpu: What only a real GPU can settle is out of the maximum.
    """

    seed: int
    device: DeviceChoice = "auto"
    questions: tuple[str, ...] = ()
    clock: bool = False
    without_gpu: bool = False

    def selected(self, assignment: Assignment) -> tuple[Question, ...]:
        """Return the questions to grade.

        Raises:
            UsageError: One that was asked for does not exist.
        """
        known = {question.id: question for question in assignment.questions}
        for name in self.questions:
            if name not in known:
                raise UsageError(
                    f"“{assignment.id}” has no question “{name}”{nearest(name, known) or '.'} "
                    f"Its questions: {', '.join(known)}"
                )
        return tuple(
            q for q in assignment.questions if not self.questions or q.id in self.questions
        )
