"""What stage and actor share beside messages: folders, and a socket for further processes.

Of a shared folder each side has a copy, and changes travel with messages. Processes that a
submission started call by connections of their own, to a socket in the submission's scratch. Who
accepts learns from the kernel which process called.

Defends against: paths that lead out of a folder, links and pipes left in one (only plain files are
sent), folders without end. No process opens a file that another one can still write. A process that
claims to be another, more connections than allowed, a call that is none.
Does not defend against: a process that stalls in the middle of a frame. That takes the
submission's own time.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import socket
import stat
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from grader.wire.frames import Closed, Connection, Deadline, DeadlineExceeded, seconds_left
from grader.wire.messages import CallbackRequest, Response, from_frame, to_frame
from grader.wire.values import Buffer, ProtocolError

NAME = re.compile(r"shared-[0-9]{1,4}")
"""Of a shared folder, relative to the scratch."""

MAX_FILES = 1_000
MAX_BYTES = 64 * 2**20


def check_paths(files: Iterable[str]) -> None:
    """Check that every path lies in a shared folder.

    Raises:
        ProtocolError: One does not.
    """
    for path in files:
        first, *rest = PurePosixPath(path).parts
        # Before any path is joined: “..” would lead out of the folder that both sides share.
        if not NAME.fullmatch(first) or not rest or ".." in rest or "\0" in path:
            raise ProtocolError(f"{path[:80]!r} is not in a shared folder")


class Folder:
    """One side's copies.

    Args:
        scratch: Holds the shared folders.
    """

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._known: dict[str, bytes] = {}
        self._made: set[str] = set()

    def take(self, files: Mapping[str, Buffer | None], folders: Iterable[str] = ()) -> None:
        """Do what the other side did: write files, remove files, make folders.

        Raises:
            ProtocolError: A path leads elsewhere, or there is too much.
        """
        check_paths(files)
        check_paths(f"{name}/x" for name in folders)
        for name in folders:
            (self._scratch / name).mkdir(exist_ok=True)
            self._made.add(name)
        # First what is gone: a folder may be in a file's place by now.
        for path, data in sorted(files.items(), key=lambda item: item[1] is not None):
            target = self._scratch / path
            # A new file each time: what stands there may be a link.
            _clear(target)
            self._known.pop(path, None)
            if data is not None:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                self._known[path] = bytes(data)
        self._bound(self._known)

    def changed(self, folders: Iterable[str]) -> dict[str, Buffer | None]:
        """Return path → content of files that are new or changed since the last time.

        None stands for a file that is gone.

        Raises:
            ProtocolError: There is too much.
        """
        shared = set(folders)
        now: dict[str, bytes] = {}
        for name in sorted(shared):
            for path in sorted(_files(self._scratch / name)):
                # Bounded after each file, not at the end: a folder of large files would be in
                # memory by then.
                now[path.relative_to(self._scratch).as_posix()] = path.read_bytes()
                self._bound(now)
        # Of the folders that this request shares only: those not read here would count as deleted.
        before = {key: data for key, data in self._known.items() if key.split("/")[0] in shared}
        changes: dict[str, Buffer | None] = dict.fromkeys(before.keys() - now.keys())
        changes |= {key: data for key, data in now.items() if before.get(key) != data}
        others = {key: data for key, data in self._known.items() if key not in before}
        self._bound(others | now)
        self._known = others | now
        return changes

    def remove(self) -> None:
        """Remove the folders that were made here: the next case's have the same names."""
        for name in self._made:
            shutil.rmtree(self._scratch / name, ignore_errors=True)

    @staticmethod
    def _bound(files: Mapping[str, Buffer]) -> None:
        total = sum(map(len, files.values()))
        if len(files) > MAX_FILES or total > MAX_BYTES:
            most = f"the most is {MAX_FILES} and {MAX_BYTES}"
            raise ProtocolError(f"{len(files)} shared files of {total} bytes; {most}")


def _clear(target: Path) -> None:
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)


def _files(folder: Path) -> Iterable[Path]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            status = path.lstat()
            # Read only what can end: what is larger than allowed is refused by its size.
            if stat.S_ISREG(status.st_mode):
                if status.st_size > MAX_BYTES:
                    raise ProtocolError(f"{name[:80]!r} is larger than {MAX_BYTES} bytes")
                yield path


PATIENCE = 3.0
"""Seconds that a call waits for calls of other processes."""

MAX_CONNECTIONS = 256
_CREDENTIALS = struct.Struct("3i")


Receive = Callable[[Connection, Any], CallbackRequest]


@dataclass(slots=True)
class WaitingCall:
    """A call that nobody has answered yet."""

    back: CallbackRequest
    connection: Connection
    since: float

    def answer(self, did: Response, end: Deadline = None) -> None:
        """Answer it; a process that is gone needs none."""
        with contextlib.suppress(Closed):
            self.connection.send(to_frame(did), end)


class Calls:
    """Takes calls.

    Attributes:
        waits_for: Callback → different processes that must call before the first is answered.

    Args:
        listener: Listens; owned by this object. None where no other process may call.
        receive: Receives a call over a connection, until a deadline.
    """

    def __init__(
        self, listener: socket.socket | None = None, receive: Receive | None = None
    ) -> None:
        self.waits_for: dict[int, int] = {}
        self._listener = listener
        self._receive = receive or _receive
        if listener is not None:
            # A caller that hangs up between the poll and the accept would else block whoever
            # listens.
            listener.setblocking(False)
        self._callers: dict[int, tuple[Connection, int]] = {}
        self._waiting: list[WaitingCall] = []
        self._free: set[int] = set()

    def gather(self, more: Mapping[int, int]) -> None:
        """Note for which callbacks how many processes are to be waited for."""
        self.waits_for.update(more)

    def wait(self, main: int, end: float | Callable[[], float]) -> bool:
        """Wait until a call may be answered, or something can be read from ``main``.

        Returns:
            False if neither happened in time.

        Raises:
            ProtocolError: What came is no call.
        """
        while not self._due():
            try:
                left = seconds_left(end)
            except DeadlineExceeded:
                return False
            now = time.monotonic()
            until = min([now + left, *(call.since + PATIENCE for call in self._waiting)])
            poller = select.poll()
            for fd in (main, *self._descriptors()):
                poller.register(fd, select.POLLIN)
            ready = [fd for fd, _ in poller.poll(max(0.0, until - now) * 1000 + 1)]
            for fd in ready:
                if fd != main:
                    self._take(fd, end)
            if main in ready:
                return True
        return True

    def released(self) -> list[WaitingCall]:
        """Return the calls that may be answered now."""
        due = self._due()
        self._waiting = [call for call in self._waiting if call not in due]
        return due

    def release(self, callback: int) -> None:
        """Wait for no other process any more: the submission's first process calls by itself."""
        self._free.add(callback)

    def close(self) -> None:
        """Hang up."""
        for connection, _ in self._callers.values():
            connection.close()
        self._callers.clear()
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def _descriptors(self) -> list[int]:
        listening = [] if self._listener is None else [self._listener.fileno()]
        return [*listening, *self._callers]

    def _take(self, fd: int, end: Deadline) -> None:
        if fd not in self._callers:
            return self._accept()
        connection, caller = self._callers[fd]
        try:
            back = self._receive(connection, end)
        except Closed:
            connection.close()
            del self._callers[fd]
            return None
        # The kernel's word before the process's own: a submission may count its processes by who
        # called.
        called = replace(back, caller=caller or back.caller)
        self._waiting.append(WaitingCall(called, connection, time.monotonic()))
        return None

    def _accept(self) -> None:
        assert self._listener is not None
        with contextlib.suppress(OSError):
            caller, _ = self._listener.accept()
            # Each connection takes a descriptor of the host; without a bound one submission could
            # use up all of them.
            if len(self._callers) >= MAX_CONNECTIONS:
                caller.close()
                raise ProtocolError(f"more than {MAX_CONNECTIONS} processes called")
            self._callers[caller.fileno()] = Connection(caller), _process_of(caller)

    def _due(self) -> list[WaitingCall]:
        now = time.monotonic()
        for number, wanted in self.waits_for.items():
            calls = [call for call in self._waiting if call.back.callback == number]
            # Then all are answered: a submission that calls from one process alone is wrong, and
            # must not hang.
            late = any(now - call.since >= PATIENCE for call in calls)
            if late or len({call.back.caller for call in calls}) >= wanted:
                self._free.add(number)
        held = self.waits_for.keys() - self._free
        return [call for call in self._waiting if call.back.callback not in held]


def _receive(connection: Connection, end: Deadline) -> CallbackRequest:
    back: CallbackRequest = from_frame(connection.receive(end), CallbackRequest)
    return back


def _process_of(caller: socket.socket) -> int:
    """Return the process that connected, as the kernel knows it; 0 where it does not tell."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return 0
    data = caller.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(data)[0])


def listen(path: str) -> socket.socket:
    """Return a socket that listens at a path.

    Raises:
        OSError: It cannot be made here.
    """
    # A socket file that is left of an earlier listener would make bind fail.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108  a path for bind, as a text
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(MAX_CONNECTIONS)
    return listener


def adopt(descriptor: int) -> socket.socket:
    """Return the listening socket behind a descriptor that an actor sent.

    Raises:
        ProtocolError: It is none.
    """
    try:
        listener = socket.socket(fileno=descriptor)
        listens = listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    except OSError:
        os.close(descriptor)
        raise ProtocolError("a descriptor that is no socket") from None
    if listener.family != socket.AF_UNIX or listener.type != socket.SOCK_STREAM or not listens:
        listener.close()
        raise ProtocolError("a socket that does not listen")
    return listener
