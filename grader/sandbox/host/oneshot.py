"""Tier none: student processes that are started afresh, with limits and nothing else.

Defends against: crashes, endless loops, memory and output floods, processes left behind.
Does not defend against: reading or writing whatever the user may read or write, the network, a
submission that goes looking for its keeper. For a student's own machine; never an official score.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

from grader.errors import InfrastructureError
from grader.interpreter import ONE_THREAD, running
from grader.sandbox.host.guests import (
    NO_TF32,
    Capture,
    Exit,
    Guest,
    GuestLimits,
    GuestNeeds,
    Isolation,
    Sandbox,
    Tier,
    descendants,
    end_below,
    readable,
    ready,
)
from grader.wire.frames import Connection

_STATUS = struct.Struct("<iq")
# A list of what stays, not of what goes: secrets have names that nobody can foresee.
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "LD_LIBRARY_PATH")
_DYING = 0.5
"""Seconds that a student process whose connection broke gets to finish dying by itself."""


def clean_environment(needs: GuestNeeds) -> dict[str, str]:
    """Return a clean environment: no secrets, one thread a library, no bytecode written."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    made = {**kept, **ONE_THREAD, "PYTHONDONTWRITEBYTECODE": "1", **NO_TF32}
    if needs.gpus:
        made["CUDA_VISIBLE_DEVICES"] = ",".join(gpu.uuid for gpu in needs.gpus)
    return made


class OneShotGuest(Guest):
    """A student process that was started afresh, not forked.

    Args:
        limits: What it may use.
        needs: What it is given.
        warm: Import everything first that torch imports late; for a student process that is to
            wait.
    """

    def __init__(self, limits: GuestLimits, needs: GuestNeeds, warm: bool = False) -> None:
        self._scratch = tempfile.mkdtemp(prefix="grader-")
        self._capture = Capture(limits.output)
        self._exit: Exit | None = None
        self._output = b""
        host_end, guest_end = socket.socketpair()
        self._status, status_fd = os.pipe()
        # The CUDA driver reserves address space by the terabyte.
        memory = 0 if needs.cuda else limits.memory
        arguments = (guest_end.fileno(), status_fd, limits.output, memory, int(warm))
        try:
            # Isolated mode and an empty folder: a “torch.py” beside the submission is never
            # imported in torch's place.
            self._keeper = subprocess.Popen(  # noqa: S603  our own interpreter and module
                [sys.executable, "-I", "-c", running("grader.actor"), *map(str, arguments)],
                pass_fds=(guest_end.fileno(), status_fd),
                stdin=subprocess.DEVNULL,
                stdout=self._capture.fd,
                stderr=self._capture.fd,
                cwd=self._scratch,
                env=clean_environment(needs),
                # A group of its own is killed as one, and Ctrl-C at the terminal reaches the host
                # alone.
                start_new_session=True,
            )
        except OSError as error:
            raise InfrastructureError(f"cannot start a student process: {error}") from error
        finally:
            # The host's own copies: while one is open, the end of a process that dies is never
            # seen.
            guest_end.close()
            os.close(status_fd)
        self.connection = Connection(host_end)

    def end(self) -> Exit:
        """See ``Guest.end``."""
        if self._exit is None:
            self._exit = self._own_end(_DYING if self._hung_up() else 0.0)
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
        """See ``Guest.output``."""
        return self._capture.read() if self._exit is None else self._output

    @property
    def pid(self) -> int | None:
        """See ``Guest.pid``. The keeper's only child, once it has been forked."""
        found = descendants(self._keeper.pid)
        return found[0] if found else None

    def _hung_up(self) -> bool:
        # A reply that nobody read is no sign of dying; only a closed connection is.
        closed = getattr(select, "POLLRDHUP", select.POLLHUP)
        return ready(self.connection.fileno(), closed, 0.0)

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


class OneShotSandbox(Sandbox):
    """Starts every student process afresh."""

    def __init__(self) -> None:
        self.isolation = Isolation(Tier.NONE, ("process", "rlimits", "own session", "reaping"))
        self._guests: list[OneShotGuest] = []

    def start(self, limits: GuestLimits, needs: GuestNeeds) -> Guest:
        """See ``Sandbox.start``. Nothing is walled off, so every need is granted."""
        return self._started(limits, needs, warm=False)

    def start_warm(self, limits: GuestLimits, needs: GuestNeeds) -> Guest:
        """Start a student process that is to wait: it imports first what torch imports late."""
        return self._started(limits, needs, warm=True)

    def _started(self, limits: GuestLimits, needs: GuestNeeds, warm: bool) -> OneShotGuest:
        guest = OneShotGuest(limits, needs, warm)
        self._guests = [other for other in self._guests if other._exit is None] + [guest]
        return guest

    def grants(self, needs: GuestNeeds) -> bool:  # noqa: ARG002
        """See ``Sandbox.grants``."""
        return True

    def close(self) -> None:
        """See ``Sandbox.close``."""
        for guest in self._guests:
            guest.end()
