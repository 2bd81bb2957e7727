"""Single attempts to break out, each one harmless if it succeeds; see ``proof``."""

from __future__ import annotations

import mmap
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox.walls import cuda, identity, libc, limits, namespaces, view
from grader.sandbox.walls.plan import GuestPlan, WallPlan

_PTRACE_ATTACH = 16
_NO_PID = 2**30
"""More than the kernel ever hands out: attaching to it does no harm where it is not refused."""

_TEST_NET = ("192.0.2.1", 9)
"""An address that belongs to nobody (RFC 5737)."""


@dataclass(frozen=True, slots=True)
class Context:
    """What attempts are made with."""

    plan: WallPlan
    guest: GuestPlan
    limits: Mapping[str, int]


def write_outside(context: Context) -> str:
    """Make a file in a folder that anybody may write to."""
    path = f"{context.plan.canary.folder}/written"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    return "ok"


def read_outside(context: Context) -> str:
    """Read a file that anybody may read, and all that the host says must stay hidden."""
    canary = context.plan.canary
    refusal = ""
    for path in (f"{canary.folder}/secret", *canary.hidden):
        try:
            os.close(os.open(path, os.O_RDONLY))
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
    if space.f_blocks * space.f_frsize > context.guest.scratch + mmap.PAGESIZE:
        return "ok"
    fd = os.open("proof.fill", os.O_CREAT | os.O_RDWR)
    try:
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
    """Connect to an address that is not this guest's own."""
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
    kinds = [kind for kind, own in namespaces.current().items() if own == host[kind]]
    return ",".join(kinds) or "separate"


def signal_parent(context: Context) -> str:
    """Signal the parent, or anybody else."""
    if context.plan.namespaces and os.getppid() == 0:
        os.kill(-1, 0)
    else:
        os.kill(os.getppid(), 0)
    return "ok"


def trace(_: Context) -> str:
    """Use ``ptrace``."""
    libc.syscall("ptrace", _PTRACE_ATTACH, _NO_PID, 0, 0)
    return "ok"


def uncounted_memory(_: Context) -> str:
    """Make a memory file, which no limit counts."""
    os.close(os.memfd_create("proof"))
    return "ok"


def open_other_gpu(context: Context) -> str:
    """Open the GPUs that other guests may use and this one may not."""
    refusal = "none"
    for minor in sorted({*context.plan.gpus} - {*context.guest.gpus}):
        try:
            os.close(os.open(cuda.node(minor), os.O_RDWR))
        except OSError as error:  # noqa: PERF203  each node is its own attempt
            refusal = libc.error_name(error)
        else:
            return "ok"
    return refusal


def new_namespace(_: Context) -> str:
    """Call ``unshare``, which makes user namespaces, where one has every capability.

    With no flags it changes nothing: where the wall is off, the guest stays what it was.
    """
    libc.syscall("unshare", 0)
    return "ok"


def fork_too_many(_: Context) -> str:
    """Start a process when the limit, lowered for a moment, is already reached."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, hard))
    try:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
    return "ok"


def run_program(_: Context) -> str:
    """Run a program; the one named does not exist, so that only its refusal matters."""
    os.execv("/proof", ["proof"])  # noqa: S606  no shell is wanted


def exceed_memory(context: Context) -> str:
    """Map more memory than the budget allows."""
    mmap.mmap(-1, context.limits["AS"]).close()
    return "ok"


def compare_limits(context: Context) -> str:
    """Compare resource limits with the plan; name those that are wider."""
    return ",".join(limits.unset(dict(context.limits))) or "held"


def gain_root(context: Context) -> str:
    """Become the superuser; root without a capability, and no way to one, is not."""
    os.setuid(0)
    if context.guest.uid is None and not identity.capabilities("CapPrm"):
        return "powerless"
    return "ok"


def user(context: Context) -> str:
    """Say whether this is the planned user and no other group's member."""
    wanted = context.guest.uid
    if wanted is None:
        same = os.getuid() == os.geteuid()
        return "own" if same and (os.getuid() or not identity.capabilities("CapPrm")) else "root"
    exact = os.getresuid() == os.getresgid() == (wanted, wanted, wanted)
    return "own" if exact and not os.getgroups() else "other"


def capabilities(context: Context) -> str:
    """Look for a capability in any of the five sets."""
    lines = Path("/proc/self/status").read_text().splitlines()
    sets = [line.split() for line in lines if line.startswith("Cap")]
    held = [name.rstrip(":") for name, value in sets if int(value, 16)]
    if not context.plan.namespaces and context.guest.uid is None:
        # Without CAP_SETPCAP the bounding set stays; with no new privileges it gives nothing.
        held = [name for name in held if name != "CapBnd"]
    return ",".join(held) or "none"


def privileges(_: Context) -> str:
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
    found = path.read_bytes()
    path.unlink()
    return "ok" if found == b"proof" else "lost"


def read_library(_: Context) -> str:
    """Open a module and every folder of the view that Python imports from, as late imports do.

    What is hidden shows here, by its path, and not in an honest hand-in's points.
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
