"""Puts up the walls around this process, in the one order that works.

Mounts need capabilities, a change of user resets the death signal and the dumpable flag, Landlock
and seccomp need ``no_new_privs``, and seccomp forbids most of the calls above: it comes last.
"""

from __future__ import annotations

import os
import tempfile

from grader.sandbox.walls import cuda, libc, privileges, seccomp, view
from grader.sandbox.walls.landlock import IOCTL_DEV, OPEN, READ, READ_DIR, WRITE, Ruleset
from grader.sandbox.walls.plan import Mechanism, ProcessPlan, Wall, WallPlan

_FENCES_SOCKETS = 6


def around_fork_server(plan: WallPlan) -> None:
    """Give the fork-server its namespaces and view; student processes fork out of these.

    The PID namespace comes earlier, before torch is imported: ``view.become_first_process``.

    Raises:
        OSError: The machine refused; the message names the call.
    """
    if not plan.namespaces:
        return
    flags = libc.CLONE_NEWUTS
    wanted = {
        Wall.VIEW: libc.CLONE_NEWNS, Wall.NETWORK: libc.CLONE_NEWNET, Wall.IPC: libc.CLONE_NEWIPC,
    }  # fmt: skip
    for wall, flag in wanted.items():
        flags |= flag if plan.has(wall) else 0
    view.enter_namespaces(flags)
    libc.syscall("sethostname", b"guest", 5)
    if plan.has(Wall.VIEW):
        optional = (*cuda.READABLE, *plan.libraries) if plan.gpus else ()
        view.build_root(cuda.nodes(plan.gpus), optional)


def once(plan: WallPlan) -> None:
    """Do in the fork-server what student processes inherit and need not do again."""
    # What is already held stays: this only keeps anybody below from ever gaining more.
    if plan.has(Wall.CAPABILITIES):
        privileges.drop_bounding_set()
    # For the caches, here and with the filters: a fork finds both made and spends nothing on them.
    view.readable()
    own = None if plan.namespaces else os.getpid()
    kinds = [(False, False, False), (True, False, False), (False, True, False)]
    if plan.gpus:
        kinds += [(False, False, True), (True, False, True)]
    for loopback, timed, gpu in kinds:
        seccomp.build(own, loopback, timed, gpu)


def around_process(plan: WallPlan, process: ProcessPlan) -> dict[str, int]:
    """Wall in this process, which is about to be given a submission.

    Returns:
        The resource limits set, for the proof.

    Raises:
        OSError: A wall could not be put up; the message names the call.
    """
    # Measured now: the fork-server's own address space is inherited, and comes on top of the limit.
    planned = privileges.planned_limits(process, privileges.address_space())
    if plan.namespaces:
        _private_spaces(plan, process)
    # After the mounts: a folder that was entered before would stay the one below the scratch.
    _settle(process.scratch_path or view.SCRATCH)
    if process.gpus:
        _uncover(process.visible)
    counted = {"NPROC": planned["NPROC"]} if "NPROC" in planned else {}
    if plan.has(Wall.LIMITS):
        privileges.apply_limits(
            {name: value for name, value in planned.items() if name not in counted}
        )
    if plan.mechanism is Mechanism.USERNS:
        # One of its own for each student process, so that its processes are counted apart from
        # others'.
        view.enter_user_namespace()
    if plan.has(Wall.LIMITS):
        privileges.apply_limits(counted)
    # Opened while this process is still the fork-server's user: afterwards some of these paths
    # cannot be opened any more. Enforced only once the user has changed.
    rules = _rules(plan, process) if plan.has(Wall.LANDLOCK) else None
    _become(plan, process)
    if rules is not None:
        rules.enforce()
    if plan.has(Wall.SECCOMP):
        own = None if plan.namespaces else os.getpid()
        # Last of all: the filter denies calls that the other walls are put up with, and cannot be
        # taken off again.
        seccomp.install(seccomp.build(own, process.loopback, process.timed, bool(process.gpus)))
    return planned


def _private_spaces(plan: WallPlan, process: ProcessPlan) -> None:
    flags = libc.CLONE_NEWNS
    flags |= libc.CLONE_NEWIPC if plan.has(Wall.IPC) else 0
    # Where Landlock does not fence abstract sockets, neighbours must not share a network either.
    if plan.has(Wall.NETWORK) and (process.loopback or plan.landlock < _FENCES_SOCKETS):
        flags |= libc.CLONE_NEWNET
    view.enter_namespaces(flags)
    # Private, or a mount made here would appear in the namespace that this one was copied from.
    view.mount("", "/", "", view.MS_REC | view.MS_PRIVATE)
    if plan.has(Wall.SCRATCH):
        owner = os.geteuid() if process.uid is None else process.uid
        view.mount_scratch(process.scratch, owner)
    if plan.has(Wall.PIDS):
        view.mount_proc()
    if process.loopback and flags & libc.CLONE_NEWNET:
        view.raise_loopback()


def _uncover(visible: str) -> None:
    """Let CUDA see the GPUs again that the fork-server hides from itself and other processes."""
    for name in cuda.HIDDEN:
        os.environ.pop(name, None)
    if visible:
        os.environ["CUDA_VISIBLE_DEVICES"] = visible


def _settle(scratch: str) -> None:
    """Make the scratch this process's current, home and temporary folder."""
    os.chdir(scratch)
    for name in ("HOME", "TMPDIR", "MPLCONFIGDIR"):
        os.environ[name] = scratch
    # Found before the scratch was there, a folder for temporary files would no longer exist.
    tempfile.tempdir = None
    # A session of its own: a signal to the process group, or a terminal's, cannot reach the grader.
    os.setsid()


def _become(plan: WallPlan, process: ProcessPlan) -> None:
    # A new user namespace comes with a full set.
    if plan.has(Wall.CAPABILITIES) and plan.mechanism is Mechanism.USERNS:
        privileges.drop_bounding_set()
    if process.uid is not None and plan.has(Wall.USER):
        privileges.become(process.uid)
    if plan.has(Wall.CAPABILITIES):
        privileges.drop_capabilities()
    # Said either way: the fork-server's own flag is inherited.
    privileges.set_dumpable(not plan.has(Wall.DUMPABLE))
    if plan.has(Wall.PARENT_DEATH):
        privileges.die_with_parent()
    if plan.has(Wall.NO_NEW_PRIVS):
        privileges.forbid_new_privileges()


def _rules(plan: WallPlan, process: ProcessPlan) -> Ruleset:
    rules = Ruleset(plan.landlock, tcp=process.loopback)
    if plan.has(Wall.VIEW):
        # These hold nothing but what the view put there.
        rules.allow((*view.readable(), "/etc", "/proc"), READ)
        # All of them, unless nodes of GPUs are among them that may be somebody else's.
        rules.allow(_devices() if plan.gpus else ("/dev",), OPEN | READ_DIR)
        rules.allow((view.SCRATCH, view.SHARED_MEMORY), WRITE)
    else:
        rules.allow(view.readable(), READ)
        rules.allow(_devices(), OPEN)
        # The folder behind /proc/self, opened now: this process's own and nobody else's.
        rules.allow(("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat"), READ)
        rules.allow(("/etc/hosts", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group"), READ)
        rules.allow((process.scratch_path or view.SCRATCH,), WRITE)
    if process.gpus:
        rules.allow(cuda.nodes(process.gpus), OPEN | IOCTL_DEV)
        rules.allow((*cuda.READABLE, *plan.libraries), READ)
        # A process that it starts names threads too; in a PID namespace all of them are its own.
        own = plan.has(Wall.PIDS) and not process.timed
        rules.allow(("/proc" if own else cuda.OWN_THREADS,), OPEN | READ_DIR)
    return rules


def _devices() -> tuple[str, ...]:
    return tuple(f"/dev/{name}" for name in view.DEVICES)
