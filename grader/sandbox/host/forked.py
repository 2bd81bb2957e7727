"""The host's end of a fork-server: its process, its socket, each process that it forks."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import IO, Any

from grader.errors import InfrastructureError
from grader.interpreter import ONE_THREAD, beside_packages, processor_settings
from grader.sandbox.host.processes import (
    NO_TF32,
    Capture,
    Exit,
    SandboxedProcess,
    WallRefusedError,
    folder_size,
    memory_above,
    own_memory,
    pid_of,
    readable,
    ready,
)
from grader.sandbox.walls.cuda import HIDDEN
from grader.sandbox.walls.plan import ProcessPlan, WallPlan
from grader.sandbox.walls.view import INODES
from grader.wire.frames import Connection
from grader.wire.messages import to_bytes

_MESSAGE = 1 << 16
_SERVER_SECONDS = 120.0
_START_SECONDS = _END_SECONDS = 60.0
"""A fork-server goes on with its imports after the first fork; on a busy machine that takes ten
times as long."""
_DYING = 0.5
"""Seconds that a student process whose connection broke gets to finish dying by itself."""
_TICK = 0.02
"""Seconds between two looks at what student processes use."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a student process ended: its wait status, and its peak resident memory in bytes."""

    status: int
    peak: int


@dataclass(slots=True)
class Life:
    """What becomes of one student process. A future fails if the fork-server dies first."""

    pidfd: Future[int] = field(default_factory=Future)
    ended: Future[Ended] = field(default_factory=Future)


def environment(libraries: Sequence[str] = (), fonts: str = "") -> dict[str, str]:
    """Return the fork-server's whole environment.

    Of the host's own it has the locale, and which of the processor's instructions to use.

    Args:
        libraries: Folders of the GPU driver's libraries that the loader does not know by itself.
        fonts: Folder for matplotlib's list of fonts; student processes have one of their own.
    """
    search = {"LD_LIBRARY_PATH": os.pathsep.join(libraries)} if libraries else {}
    listed = {"MPLCONFIGDIR": fonts} if fonts else {}
    return {
        **search,
        **listed,
        **HIDDEN,
        "PATH": "/usr/bin:/bin",
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "USER": "student",
        "LOGNAME": "student",
        "GLOO_SOCKET_IFNAME": "lo",
        # Huge pages make page tables small, and copying these is most of what a fork costs.
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
        "PYTHONMALLOC": "malloc",
        **processor_settings(),
        **ONE_THREAD,
        **NO_TF32,
    }


class Link:
    """A running fork-server.

    Args:
        plan: The walls of its student processes.
        tick: Called about every 20 ms while student processes live, in the listening thread.
        origin: Another one, at rest, which it is forked of. Its plan differs in the canary alone.

    Raises:
        InfrastructureError: It cannot be started.
    """

    program = "from grader.student_process.zygote import main; main()"

    def __init__(
        self, plan: WallPlan, tick: Callable[[], None], origin: Link | None = None
    ) -> None:
        self._tick = tick
        self._lives: dict[int, Life] = {}
        self._lock = threading.Lock()
        self._ready: Future[None] = Future()
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1
        # Closed with the link that started the fork-server.
        self._log: IO[bytes] = origin._log if origin else tempfile.TemporaryFile()  # noqa: SIM115
        # Packets, not a stream: each message arrives whole, with the descriptors sent along with
        # it.
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            if origin:
                socket.send_fds(origin._control, [to_bytes(plan)], [theirs.fileno()])
            else:
                self._process = self._launched(plan, theirs.fileno())
                self._control.send(to_bytes(plan))
        except OSError as error:
            self._control.close()
            raise InfrastructureError(f"the fork-server cannot be started: {error}") from error
        finally:
            # A copy left open here would hide the fork-server's death: the socket would never
            # report its end.
            theirs.close()
        self._resting = False
        self._wake = os.eventfd(0)
        # Daemon: Python would else wait at its exit for a thread that waits for the fork-server.
        self._thread = threading.Thread(target=self._listen, name="fork-server", daemon=True)
        self._thread.start()

    def _launched(self, plan: WallPlan, control: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  our own interpreter and module
            # Isolated mode (-I) would ignore the allocator that the environment chooses.
            [sys.executable, "-s", "-c", beside_packages(self.program), str(control)],
            pass_fds=(control,),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            cwd="/",
            env=environment(plan.libraries, plan.fonts),
            start_new_session=True,
        )

    @property
    def alive(self) -> bool:
        """Tell whether it still serves."""
        return self._thread.is_alive()

    def wait_ready(self) -> None:
        """Wait until it serves.

        Raises:
            InfrastructureError: It failed; says what it met.
        """
        try:
            self._ready.result(_SERVER_SECONDS)
        except FutureTimeout:
            raise InfrastructureError("the fork-server did not come up in two minutes") from None

    def start(self, process: ProcessPlan, fds: Sequence[int]) -> Life:
        """Ask for a student process.

        Args:
            process: Its plan.
            fds: Connection, capture, status pipe; copies go over, the caller keeps its own.

        Raises:
            InfrastructureError: The fork-server is gone.
        """
        life = Life()
        with self._lock:
            # Before it is sent: the listening thread may have the answer before this thread goes
            # on.
            self._lives[process.number] = life
            try:
                socket.send_fds(self._control, [to_bytes(process)], list(fds))
            except OSError as error:
                del self._lives[process.number]
                raise InfrastructureError(f"the fork-server is gone: {error}") from error
        return life

    def rest(self) -> None:
        """Start no more processes, and leave no thread; others can be forked of it from now on.

        They can be in forks of this process, too, in several at a time.
        """
        os.eventfd_write(self._wake, 1)
        self._thread.join()

    def close(self) -> None:
        """End the fork-server and, with it, every student process."""
        _hang_up(self._control)
        # One that is still importing torch reads nothing, and has no student process to end.
        patience = 1.0 if self._ready.done() else 0.0
        if self._process is not None:
            _end(self._process, patience)
        elif self._pidfd >= 0:
            if not readable(self._pidfd, patience):
                _kill(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        self._thread.join()
        # The thread reads its last words: only now.
        if self._process is not None:
            self._log.close()
        self._control.close()
        os.close(self._wake)

    def _listen(self) -> None:
        poller = select.poll()
        poller.register(self._control, select.POLLIN)
        poller.register(self._wake, select.POLLIN)
        next_tick = 0.0
        while not self._resting:
            # With none alive it may sleep without end: the answer to the next start wakes it.
            ready_fds = {fd for fd, _ in poller.poll(_TICK * 1000 if self._lives else None)}
            # By the clock: steady traffic must not keep the watch from its rounds.
            if self._lives and time.monotonic() >= next_tick:
                self._tick()
                next_tick = time.monotonic() + _TICK
            if self._wake in ready_fds:
                self._resting = True
            if self._control.fileno() not in ready_fds:
                continue
            try:
                data, fds, _, _ = socket.recv_fds(self._control, _MESSAGE, 1)
            except OSError:
                data, fds = b"", []
            if not data:
                self._fail_all()
                return
            self._take(json.loads(data), fds)

    def _take(self, message: dict[str, Any], fds: list[int]) -> None:
        if "ready" in message:
            (self._pidfd,) = fds or (-1,)
            self._ready.set_result(None)
        elif "failed" in message:
            self._ready.set_exception(WallRefusedError(message["failed"], message["call"]))
        elif "started" in message:
            self._lives[message["started"]].pidfd.set_result(fds[0])
        elif "refused" in message:
            life = self._lives.pop(message["refused"])
            _fail(life, f"the fork-server cannot fork: {message['reason']}")
        else:
            life = self._lives.pop(message["ended"])
            life.ended.set_result(Ended(message["status"], message["peak"]))

    def _fail_all(self) -> None:
        words = self._last_words()
        last = f"its last words: {words[-600:]}" if words else "it said nothing"
        text = f"the fork-server died; {last}"
        if not self._ready.done():
            self._ready.set_exception(InfrastructureError(text))
        with self._lock:
            for life in self._lives.values():
                _fail(life, text)
            self._lives.clear()
            # From here on, nobody answers: a start must fail at once and not wait.
            _hang_up(self._control)

    def _last_words(self) -> str:
        # Closed, where the fork-server that this one was forked of has been ended before.
        with contextlib.suppress(OSError, ValueError):
            size = os.fstat(self._log.fileno()).st_size
            # pread, as both processes share the file's position: a read would move where the other
            # one writes.
            words = os.pread(self._log.fileno(), 2000, max(0, size - 2000))
            return words.decode(errors="replace").strip()
        return ""


def _kill(pidfd: int) -> None:
    # Never by number: the number could be another's by now.
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def _hang_up(control: socket.socket) -> None:
    with contextlib.suppress(OSError):
        control.shutdown(socket.SHUT_RDWR)


def _end(process: subprocess.Popen[bytes], patience: float) -> None:
    """Wait for a fork-server whose line was hung up; end it after so many seconds."""
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        # Its death signal takes the fork-server proper along, and that every student process.
        process.kill()
        process.wait()


def _fail(life: Life, text: str) -> None:
    for future in (life.pidfd, life.ended):
        if not future.done():
            future.set_exception(InfrastructureError(text))


@dataclass(frozen=True, slots=True)
class Failed:
    """Why walls could not be put up, and the system call that was refused, if any."""

    reason: str
    call: str = ""


class ForkedProcess(SandboxedProcess):
    """A student process that is being started, runs, or has ended.

    Args:
        link: The fork-server.
        plan: What holds for this student process.
        released: Called once everything of it is gone.

    Raises:
        InfrastructureError: The fork-server did not start it.
    """

    def __init__(self, link: Link, plan: ProcessPlan, released: Callable[[], None]) -> None:
        self.plan = plan
        self._released = released
        self._lock = threading.RLock()
        self._exit: Exit | None = None
        self._failure: InfrastructureError | None = None
        self._printed = b""
        self._over_memory = self._stopped = False
        self._touched = 0
        self._capture = Capture(plan.output)
        host_end, process_end = socket.socketpair()
        self.connection = Connection(host_end)
        self._status, status_end = os.pipe()
        self._pidfd = -1
        try:
            fds = (process_end.fileno(), self._capture.fd, status_end)
            self._life = link.start(plan, fds)
            self._pidfd = self._life.pidfd.result(_START_SECONDS)
        except (InfrastructureError, FutureTimeout) as error:
            self._tidy()
            raise InfrastructureError(f"cannot start a student process: {error}") from error
        finally:
            # While the host holds a copy of these, it cannot see the student process close its own.
            process_end.close()
            os.close(status_end)
        self._pid = pid_of(self._pidfd)
        # Read before anything of the submission is sent, which could raise it by taking memory
        # first.
        self._baseline = own_memory(self._pid)

    def report(self) -> Mapping[str, str] | Failed:
        """Wait for what the student process met when it tried to break out."""
        data = b""
        deadline = time.monotonic() + _START_SECONDS
        while not data.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left < 0 or not readable(self._status, left):
                return Failed("it did not finish within a minute")
            part = os.read(self._status, 65536)
            if not part:
                return Failed("it died while they were put up")
            data += part
        message = json.loads(data)
        if "failed" in message:
            return Failed(message["failed"], message["call"])
        return dict(message["met"])

    def look(self) -> None:
        """End the process if it uses more memory, or more of an unmounted scratch, than it may."""
        # Whoever is ending it holds the lock and waits for the very thread that looks.
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._exit is not None or self._failure is not None or self._stopped:
                return
            over = self._watch_memory() > self.plan.memory
            if over or (self.plan.scratch_path and self._scratch_is_full()):
                self._over_memory, self._stopped = over, True
                self._kill()
        finally:
            self._lock.release()

    def end(self) -> Exit:
        """See ``SandboxedProcess.end``."""
        with self._lock:
            if self._failure is not None:
                raise self._failure
            if self._exit is None:
                try:
                    self._exit = self._end()
                except InfrastructureError as error:
                    self._failure = error
                    raise
            return self._exit

    def output(self) -> bytes:
        """See ``SandboxedProcess.output``."""
        with self._lock:
            ended = self._exit is not None or self._failure is not None
            return self._printed if ended else self._capture.read()

    @property
    def pid(self) -> int | None:
        """See ``SandboxedProcess.pid``."""
        return self._pid if self._pid > 0 else None

    def orphans_gone(self, seconds: float) -> bool:
        """Return whether no process holds the status pipe any more; see ``leave_orphan``."""
        gone = readable(self._status, seconds) and os.read(self._status, 1) == b""
        os.close(self._status)
        return gone

    def _end(self) -> Exit:
        # A reply that nobody read is no sign of dying; only a closed connection is.
        if ready(self.connection.fileno(), select.POLLRDHUP, 0.0):
            readable(self._pidfd, _DYING)
        killed = not readable(self._pidfd, 0.0)
        if killed:
            self._watch_memory()
            self._kill()
        try:
            ended = self._life.ended.result(_END_SECONDS)
        except FutureTimeout:
            text = f"process {self._pid} of a submission did not end within {_END_SECONDS:g} s"
            raise InfrastructureError(text) from None
        finally:
            self._printed = self._capture.read()
            self._tidy()
        code = os.waitstatus_to_exitcode(ended.status)
        # The signal is the host's own: the process was still running, and says nothing by it.
        running = killed and not self._stopped and code == -signal.SIGKILL
        return Exit(
            code=code if code >= 0 else None,
            signal=-code if code < 0 and not running else None,
            peak_memory=ended.peak,
            memory_exceeded=self._over_memory,
            touched=self._touched,
        )

    def _kill(self) -> None:
        _kill(self._pidfd)

    def _tidy(self) -> None:
        self.connection.close()
        self._capture.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
        # The probe still reads this pipe: its end shows that the orphan is gone.
        if not self.plan.leave_orphan:
            os.close(self._status)
        if self.plan.scratch_path:
            shutil.rmtree(self.plan.scratch_path, ignore_errors=True)
        self._released()

    def _watch_memory(self) -> int:
        """Return how much of what is touched now counts against the limit."""
        touched = memory_above(self._pid, self._baseline)
        self._touched = max(self._touched, sum(touched))
        return self.plan.counted(touched)

    def _scratch_is_full(self) -> bool:
        # A file ends at the plan's size, which is an error that a program may catch. The submission
        # lies beside it: without some room more, to be looked at just then would be its end.
        room = self.plan.scratch * 9 // 8
        written, taken, entries = folder_size(self.plan.scratch_path)
        # What is taken may be reserved by hand, too. XFS reserves as much again as a file has.
        # Entries: empty files take no block, and would use up the disk's inodes.
        return written > room or taken > 2 * room or entries > INODES
