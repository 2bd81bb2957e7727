"""Fork student processes in milliseconds from a process that imported torch once.

Every start ends in a proof: the student process tries to break out before anything is sent to it,
and the host compares what it met with what it must meet. One that met less is ended and refused.
For these attempts the host lays out a canary. Where the host is root, each student process has a
user of its own.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import socket
import tempfile
import threading
import time
from dataclasses import replace
from itertools import count
from pathlib import Path

from grader.errors import InfrastructureError
from grader.sandbox.host.forked import Failed, ForkedProcess, Link
from grader.sandbox.host.processes import (
    Isolation,
    OpenedSandbox,
    ProcessSpec,
    Sandbox,
    SandboxedProcess,
    SandboxSource,
    Tier,
    WallRefusedError,
)
from grader.sandbox.walls import privileges, view
from grader.sandbox.walls.plan import Canary, Mechanism, ProcessPlan, WallPlan
from grader.sandbox.walls.self_test import breaches

_PLACE = "/var/tmp"  # noqa: S108  not /tmp: a process's own scratch would hide it by chance

_PREFIX = "grader-canary-"
_YOUNG = 10.0
"""Seconds in which a folder may not be locked yet."""


class CanaryHolder:
    """A folder open to everybody and a listening abstract socket, while student processes run.

    Args:
        hidden: Further paths that student processes must not be able to open.
    """

    def __init__(self, hidden: tuple[str, ...] = ()) -> None:
        place = _PLACE if os.access(_PLACE, os.W_OK) else tempfile.gettempdir()
        _sweep(Path(place))
        self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        # Held for as long as this process lives, however it ends.
        self._lock = os.open(self._folder, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # Only a wall may stand between it and a student process.
        self._folder.chmod(0o777)
        secret = self._folder / "secret"
        secret.write_text(secrets.token_hex(), encoding="ascii")
        secret.chmod(0o644)
        name = f"grader-{secrets.token_hex(8)}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Abstract: no file's permissions keep anybody from it, so that only a namespace or Landlock
        # can.
        self._socket.bind("\0" + name)
        self._socket.listen(64)
        # A path that does not exist is refused everywhere, and its refusal would prove no wall.
        present = tuple(path for path in hidden if Path(path).exists())
        self.canary = Canary(str(self._folder), name, view.current_namespaces(), present)

    def close(self) -> None:
        """Remove everything; harmless when it is gone already."""
        self._socket.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
        shutil.rmtree(self._folder, ignore_errors=True)


def _sweep(place: Path) -> None:
    """Remove what graders left that were killed before they could tidy up."""
    for folder in place.glob(f"{_PREFIX}*"):
        # Another grader may be sweeping, or be somebody else's.
        with contextlib.suppress(OSError):
            if folder.stat().st_mtime < time.time() - _YOUNG and not _is_held(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_held(folder: Path) -> bool:
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


FIRST_USER = 60_600
"""No distribution hands these out: after systemd-homed's, before its dynamic users'."""

USERS = 500

_END_SECONDS = 2.0
"""Seconds in which the kernel must have ended what it was told to end."""


class Slots:
    """Hands out user IDs that no process on the machine has, and no other grader holds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[int, socket.socket] = {}
        # Two graders on one machine begin at different places.
        self._next = secrets.randbelow(USERS)

    def take(self) -> int:
        """Return a free user ID.

        Raises:
            InfrastructureError: None is free, or the range is not mapped in this container.
        """
        with self._lock:
            for _ in range(USERS):
                uid = FIRST_USER + self._next
                self._next = (self._next + 1) % USERS
                claim = None if uid in self._held else _claim(uid)
                if claim is not None:
                    self._held[uid] = claim
                    return uid
        raise InfrastructureError(f"no free user ID from {FIRST_USER} to {FIRST_USER + USERS - 1}")

    def give_back(self, uid: int) -> None:
        """Make a user ID available again.

        Raises:
            InfrastructureError: A process of that user survived; the ID stays taken.
        """
        deadline = time.monotonic() + _END_SECONDS
        while in_use(uid):
            if time.monotonic() > deadline:
                if not lives(uid):
                    # Dead, and nobody reaps it: the fork-server died, and the first process of
                    # this container is no init. The ID stays taken.
                    return
                raise InfrastructureError(f"a process of a submission survived under user ID {uid}")
            time.sleep(0.005)
        with self._lock:
            # Only now, with every process of the user gone: the next submission under this ID could
            # else read its memory or kill it.
            self._held.pop(uid).close()


def _claim(uid: int) -> socket.socket | None:
    """Return what keeps other graders on this machine from the same ID, None if it is taken.

    The name of an abstract socket: the kernel lets one process have it, and takes it back at that
    process's death.
    """
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0torchgrade-user-{uid}")
    except OSError:
        claim.close()
        return None
    # A grader that was killed gives up its claim at once, while its last process may still run
    # under the ID.
    if in_use(uid):
        claim.close()
        return None
    return claim


def in_use(uid: int) -> bool:
    """Return whether any process runs under a user ID; the kernel looks, in microseconds."""
    try:
        os.getpriority(os.PRIO_USER, uid)
    except ProcessLookupError:
        return False
    return True


def lives(uid: int) -> bool:
    """Return whether a process runs under a user ID that has not ended and waits to be reaped."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        except OSError:  # It ended while we looked.
            continue
        fields = dict(line.split(":", 1) for line in lines if ":" in line)
        if str(uid) in fields["Uid"].split() and fields["State"].split()[0] not in "ZX":
            return True
    return False


def mapped() -> bool:
    """Return whether the whole range exists in this user namespace."""
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return False
    # Each line: first ID in here, first outside, how many. Only those in here can be taken.
    ranges = [(int(first), int(size)) for first, _, size in (line.split() for line in lines)]
    return any(first <= FIRST_USER and first + size >= FIRST_USER + USERS for first, size in ranges)


_MIN_THREADS = 8
"""Threads that torch and the interpreter may start even for honest single-threaded code."""


class ForkServerSandbox(OpenedSandbox):
    """Starts student processes by forking.

    Args:
        plan: Walls of every student process. ``WallPlan.off`` exists for tests.
        canaries: What student processes try to reach; closed with the sandbox.
        insist: Refuse a student process that met less than the plan promises. Without, no
            submission may come near it: it only shows which wall is in the way of the host's own
                programs.
        origin: A fork-server at rest, which its own is forked of. Its plan is the same but for
            the canaries.

    Raises:
        InfrastructureError: The fork-server cannot be started.
    """

    def __init__(
        self,
        plan: WallPlan,
        canaries: CanaryHolder,
        insist: bool = True,
        origin: Link | None = None,
    ) -> None:
        self.plan = plan
        self._insist = insist
        self._canaries = canaries
        self._origin = origin
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._slots = Slots() if plan.slots else None
        self._processes: dict[int, ForkedProcess] = {}
        self._restarted = False
        self._closed = False
        tier = Tier.FULL if plan.namespaces else Tier.RESTRICTED
        spaces = ("user namespace",) if plan.mechanism is Mechanism.USERNS else ()
        names = [wall.value for wall in plan.walls() if plan.has(wall)]
        names = [f"landlock ABI {plan.landlock}" if name == "landlock" else name for name in names]
        self.isolation = Isolation(tier, ("fork-server", *spaces, *names))
        # Last: the link's thread calls `_look`, which reads the fields above.
        self._link = self._forked() or Link(plan, self._look)

    def _forked(self) -> Link | None:
        """Return a line to a fork of the other fork-server; None where that is none, or dead."""
        if self._origin is None:
            return None
        try:
            link = Link(self.plan, self._look, self._origin)
        except InfrastructureError:
            return None
        try:
            link.wait_ready()
        except InfrastructureError:
            link.close()
            return None
        return link

    def start(self, spec: ProcessSpec) -> SandboxedProcess:
        """See ``Sandbox.start``."""
        process, observed = self._start(self._process_plan(spec))
        self.isolation = replace(self.isolation, proved=observed)
        return process

    def probe(self, spec: ProcessSpec) -> Isolation:
        """Start a student process that leaves a process behind, end it, and return what held.

        Raises:
            InfrastructureError: A wall cannot be put up or does not hold, or a process survived.
        """
        plan = self._process_plan(spec)
        # Without namespaces there is no starting a process to be left behind; the proof has it.
        process, observed = self._start(replace(plan, leave_orphan=self.plan.namespaces))
        process.end()
        if self.plan.namespaces and not process.orphans_gone(1.0):
            raise InfrastructureError("a process that a submission left behind survived its end")
        return replace(self.isolation, proved=observed)

    def grants(self, spec: ProcessSpec) -> bool:
        """See ``Sandbox.grants``. Processes and loopback take namespaces."""
        if spec.cuda > len(self.plan.gpus):
            return False
        if spec.loopback and self.plan.mechanism is Mechanism.NS:
            # A user namespace's own user may always; root in a container need not.
            return privileges.may_raise_loopback()
        return self.plan.namespaces or not (spec.processes or spec.loopback)

    def close(self) -> None:
        """See ``Sandbox.close``."""
        with self._lock:
            if self._closed:
                return
        try:
            self._end_all()
        finally:
            # Also after a failure: the fork-server's end takes every student process along.
            self._link.close()
            self._canaries.close()

    def hand_on(self) -> SandboxSource:
        """See ``OpenedSandbox.hand_on``. Others' fork-servers are forked of this one's."""
        self._end_all()
        self._link.rest()
        self._canaries.close()
        return ForkServerSource(self.plan, self._link)

    def _end_all(self) -> None:
        with self._lock:
            # First: no start may slip in behind the copy that is ended below.
            self._closed = True
            # A copy, ended without the lock: each end calls `_release`, which takes the lock.
            processes = list(self._processes.values())
        for process in processes:
            # Whoever uses a process is told of its failure; here it only has to be gone.
            with contextlib.suppress(InfrastructureError):
                process.end()

    def _start(self, plan: ProcessPlan) -> tuple[ForkedProcess, dict[str, str]]:
        process = ForkedProcess(self._serving(), plan, lambda: self._release(plan))
        with self._lock:
            # Listed before its proof is read, which may take a minute: closing the sandbox must
            # reach it.
            self._processes[plan.number] = process
        report = process.report()
        if isinstance(report, Failed):
            process.end()
            text = f"the sandbox could not be set up: {report.reason}"
            raise WallRefusedError(text, report.call)
        # Compared with the plan, not with a list of what went wrong: a wall that was forgotten
        # counts as one that fell.
        if self._insist and (fallen := breaches(self.plan, plan, report)):
            try:
                process.end()
            except InfrastructureError as error:
                # A wall that keeps processes in may be the one that is not there.
                fallen.append(str(error))
            raise InfrastructureError("the sandbox does not hold: " + "; ".join(fallen))
        return process, dict(report)

    def _process_plan(self, spec: ProcessSpec) -> ProcessPlan:
        uid = self._slots.take() if self._slots else None
        flat = self.plan.mechanism is Mechanism.FLAT
        scratch = ""
        if flat:
            scratch = tempfile.mkdtemp(prefix="grader-")
            # The folder is root's and closed to others; its student process could not even enter
            # it.
            if uid is not None:
                os.chown(scratch, uid, uid)
        named = tuple(gpu.minor for gpu in spec.gpus) or self.plan.gpus
        return ProcessPlan(
            number=next(self._numbers),
            memory=spec.memory,
            output=spec.output,
            processes=max(_MIN_THREADS, spec.threads),
            scratch=spec.scratch,
            cpu_seconds=spec.cpu_seconds,
            uid=uid,
            scratch_path=scratch,
            shared_uid=flat and uid is None,
            loopback=spec.loopback and not flat,
            timed=spec.timed,
            gpus=named if spec.cuda else (),
            visible=",".join(gpu.uuid for gpu in spec.gpus) or self.plan.parts,
            gpu_memory=self.gpu_memory,
            gpu_processes=1 + spec.processes if spec.cuda else 0,
        )

    def _release(self, plan: ProcessPlan) -> None:
        with self._lock:
            self._processes.pop(plan.number, None)
        if self._slots and plan.uid is not None:
            self._slots.give_back(plan.uid)

    def _serving(self) -> Link:
        """Return a fork-server that serves; one that died is started again, once."""
        with self._lock:
            if self._closed:
                raise InfrastructureError("the sandbox is closed")
            # Once: a fork-server that dies twice dies of the machine, and each start costs seconds.
            if not self._link.alive and not self._restarted:
                self._link.close()
                self._restarted = True
                self._link = Link(self.plan, self._look)
            link = self._link
        # Without the lock: it takes seconds, in which others must be able to end their processes.
        link.wait_ready()
        if not link.alive:
            raise InfrastructureError("the fork-server died twice; the machine may lack memory")
        return link

    def _look(self) -> None:
        with self._lock:
            # A copy: a process that ends meanwhile is taken out of the dictionary.
            processes = list(self._processes.values())
        for process in processes:
            process.look()


class ForkServerSource(SandboxSource):
    """Opens sandboxes whose fork-servers are forks of one, which imported torch once for all.

    Args:
        plan: Walls of every student process, with the origin's canaries.
        origin: That fork-server, at rest.
    """

    def __init__(self, plan: WallPlan, origin: Link) -> None:
        self._plan = plan
        self.origin = origin

    def open(self) -> Sandbox:
        """See ``SandboxSource.open``."""
        canaries = CanaryHolder(self._plan.canary.hidden)
        plan = replace(self._plan, canary=canaries.canary)
        return ForkServerSandbox(plan, canaries, origin=self.origin)

    def close(self) -> None:
        """See ``SandboxSource.close``."""
        self.origin.close()
