"""The host's end of a fork-server: its process, its socket, and a thread that listens to it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import Any

from grader.errors import InfrastructureError
from grader.interpreter import beside_packages
from grader.one_thread import ONE_THREAD
from grader.sandbox.base import NO_TF32, WallRefusedError
from grader.sandbox.walls.cuda import HIDDEN
from grader.sandbox.walls.plan import GuestPlan, WallPlan, to_plain

_MESSAGE = 1 << 16
_START_SECONDS = 120.0
_TICK = 0.02
"""Seconds between two looks at what guests use."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a guest ended: its wait status, and its peak resident memory in bytes."""

    status: int
    peak: int


@dataclass(slots=True)
class Life:
    """What becomes of one guest. A future fails if the fork-server dies first."""

    pidfd: Future[int] = field(default_factory=Future)
    ended: Future[Ended] = field(default_factory=Future)


def environment(libraries: Sequence[str] = (), fonts: str = "") -> dict[str, str]:
    """Return the fork-server's whole environment: nothing of the host's own but the locale.

    Args:
        libraries: Folders of the GPU driver's libraries that the loader does not know by itself.
        fonts: Folder for matplotlib's list of fonts; guests have one of their own.
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
        **ONE_THREAD,
        **NO_TF32,
    }


class Link:
    """A running fork-server.

    Args:
        plan: The walls of its guests.
        tick: Called about every 20 ms while guests live, in the listening thread.

    Raises:
        InfrastructureError: It cannot be started.
    """

    program = "from grader.actor.zygote import main; main()"

    def __init__(self, plan: WallPlan, tick: Callable[[], None]) -> None:
        self._tick = tick
        self._lives: dict[int, Life] = {}
        self._lock = threading.Lock()
        self._ready: Future[None] = Future()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  closed with the link
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = subprocess.Popen(  # noqa: S603  our own interpreter and module
                # Isolated mode (-I) would ignore the allocator that the environment chooses.
                [sys.executable, "-s", "-c", beside_packages(self.program), str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                cwd="/",
                env=environment(plan.libraries, plan.fonts),
                start_new_session=True,
            )
        except OSError as error:
            raise InfrastructureError(f"the fork-server cannot be started: {error}") from error
        finally:
            theirs.close()
        self._control.send(json.dumps({"plan": to_plain(plan)}).encode())
        self._thread = threading.Thread(target=self._listen, name="fork-server", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it still serves."""
        return self._thread.is_alive()

    def wait_ready(self) -> None:
        """Wait until it serves.

        Raises:
            InfrastructureError: It failed; says what it met.
        """
        try:
            self._ready.result(_START_SECONDS)
        except FutureTimeout:
            raise InfrastructureError("the fork-server did not come up in two minutes") from None

    def start(self, guest: GuestPlan, fds: Sequence[int]) -> Life:
        """Ask for a guest.

        Args:
            guest: Its plan.
            fds: Connection, capture, status pipe; copies go over, the caller keeps its own.

        Raises:
            InfrastructureError: The fork-server is gone.
        """
        life = Life()
        with self._lock:
            self._lives[guest.number] = life
            try:
                message = json.dumps({"start": to_plain(guest)}).encode()
                socket.send_fds(self._control, [message], list(fds))
            except OSError as error:
                del self._lives[guest.number]
                raise InfrastructureError(f"the fork-server is gone: {error}") from error
        return life

    def close(self) -> None:
        """End the fork-server and, with it, every guest."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        try:
            # One that is still importing torch reads nothing, and has no guest to end.
            self._process.wait(1.0 if self._ready.done() else 0.0)
        except subprocess.TimeoutExpired:
            # Its death signal takes the fork-server proper along, and that every guest.
            self._process.kill()
            self._process.wait()
        self._thread.join()
        self._control.close()
        self._log.close()

    def _listen(self) -> None:
        poller = select.poll()
        poller.register(self._control, select.POLLIN)
        next_tick = 0.0
        while True:
            found = poller.poll(_TICK * 1000 if self._lives else None)
            # By the clock: steady traffic must not keep the watch from its rounds.
            if self._lives and time.monotonic() >= next_tick:
                self._tick()
                next_tick = time.monotonic() + _TICK
            if not found:
                continue
            try:
                data, fds, _, _ = socket.recv_fds(self._control, _MESSAGE, 1)
            except OSError:
                data, fds = b"", []
            if not data:
                return self._mourn()
            self._take(json.loads(data), fds)

    def _take(self, message: dict[str, Any], fds: list[int]) -> None:
        if "ready" in message:
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

    def _mourn(self) -> None:
        text = f"the fork-server died; {self._last_words()}"
        if not self._ready.done():
            self._ready.set_exception(InfrastructureError(text))
        with self._lock:
            for life in self._lives.values():
                _fail(life, text)
            self._lives.clear()
            # From here on, nobody answers: a start must fail at once and not wait.
            with contextlib.suppress(OSError):
                self._control.shutdown(socket.SHUT_RDWR)

    def _last_words(self) -> str:
        size = os.fstat(self._log.fileno()).st_size
        text = os.pread(self._log.fileno(), 2000, max(0, size - 2000)).decode(errors="replace")
        return f"its last words: {text.strip()[-600:]}" if text.strip() else "it said nothing"


def _fail(life: Life, text: str) -> None:
    for future in (life.pidfd, life.ended):
        if not future.done():
            future.set_exception(InfrastructureError(text))
