"""What a guest meets when it tries to break out of its own walls, and what it must meet.

``attempt_all`` runs in the real guest, after its walls are up and before the submission arrives.
``breaches`` runs on the host and compares. A wall that is not there shows as an attempt that met
what it should not have: each wall has at least one attempt that no other wall would refuse.

Defends against: walls that are silently off, on this kernel, in this container, today.
Does not defend against: ways out that are not attempted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grader.sandbox.walls import attempts, libc
from grader.sandbox.walls.attempts import Context
from grader.sandbox.walls.plan import GuestPlan, Wall, WallPlan

_DENIED = frozenset({"EACCES", "EPERM", "ENOENT", "EROFS"})
_OK = frozenset({"ok"})
_ORPHAN_SECONDS = 600


def _always(_: WallPlan, __: GuestPlan) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt.

    Attributes:
        name: Key in the proof.
        run: Returns what was found; an ``OSError`` counts as its own name.
        accepted: What it must meet.
        wall: Required only where the mechanism has this wall.
        when: Further condition, on the plans.
    """

    name: str
    run: Callable[[Context], str]
    accepted: frozenset[str]
    wall: Wall | None = None
    when: Callable[[WallPlan, GuestPlan], bool] = _always


def _flat(plan: WallPlan, _: GuestPlan) -> bool:
    return not plan.namespaces


def _no_network(_: WallPlan, guest: GuestPlan) -> bool:
    return not guest.loopback


def _loopback(_: WallPlan, guest: GuestPlan) -> bool:
    return guest.loopback


def _bounded(_: WallPlan, guest: GuestPlan) -> bool:
    return not guest.gpus


def _has_gpus(plan: WallPlan, _: GuestPlan) -> bool:
    return bool(plan.gpus)


def _counted(plan: WallPlan, guest: GuestPlan) -> bool:
    return plan.namespaces and not guest.shared_uid and not guest.timed


def _no_processes(plan: WallPlan, guest: GuestPlan) -> bool:
    return not plan.namespaces or guest.timed


_ATTEMPTS = (
    Attempt("write_outside", attempts.write_outside, _DENIED),
    Attempt("read_outside", attempts.read_outside, _DENIED),
    Attempt("find_outside", attempts.find_outside, _DENIED, Wall.VIEW),
    Attempt("make_fifo", attempts.make_fifo, frozenset({"EACCES"}), Wall.LANDLOCK),
    Attempt("overfill_scratch", attempts.overfill_scratch, frozenset({"ENOSPC", "EFBIG"}),
            Wall.SCRATCH),
    Attempt("internet_socket", attempts.open_internet_socket, frozenset({"EPERM"}),
            Wall.SECCOMP, _no_network),
    Attempt("connect_outside", attempts.connect_outside, frozenset({"ENETUNREACH"}),
            Wall.NETWORK, _loopback),
    Attempt("connect_abstract", attempts.connect_abstract, frozenset({"ECONNREFUSED", "EPERM"})),
    Attempt("namespaces", attempts.compare_namespaces, frozenset({"separate"}), Wall.PIDS),
    Attempt("signal_parent", attempts.signal_parent, frozenset({"ESRCH"}), Wall.PIDS),
    Attempt("signal_parent", attempts.signal_parent, frozenset({"EPERM"}), Wall.SECCOMP, _flat),
    Attempt("trace", attempts.trace, frozenset({"EPERM"}), Wall.SECCOMP),
    Attempt("uncounted_memory", attempts.uncounted_memory, frozenset({"EPERM"}), Wall.SECCOMP,
            _bounded),
    Attempt("other_gpu", attempts.open_other_gpu, _DENIED | {"none"}, Wall.LANDLOCK, _has_gpus),
    Attempt("new_namespace", attempts.new_namespace, frozenset({"EPERM"}), Wall.SECCOMP),
    Attempt("fork_too_many", attempts.fork_too_many, frozenset({"EAGAIN"}), Wall.LIMITS, _counted),
    Attempt("fork", attempts.fork_too_many, frozenset({"EPERM"}), Wall.SECCOMP, _no_processes),
    Attempt("run_program", attempts.run_program, frozenset({"EPERM"}), Wall.SECCOMP, _flat),
    Attempt("exceed_memory", attempts.exceed_memory, frozenset({"ENOMEM"}), Wall.LIMITS, _bounded),
    Attempt("limits", attempts.compare_limits, frozenset({"held"}), Wall.LIMITS),
    Attempt("gain_root", attempts.gain_root, frozenset({"EPERM", "EINVAL", "powerless"})),
    Attempt("user", attempts.user, frozenset({"own"})),
    Attempt("capabilities", attempts.capabilities, frozenset({"none"}), Wall.CAPABILITIES),
    Attempt("privileges", attempts.privileges, frozenset({"none"}), Wall.NO_NEW_PRIVS),
    Attempt("dumpable", attempts.dumpable, frozenset({"no"}), Wall.DUMPABLE),
    Attempt("death_signal", attempts.death_signal, frozenset({"SIGKILL"}), Wall.PARENT_DEATH),
    Attempt("descriptors", attempts.descriptors, frozenset({"none"})),
    Attempt("use_scratch", attempts.use_scratch, _OK),
    Attempt("read_library", attempts.read_library, _OK),
    Attempt("start_thread", attempts.start_thread, _OK),
)  # fmt: skip


def attempt_all(plan: WallPlan, guest: GuestPlan, limits: Mapping[str, int]) -> dict[str, str]:
    """Try to break out; return what each attempt met, by name.

    Args:
        plan: What walls were to be put up, those switched off among them.
        guest: This guest's own plan.
        limits: Resource limits that were to be set.
    """
    context = Context(plan, guest, limits)
    met = {item.name: _run(item, context) for item in _applicable(plan, guest)}
    if guest.leave_orphan:
        _leave_orphan()
    return met


def breaches(plan: WallPlan, guest: GuestPlan, met: Mapping[str, str]) -> list[str]:
    """Return a line for each attempt that met something else than it must; empty if all held."""
    found = []
    for item in _applicable(plan, guest):
        result = met.get(item.name, "nothing: it was not attempted")
        if result not in item.accepted:
            due = " or ".join(sorted(item.accepted))
            found.append(f"{item.name} met {result}, where {due} was due")
    return found


def _applicable(plan: WallPlan, guest: GuestPlan) -> list[Attempt]:
    walls = plan.walls()
    return [
        item for item in _ATTEMPTS
        if (item.wall is None or item.wall in walls) and item.when(plan, guest)
    ]  # fmt: skip


def _run(item: Attempt, context: Context) -> str:
    try:
        return item.run(context)
    except OSError as error:
        return libc.error_name(error)
    except RuntimeError as error:
        return str(error)[:80]


def _leave_orphan() -> None:
    """Double-fork a process that keeps the status pipe open, so that the host sees it reaped."""
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os.setsid()
            time.sleep(_ORPHAN_SECONDS)
        os._exit(0)
    os.waitpid(child, 0)
