"""Choose the walls that this machine gives, by putting them up around a probe.

Nothing is believed: a mechanism counts as there when a probe process stood behind it, tried to
break out, left a process behind, and the host saw all of that fail.

Where there are none, tier none starts each student process afresh, with limits and nothing else.
Defends, there, against: crashes, endless loops, memory and output floods, processes left behind.
Does not defend, there, against: reading or writing whatever the user may read or write, the
network, a submission that goes looking for its keeper. For a student's own machine; never an
official score.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from grader.errors import InfrastructureError
from grader.interpreter import ONE_THREAD, package_folders, processor_settings, running
from grader.sandbox.host.fork_server import CanaryHolder, ForkServerSandbox, mapped
from grader.sandbox.host.processes import (
    NO_TF32,
    Capture,
    Exit,
    Gpu,
    Isolation,
    OpenedSandbox,
    ProcessSpec,
    Sandbox,
    SandboxedProcess,
    SandboxSource,
    Tier,
    WallRefusedError,
    descendants,
    end_below,
    readable,
    ready,
)
from grader.sandbox.walls import cuda, landlock, libc, privileges
from grader.sandbox.walls.plan import Mechanism, Wall, WallPlan
from grader.wire.frames import Connection

_STATUS = struct.Struct("<iq")
# A list of what stays, not of what goes: secrets have names that nobody can foresee.
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH")
_DYING = 0.5
"""Seconds that a student process whose connection broke gets to finish dying by itself."""
_IMPORT = re.compile(rb"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Preload:
    """What to import.

    Attributes:
        modules: Their names; one that is not installed is left out.
        fonts: Folder in which matplotlib keeps its list of fonts, which may take it five seconds to
            make; empty for none. Its own folder would bring a user's settings along.
    """

    modules: tuple[str, ...] = ()
    fonts: str = ""


NOTHING = Preload()


def preload(files: Iterable[bytes], fonts: str) -> Preload:
    """Return what to import for an assignment.

    Args:
        files: The instructor's Python files.
        fonts: Where a list of fonts may be kept; empty for nowhere.
    """
    names = {name.decode() for text in files for name in _IMPORT.findall(text)}
    modules = ("h5py",) if "h5py" in names else ()
    if "matplotlib" in names and fonts:
        return Preload((*modules, "matplotlib.pyplot"), fonts)
    return Preload(modules)


Choice = Literal["auto", "full", "restricted", "none"]

PROBE_SPEC = ProcessSpec(memory=2**28, output=2**16, threads=16, scratch=2**20, cpu_seconds=30)

_BE_ADMINISTRATOR = (
    "run as root with CAP_SYS_ADMIN (in Docker: --cap-add SYS_ADMIN --cap-add NET_ADMIN "
    "--security-opt seccomp=unconfined --security-opt apparmor=unconfined)"
)
_ALLOW_USER_NAMESPACES = (
    "allow user namespaces to ordinary users (Ubuntu 24.04: sysctl "
    "kernel.apparmor_restrict_unprivileged_userns=0; Debian: kernel.unprivileged_userns_clone=1; "
    "in Docker: --security-opt seccomp=unconfined)"
)
_UNCOVER_PROC = "show all of /proc (in Docker: --security-opt systempaths=unconfined)"
_COVERED_PROC = (
    "its runtime has mounted over /proc/driver/nvidia, and no option of a container takes that "
    "back: be root in it with CAP_SYS_ADMIN and CAP_NET_ADMIN, or take tier restricted"
)
_USE_LANDLOCK = "use a kernel from 5.13 on, with landlock in its list of security modules"
_CANDIDATES: dict[Choice, tuple[Mechanism, ...]] = {
    "auto": (Mechanism.NS, Mechanism.USERNS, Mechanism.FLAT),
    "full": (Mechanism.NS, Mechanism.USERNS),
    "restricted": (Mechanism.FLAT,),
    "none": (),
}


def open_sandbox(
    isolation: Choice,
    *,
    hidden: tuple[str, ...] = (),
    gpus: tuple[Gpu, ...] = (),
    preload: Preload = NOTHING,
) -> OpenedSandbox:
    """Return a sandbox with the best walls this machine gives, or exactly those asked for.

    Args:
        isolation: The tier asked for; ``auto`` takes the best that holds.
        hidden: Paths that no student process may open, such as the reference's; each student
            process tries.
        gpus: GPUs that student processes with a need for one are shown; all others stay closed to
            them.
        preload: What student processes find imported beside torch.

    Raises:
        InfrastructureError: Less holds than was asked for. Says what was tried and what to do.
    """
    # Never on Linux: where a wall is suddenly off, a class must not be graded without one (ADR
    # 0008).
    if isolation == "none" or (isolation == "auto" and sys.platform != "linux"):
        return OneShotSandbox()
    if sys.platform != "linux":
        raise _refusal(isolation, {"any": f"walls need Linux, and this is {sys.platform}"})
    observed: dict[str, str] = {}
    for mechanism in _CANDIDATES[isolation]:
        if reason := unsuited(mechanism):
            observed[mechanism.value] = reason
            continue
        canaries = CanaryHolder(hidden)
        # Its fork-server imports torch, for seconds, while the probe finds out what holds.
        plan = replace(
            _plan(mechanism, canaries, preload=True), also=preload.modules, fonts=preload.fonts
        )
        sandbox = ForkServerSandbox(_shown(plan, gpus), canaries)
        try:
            probe(mechanism)
        except InfrastructureError as error:
            sandbox.close()
            observed[mechanism.value] = "; ".join(
                filter(None, (str(error), _advice(mechanism, error)))
            )
        else:
            return sandbox
    raise _refusal(isolation, observed)


def probe(mechanism: Mechanism) -> Isolation:
    """Put one student process, without torch, behind the walls of a mechanism; return what held.

    Raises:
        InfrastructureError: Something did not hold; says what.
    """
    canaries = CanaryHolder()
    sandbox = ForkServerSandbox(_plan(mechanism, canaries, preload=False), canaries)
    try:
        # Tried, not looked up: a kernel may offer a call that the container around it refuses.
        return sandbox.probe(PROBE_SPEC)
    finally:
        sandbox.close()


def without_wall(sandbox: ForkServerSandbox, wall: Wall) -> Sandbox:
    """Return a sandbox like another but for one wall. For the host's own programs only."""
    canaries = CanaryHolder()
    plan = replace(sandbox.plan.without(wall), canary=canaries.canary)
    return ForkServerSandbox(plan, canaries, insist=False)


def unsuited(mechanism: Mechanism) -> str:
    """Return why a mechanism is not even tried here, or an empty string."""
    root = os.geteuid() == 0
    if mechanism is Mechanism.NS and not root:
        return f"needs root; {_BE_ADMINISTRATOR}"
    if mechanism is Mechanism.NS and (lacking := privileges.lacking()):
        return f"root lacks capabilities here: {', '.join(lacking)}"
    if mechanism is Mechanism.USERNS and root:
        # The kernel does not count the processes of its own superuser, mapped or not.
        return "not as root, whose processes no limit counts"
    if mechanism is Mechanism.FLAT and not landlock.abi():
        return f"this kernel has no Landlock; {_USE_LANDLOCK}"
    if users_of_their_own() and not mapped():
        return "the user IDs for student processes are not mapped in this container"
    return ""


def users_of_their_own() -> bool:
    """Return whether student processes get a user each: where there is root, with what that takes.

    Root without capabilities, as in a container that drops them, is a user like any other.
    """
    return os.geteuid() == 0 and not privileges.lacking()


def _advice(mechanism: Mechanism, error: InfrastructureError) -> str:
    """Return what to do about an error; empty where it is not about what a machine allows."""
    call = error.call if isinstance(error, WallRefusedError) else ""
    if not call:
        return ""
    if mechanism is Mechanism.USERNS:
        covered = call.startswith("mount ") and call.endswith("/proc")
        proc = _COVERED_PROC if cuda.covered() else _UNCOVER_PROC
        return proc if covered else _ALLOW_USER_NAMESPACES
    return _BE_ADMINISTRATOR if mechanism is Mechanism.NS else ""


def closed_folder() -> str:
    """Return the outermost folder on the way to the interpreter that is closed to others."""
    packages = (Path(folder, name) for name, folder in package_folders().items())
    prefixes = (Path(name) for name in (sys.prefix, sys.base_prefix, sys.exec_prefix))
    # Not all that is on the path of this process: student processes are given no script's folder.
    for folder in (path.resolve() for path in (*prefixes, *packages)):
        for parent in (*reversed(folder.parents), folder):
            if not parent.stat().st_mode & stat.S_IXOTH:
                return str(parent)
    return ""


def _plan(mechanism: Mechanism, canaries: CanaryHolder, preload: bool) -> WallPlan:
    # Without a view of their own, other users could not get at an interpreter in a closed home.
    slots = users_of_their_own() and not (mechanism is Mechanism.FLAT and closed_folder())
    if mechanism is Mechanism.FLAT and not slots:
        # Student processes share our user here. Our memory must not be theirs to read.
        libc.prctl(libc.PR_SET_DUMPABLE, 0)
    return WallPlan(mechanism, canaries.canary, landlock.abi(), slots, preload)


def _shown(plan: WallPlan, gpus: tuple[Gpu, ...]) -> WallPlan:
    """Return the plan with GPUs in the view, where Landlock keeps them from other processes."""
    # Without Landlock every process could open every GPU in the view.
    if not gpus or not plan.landlock:
        return plan
    folders = cuda.library_folders(os.environ.get("LD_LIBRARY_PATH", ""))
    minors = tuple(dict.fromkeys(gpu.minor for gpu in gpus))
    parts = ",".join(gpu.uuid for gpu in gpus) if any(gpu.board for gpu in gpus) else ""
    return replace(plan, gpus=minors, libraries=folders, parts=parts)


def _refusal(isolation: Choice, observed: dict[str, str]) -> InfrastructureError:
    lines = "\n".join(f"  {name}: {reason}" for name, reason in observed.items())
    return InfrastructureError(
        f"isolation “{isolation}” was asked for, and this machine does not give it:\n{lines}\n"
        "To grade code that you trust, on your own machine, pass --isolation none: its report is "
        "marked as a self-check."
    )


def clean_environment(spec: ProcessSpec) -> dict[str, str]:
    """Return a clean environment: no secrets, one thread a library, no bytecode written."""
    inherited = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    variables = {
        **inherited,
        **processor_settings(),
        **ONE_THREAD,
        "PYTHONDONTWRITEBYTECODE": "1",
        **NO_TF32,
    }
    if spec.gpus:
        variables["CUDA_VISIBLE_DEVICES"] = ",".join(gpu.uuid for gpu in spec.gpus)
    return variables


class OneShotProcess(SandboxedProcess):
    """A student process that was started afresh, not forked.

    Args:
        spec: What it gets.
        warm: Import everything first that torch imports late; for a student process that is to
            wait.
    """

    def __init__(self, spec: ProcessSpec, warm: bool = False) -> None:
        self._scratch = tempfile.mkdtemp(prefix="grader-")
        self._capture = Capture(spec.output)
        self._exit: Exit | None = None
        self._output = b""
        host_end, process_end = socket.socketpair()
        self._status, status_fd = os.pipe()
        # The CUDA driver reserves address space by the terabyte.
        memory = 0 if spec.cuda else spec.memory
        arguments = (process_end.fileno(), status_fd, spec.output, memory, int(warm))
        try:
            # Isolated mode and an empty folder: a “torch.py” beside the submission is never
            # imported in torch's place.
            self._keeper = subprocess.Popen(  # noqa: S603  our own interpreter and module
                [
                    sys.executable,
                    "-I",
                    "-c",
                    running("grader.student_process"),
                    *map(str, arguments),
                ],
                pass_fds=(process_end.fileno(), status_fd),
                stdin=subprocess.DEVNULL,
                stdout=self._capture.fd,
                stderr=self._capture.fd,
                cwd=self._scratch,
                env=clean_environment(spec),
                # A group of its own is killed as one, and Ctrl-C at the terminal reaches the host
                # alone.
                start_new_session=True,
            )
        except OSError as error:
            raise InfrastructureError(f"cannot start a student process: {error}") from error
        finally:
            # The host's own copies: while one is open, the end of a process that dies is never
            # seen.
            process_end.close()
            os.close(status_fd)
        self.connection = Connection(host_end)

    def end(self) -> Exit:
        """See ``SandboxedProcess.end``."""
        if self._exit is None:
            # A reply that nobody read is no sign of dying; only a closed connection is.
            closed = getattr(select, "POLLRDHUP", select.POLLHUP)
            is_dying = ready(self.connection.fileno(), closed, 0.0)
            self._exit = self._own_end(_DYING if is_dying else 0.0)
            # Before the keeper: orphans are found below it only while it lives.
            end_below(self._keeper.pid)
            # It ran until the host killed it: the signal is the host's, only the peak memory is its
            # own.
            if self._exit == Exit():
                self._exit = Exit(peak_memory=self._own_end(_DYING).peak_memory)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._keeper.pid, signal.SIGKILL)
            self._keeper.wait()
            self.connection.close()
            os.close(self._status)
            self._output = self._capture.read()
            self._capture.close()
            shutil.rmtree(self._scratch, ignore_errors=True)
        return self._exit

    def output(self) -> bytes:
        """See ``SandboxedProcess.output``."""
        return self._capture.read() if self._exit is None else self._output

    @property
    def pid(self) -> int | None:
        """See ``SandboxedProcess.pid``. The keeper's only child, once it has been forked."""
        below = descendants(self._keeper.pid)
        return below[0] if below else None

    def _own_end(self, patience: float) -> Exit:
        if not readable(self._status, patience):
            return Exit()
        data = os.read(self._status, _STATUS.size)
        if len(data) != _STATUS.size:
            return Exit()
        status, kilobytes = _STATUS.unpack(data)
        code = os.waitstatus_to_exitcode(status)
        # macOS counts ru_maxrss in bytes, everybody else in KiB.
        peak = kilobytes * (1 if sys.platform == "darwin" else 1024)
        if code < 0:
            return Exit(signal=-code, peak_memory=peak)
        return Exit(code=code, peak_memory=peak)


class OneShotSandbox(OpenedSandbox):
    """Starts every student process afresh."""

    def __init__(self) -> None:
        self.isolation = Isolation(Tier.NONE, ("process", "rlimits", "own session", "reaping"))
        self._processes: list[OneShotProcess] = []

    def start(self, spec: ProcessSpec, warm: bool = False) -> SandboxedProcess:
        """See ``Sandbox.start``.

        Args:
            spec: What it gets; nothing is walled off, so all of it is granted.
            warm: It is to wait: it imports first what torch imports late.
        """
        process = OneShotProcess(spec, warm)
        self._processes = [other for other in self._processes if other._exit is None] + [process]
        return process

    def grants(self, spec: ProcessSpec) -> bool:  # noqa: ARG002
        """See ``Sandbox.grants``."""
        return True

    def close(self) -> None:
        """See ``Sandbox.close``."""
        for process in self._processes:
            process.end()

    def hand_on(self) -> SandboxSource:
        """See ``OpenedSandbox.hand_on``."""
        self.close()
        return OneShotSource()


class OneShotSource(SandboxSource):
    """Opens sandboxes that start every student process afresh."""

    def open(self) -> Sandbox:
        """See ``SandboxSource.open``."""
        return OneShotSandbox()

    def close(self) -> None:
        """See ``SandboxSource.close``; there is nothing."""
