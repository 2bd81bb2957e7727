"""What a student process meets when it tries to break out of its own walls, and what it must meet.

``attempt_all`` runs in the real student process, after its walls are up and before the submission
arrives. ``breaches`` runs on the host and compares. A wall that is not there shows as an attempt
that met what it should not have: each wall has at least one attempt that no other wall would
refuse. Every attempt is harmless if it succeeds.

Defends against: walls that are silently off, on this kernel, in this container, today.
Does not defend against: ways out that are not attempted.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox.walls import cuda, libc, privileges, view
from grader.sandbox.walls.plan import ProcessPlan, Wall, WallPlan

_PTRACE_ATTACH = 16
_NO_PID = 2**30
"""More than the kernel ever hands out: attaching to it does no harm where it is not refused."""

_TEST_NET = ("192.0.2.1", 9)
"""An address that belongs to nobody (RFC 5737)."""


@dataclass(frozen=True, slots=True)
class Context:
    """What attempts are made with."""

    plan: WallPlan
    process: ProcessPlan
    limits: Mapping[str, int]


def write_outside(context: Context) -> str:
    """Make a file in a folder that anybody may write to."""
    path = f"{context.plan.canary.folder}/written"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    return "ok"


def read_outside(context: Context) -> str:
    """Read a file that anybody may read, and all that the host says must stay hidden."""
    canary = context.plan.canary
    return _open_any([f"{canary.folder}/secret", *canary.hidden], os.O_RDONLY)


def _open_any(paths: Iterable[str], flags: int) -> str:
    """Return ``ok`` if any path can be opened, else the last refusal; ``none`` without paths."""
    refusal = "none"
    for path in paths:
        try:
            os.close(os.open(path, flags))
        except OSError as error:  # noqa: PERF203  each path is its own attempt
            refusal = libc.error_name(error)
        else:
            return "ok"
    return refusal


def find_outside(context: Context) -> str:
    """Ask whether a file is there, which Landlock does not refuse but a private view does."""
    Path(context.plan.canary.folder, "secret").stat()
    return "ok"


def make_fifo(_: Context) -> str:
    """Make a named pipe in the scratch, which nothing but Landlock refuses."""
    path = "proof.fifo"
    os.mkfifo(path)
    Path(path).unlink()
    return "ok"


def overfill_scratch(context: Context) -> str:
    """Ask for more room than the scratch is to have."""
    space = os.statvfs(".")
    # By its size alone: to fill a disk that is not walled off would harm the host.
    if space.f_blocks * space.f_frsize > context.process.scratch + mmap.PAGESIZE:
        return "ok"
    fd = os.open("proof.fill", os.O_CREAT | os.O_RDWR)
    try:
        # Asked for in one call, and given back with the file: where it works, nothing was written.
        os.posix_fallocate(fd, 0, space.f_blocks * space.f_frsize + mmap.PAGESIZE)
    finally:
        os.close(fd)
        Path("proof.fill").unlink()
    return "ok"


def open_internet_socket(_: Context) -> str:
    """Open a TCP socket."""
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
    return "ok"


def connect_outside(_: Context) -> str:
    """Connect to an address that is not this student process's own."""
    # A datagram socket sends nothing while it is connected: outside, nobody is bothered.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(_TEST_NET)
    return "ok"


def connect_abstract(context: Context) -> str:
    """Connect to an abstract socket of the host's."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.connect("\0" + context.plan.canary.socket)
    return "ok"


def compare_namespaces(context: Context) -> str:
    """Compare namespaces with the host's; name those that are shared."""
    host = context.plan.canary.namespaces
    kinds = [kind for kind, own in view.current_namespaces().items() if own == host[kind]]
    return ",".join(kinds) or "separate"


def signal_parent(context: Context) -> str:
    """Signal the parent, or anybody else."""
    # Process 1's parent has the number 0 here, which means its own group; -1 means all whom it can
    # reach.
    alone = context.plan.namespaces and os.getppid() == 0
    os.kill(-1 if alone else os.getppid(), 0)
    return "ok"


def trace(_: Context) -> str:
    """Use ``ptrace``."""
    libc.syscall("ptrace", _PTRACE_ATTACH, _NO_PID, 0, 0)
    return "ok"


def uncounted_memory(_: Context) -> str:
    """Make a memory file, which no limit counts."""
    os.close(os.memfd_create("proof"))
    return "ok"


def lock_library(_: Context) -> str:
    """Lock a file of the standard library, which every sandbox sees, in each way that there is."""
    with Path(os.__file__).open("rb") as file:
        for lock in (fcntl.flock, fcntl.lockf):
            try:
                lock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError as error:  # noqa: PERF203  each way is its own attempt
                refusal = libc.error_name(error)
            else:
                return "ok"
    return refusal


def watch_library(_: Context) -> str:
    """Ask for news of files that others open."""
    os.close(libc.syscall("inotify_init1", 0))
    return "ok"


def open_other_gpu(context: Context) -> str:
    """Open the GPUs that other processes may use and this one may not."""
    others = {*context.plan.gpus} - {*context.process.gpus}
    return _open_any(map(cuda.node, sorted(others)), os.O_RDWR)


def new_namespace(_: Context) -> str:
    """Call ``unshare``, which makes user namespaces, where one has every capability.

    With no flags it changes nothing: where the wall is off, the student process stays what it was.
    """
    libc.syscall("unshare", 0)
    return "ok"


def fork_too_many(_: Context) -> str:
    """Start a process when the limit, lowered for a moment, is already reached."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    # One: this process itself is already counted.
    resource.setrlimit(resource.RLIMIT_NPROC, (1, hard))
    try:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    finally:
        # Also after a failure: this is the process that the submission will run in, under the
        # planned limit.
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
    return "ok"


def run_program(_: Context) -> str:
    """Run a program; the one named does not exist, so that only its refusal matters."""
    os.execv("/proof", ["proof"])  # noqa: S606  no shell is wanted


def exceed_memory(context: Context) -> str:
    """Map more memory than the budget allows."""
    # Mapped and not touched, so that nothing is used up where no limit refuses it.
    mmap.mmap(-1, context.limits["AS"]).close()
    return "ok"


def compare_limits(context: Context) -> str:
    """Compare resource limits with the plan; name those that are wider."""
    return ",".join(privileges.unset_limits(dict(context.limits))) or "held"


def gain_root(context: Context) -> str:
    """Become the superuser; root without a capability, and no way to one, is not."""
    os.setuid(0)
    if context.process.uid is None and not privileges.capabilities("CapPrm"):
        return "powerless"
    return "ok"


def user(context: Context) -> str:
    """Say whether this is the planned user and no other group's member."""
    wanted = context.process.uid
    if wanted is None:
        same = os.getuid() == os.geteuid()
        return "own" if same and (os.getuid() or not privileges.capabilities("CapPrm")) else "root"
    exact = os.getresuid() == os.getresgid() == (wanted, wanted, wanted)
    return "own" if exact and not os.getgroups() else "other"


def capabilities(context: Context) -> str:
    """Look for a capability in any of the five sets."""
    lines = Path("/proc/self/status").read_text().splitlines()
    sets = [line.split() for line in lines if line.startswith("Cap")]
    held = [name.rstrip(":") for name, value in sets if int(value, 16)]
    if not context.plan.namespaces and context.process.uid is None:
        # Without CAP_SETPCAP the bounding set stays; with no new privileges it gives nothing.
        held = [name for name in held if name != "CapBnd"]
    return ",".join(held) or "none"


def gain_privileges(_: Context) -> str:
    """Say whether programs can raise privileges."""
    return "none" if libc.prctl(libc.PR_GET_NO_NEW_PRIVS) == 1 else "possible"


def dumpable(_: Context) -> str:
    """Say whether neighbours could read this process's memory."""
    return "no" if libc.prctl(libc.PR_GET_DUMPABLE) == 0 else "yes"


def death_signal(_: Context) -> str:
    """Say what happens when the fork-server dies."""
    return "SIGKILL" if libc.parent_death_signal() == signal.SIGKILL else "none"


def descriptors(_: Context) -> str:
    """Look for open files beyond the streams, the connection and the status pipe."""
    with os.scandir("/proc/self/fd") as entries:
        extra = {int(entry.name) for entry in entries} - {0, 1, 2, 3, 4}
    # One of them is the listing itself, the lowest number that was free.
    return "none" if extra <= {5} else ",".join(map(str, sorted(extra)))


def use_scratch(_: Context) -> str:
    """Write to the scratch and read it back, as honest code does."""
    path = Path("proof.scratch")
    path.write_bytes(b"proof")
    content = path.read_bytes()
    path.unlink()
    return "ok" if content == b"proof" else "lost"


def read_library(_: Context) -> str:
    """Open a module and every folder of the view that Python imports from, as late imports do.

    What is hidden shows here, by its path, and not in an honest submission's points.
    """
    modules = (os, libc, sys.modules.get("torch"))  # Probes of the machine do without torch.
    files = [module.__file__ for module in modules if module and module.__file__]
    for path in (*files, *view.folders()):
        try:
            os.close(os.open(path, os.O_RDONLY))
        except OSError as error:  # noqa: PERF203  the path is to be named
            return f"{libc.error_name(error)} at {path}"
    return "ok"


def start_thread(_: Context) -> str:
    """Start a thread."""
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    return "ok"


# ENOENT counts: in a private view the path is not there at all.
_DENIED = frozenset({"EACCES", "EPERM", "ENOENT", "EROFS"})
_EPERM = frozenset({"EPERM"})
_UNREACHABLE = frozenset({"ENETUNREACH"})
_OK = frozenset({"ok"})
_ORPHAN_SECONDS = 600


_WHEN: dict[str, Callable[[WallPlan, ProcessPlan], bool]] = {
    "always": lambda _, __: True,
    "flat": lambda plan, _: not plan.namespaces,
    "no_network": lambda _, process: not process.loopback,
    "loopback": lambda _, process: process.loopback,
    "bounded": lambda _, process: not process.gpus,
    "lockless": lambda _, process: not (process.loopback or process.gpus),
    "has_gpus": lambda plan, _: bool(plan.gpus),
    "counted": lambda plan, process: plan.namespaces and not (process.shared_uid or process.timed),
    "no_processes": lambda plan, process: not plan.namespaces or process.timed,
}
"""Conditions under which something is attempted."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One attempt.

    Attributes:
        name: Key in the proof.
        run: Returns what was found; an ``OSError`` counts as its own name.
        accepted: What it must meet.
        wall: Required only where the mechanism has this wall.
        when: Further condition, a key of ``_WHEN``.
    """

    name: str
    run: Callable[[Context], str]
    accepted: frozenset[str]
    wall: Wall | None = None
    when: str = "always"


_ATTEMPTS = (
    Probe("write_outside", write_outside, _DENIED),
    Probe("read_outside", read_outside, _DENIED),
    Probe("find_outside", find_outside, _DENIED, Wall.VIEW),
    Probe("make_fifo", make_fifo, frozenset({"EACCES"}), Wall.LANDLOCK),
    Probe("overfill_scratch", overfill_scratch, frozenset({"ENOSPC", "EFBIG"}), Wall.SCRATCH),
    Probe("internet_socket", open_internet_socket, _EPERM, Wall.SECCOMP, "no_network"),
    Probe("connect_outside", connect_outside, _UNREACHABLE, Wall.NETWORK, "loopback"),
    Probe("connect_abstract", connect_abstract, frozenset({"ECONNREFUSED", "EPERM"})),
    Probe("namespaces", compare_namespaces, frozenset({"separate"}), Wall.PIDS),
    Probe("signal_parent", signal_parent, frozenset({"ESRCH"}), Wall.PIDS),
    Probe("signal_parent", signal_parent, _EPERM, Wall.SECCOMP, "flat"),
    Probe("trace", trace, _EPERM, Wall.SECCOMP),
    Probe("uncounted_memory", uncounted_memory, _EPERM, Wall.SECCOMP, "bounded"),
    Probe("lock_library", lock_library, _EPERM, Wall.SECCOMP, "lockless"),
    Probe("watch_library", watch_library, _EPERM, Wall.SECCOMP),
    Probe("other_gpu", open_other_gpu, _DENIED | {"none"}, Wall.LANDLOCK, "has_gpus"),
    Probe("new_namespace", new_namespace, _EPERM, Wall.SECCOMP),
    Probe("fork_too_many", fork_too_many, frozenset({"EAGAIN"}), Wall.LIMITS, "counted"),
    Probe("fork", fork_too_many, _EPERM, Wall.SECCOMP, "no_processes"),
    Probe("run_program", run_program, _EPERM, Wall.SECCOMP, "flat"),
    Probe("exceed_memory", exceed_memory, frozenset({"ENOMEM"}), Wall.LIMITS, "bounded"),
    Probe("limits", compare_limits, frozenset({"held"}), Wall.LIMITS),
    Probe("gain_root", gain_root, frozenset({"EPERM", "EINVAL", "powerless"})),
    Probe("user", user, frozenset({"own"})),
    Probe("capabilities", capabilities, frozenset({"none"}), Wall.CAPABILITIES),
    Probe("privileges", gain_privileges, frozenset({"none"}), Wall.NO_NEW_PRIVS),
    Probe("dumpable", dumpable, frozenset({"no"}), Wall.DUMPABLE),
    Probe("death_signal", death_signal, frozenset({"SIGKILL"}), Wall.PARENT_DEATH),
    Probe("descriptors", descriptors, frozenset({"none"})),
    Probe("use_scratch", use_scratch, _OK),
    Probe("read_library", read_library, _OK),
    Probe("start_thread", start_thread, _OK),
)  # fmt: skip


def attempt_all(plan: WallPlan, process: ProcessPlan, limits: Mapping[str, int]) -> dict[str, str]:
    """Try to break out; return what each attempt met, by name.

    Args:
        plan: What walls were to be put up, those switched off among them.
        process: This student process's own plan.
        limits: Resource limits that were to be set.
    """
    context = Context(plan, process, limits)
    observed = {item.name: _run(item, context) for item in _applicable(plan, process)}
    if process.leave_orphan:
        _leave_orphan()
    return observed


def breaches(plan: WallPlan, process: ProcessPlan, observed: Mapping[str, str]) -> list[str]:
    """Return a line for each attempt that met something else than it must; empty if all held."""
    faults = []
    for item in _applicable(plan, process):
        # An attempt that is missing is a breach: silence must not prove a wall.
        result = observed.get(item.name, "nothing: it was not attempted")
        if result not in item.accepted:
            due = " or ".join(sorted(item.accepted))
            faults.append(f"{item.name} met {result}, where {due} was due")
    return faults


def _applicable(plan: WallPlan, process: ProcessPlan) -> list[Probe]:
    # Those that ought to stand, switched off or not: one that was left out must show as a breach.
    walls = plan.walls()
    return [
        item for item in _ATTEMPTS
        if (item.wall is None or item.wall in walls) and _WHEN[item.when](plan, process)
    ]  # fmt: skip


def _run(item: Probe, context: Context) -> str:
    try:
        return item.run(context)
    except OSError as error:
        return libc.error_name(error)
    # A thread that cannot be started raises this and no OSError.
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
