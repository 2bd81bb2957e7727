"""One guest of a fork-server, as the host sees it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass

from grader.errors import InfrastructureError
from grader.sandbox import watch
from grader.sandbox.base import Exit, Guest
from grader.sandbox.capture import Capture
from grader.sandbox.link import Link
from grader.sandbox.waiting import readable, ready
from grader.sandbox.walls.mounts import INODES
from grader.sandbox.walls.plan import GuestPlan
from grader.wire.frames import Connection

_START_SECONDS = 60.0
_END_SECONDS = 60.0
"""A fork-server may be busy for a while with its imports after the first guest; on a machine with
much else to do that takes ten times as long."""

_DYING = 0.5
"""Seconds that a guest whose connection broke gets to finish dying by itself."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a guest's walls could not be put up, and the system call that was refused, if any."""

    reason: str
    call: str = ""


class ForkedGuest(Guest):
    """A guest that is being started, runs, or has ended.

    Args:
        link: The fork-server.
        plan: What holds for this guest.
        released: Called once everything of it is gone.

    Raises:
        InfrastructureError: The fork-server did not start it.
    """

    def __init__(self, link: Link, plan: GuestPlan, released: Callable[[], None]) -> None:
        self.plan = plan
        self._released = released
        self._lock = threading.RLock()
        self._exit: Exit | None = None
        self._failure: InfrastructureError | None = None
        self._printed = b""
        self._over_memory = self._stopped = False
        self._capture = Capture(plan.output)
        host_end, guest_end = socket.socketpair()
        self.connection = Connection(host_end)
        self._status, status_end = os.pipe()
        self._pidfd = -1
        try:
            fds = (guest_end.fileno(), self._capture.fd, status_end)
            self._life = link.start(plan, fds)
            self._pidfd = self._life.pidfd.result(_START_SECONDS)
        except (InfrastructureError, FutureTimeout) as error:
            self._tidy()
            raise InfrastructureError(f"cannot start a guest: {error}") from error
        finally:
            guest_end.close()
            os.close(status_end)
        self._pid = watch.pid_of(self._pidfd)
        self._baseline = watch.own_memory(self._pid)

    def report(self) -> Mapping[str, str] | Failed:
        """Wait for what the guest met when it tried to break out."""
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
        """End the guest if it uses more memory, or more of an unmounted scratch, than it may."""
        # Whoever is ending it holds the lock and waits for the very thread that looks.
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._exit is None and self._failure is None and not self._stopped:
                self._stop_if_over()
        finally:
            self._lock.release()

    def end(self) -> Exit:
        """See ``Guest.end``."""
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
        """See ``Guest.output``."""
        with self._lock:
            ended = self._exit is not None or self._failure is not None
            return self._printed if ended else self._capture.read()

    @property
    def pid(self) -> int | None:
        """See ``Guest.pid``."""
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
            self._kill()
        try:
            ended = self._life.ended.result(_END_SECONDS)
        except FutureTimeout:
            text = f"process {self._pid} of a hand-in could not be ended within {_END_SECONDS:g} s"
            raise InfrastructureError(text) from None
        finally:
            self._printed = self._capture.read()
            self._tidy()
        code = os.waitstatus_to_exitcode(ended.status)
        over = self._over_memory
        if killed and not self._stopped and code == -signal.SIGKILL:
            return Exit(peak_memory=ended.peak, memory_exceeded=over)
        if code < 0:
            return Exit(signal=-code, peak_memory=ended.peak, memory_exceeded=over)
        return Exit(code=code, peak_memory=ended.peak, memory_exceeded=over)

    def _kill(self) -> None:
        # Never by number: the number could be another's by now.
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def _tidy(self) -> None:
        self.connection.close()
        self._capture.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
        if not self.plan.leave_orphan:
            os.close(self._status)
        if self.plan.scratch_path:
            shutil.rmtree(self.plan.scratch_path, ignore_errors=True)
        self._released()

    def _stop_if_over(self) -> None:
        over = watch.memory_above(self._pid, self._baseline) > self.plan.memory
        if over or (self.plan.scratch_path and self._scratch_is_full()):
            self._over_memory, self._stopped = over, True
            self._kill()

    def _scratch_is_full(self) -> bool:
        size, entries = watch.folder_size(self.plan.scratch_path)
        return size > self.plan.scratch or entries > INODES
