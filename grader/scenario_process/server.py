"""The stage: it holds the scenario and no submission, and plays one case after the other.

It runs in the same sandbox as a student process. What it gets from the actor are
values, and files that ``read`` gives to a process of its own.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import sys
import threading
import time
import types
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grader.scenario_process.api import NOW, REPLAYED, OverError, RemoteError, UnreadError, replayed
from grader.scenario_process.play import Body, Line, Play
from grader.student_process.module import describe, place, write
from grader.student_process.scenario_requests import RequestHandler
from grader.wire.frames import Closed, Connection
from grader.wire.messages import (
    Call,
    CallbackRequest,
    Load,
    Loaded,
    Reply,
    Request,
    Response,
    from_frame,
    nearest_builtin,
    to_frame,
)
from grader.wire.shared import Calls, Folder
from grader.wire.values import Opaque, ProtocolError

FILE = "scenario.py"
REMOTE, UNREAD = "remote", "unread"
"""Probes of a reply that say where an exception came from, if not from the scenario's own lines."""


class Stage:
    """A scenario's file, executed anew for each case."""

    def __init__(self, source: str, scratch: Path, line: Line, apart: bool = True) -> None:
        self._path = scratch / FILE
        self._path.write_text(source, encoding="utf-8")
        self._code = compile(source, str(self._path), "exec", dont_inherit=True)
        self._scratch = scratch
        self._line = line
        self._apart = apart
        self._played = 0

    def function(self, name: str) -> Callable[..., Any]:
        """Execute the file and return one of its functions."""
        module = types.ModuleType(self._path.stem)
        module.__file__ = str(self._path)
        # Dataclasses and torch.save look a class's module up by name.
        sys.modules[module.__name__] = module
        # Anew for each case: what one case leaves in a global must not reach the next, whose inputs
        # may be hidden.
        exec(self._code, vars(module))  # noqa: S102  the instructor's own file
        callable_of_file: Callable[..., Any] = getattr(module, name)
        return callable_of_file

    def play(self, call: Call) -> Reply:
        """Play one case."""
        self._played += 1
        play = Play(self._line, self._scratch, "layout" in call.probes, self._apart)
        play.case = str(self._played)
        NOW[:] = [play]
        seed(call.seed)
        try:
            args = play.given_args(call.args)
            kwargs = dict(zip(call.kwargs, play.given_args([*call.kwargs.values()]), strict=True))
            value = play.returned(self.function(call.entry)(*args, **kwargs))
            play.finish()
            after = play.after(args) if "args_after" in call.probes else None
        except (RemoteError, OverError) as error:
            return Reply(fault=error.fault, probes={REMOTE: True})
        except UnreadError as error:
            return Reply(fault=error.fault, probes={UNREAD: True})
        except Exception as error:  # noqa: BLE001  reported as what it is
            return Reply(fault=describe(error, self._scratch))
        finally:
            NOW.clear()
            play.close()
        return Reply(value, args_after=after)

    def read(self, ask: Request) -> Response:
        """Call one function, in a process that is for nothing else."""
        try:
            Folder(self._scratch).take(ask.files, ask.folders)
            play = Play(self._line, self._scratch, layout=False, apart=True)
            function = replayed if ask.name == REPLAYED else self.function(ask.name)
            result = function(*play.given_args(ask.args))
            return Response(play.returned(result))
        except Exception as error:  # noqa: BLE001  reported as what it is
            return Response(fault=describe(error, self._scratch), kind=nearest_builtin(error))


class RemoteLine:
    """Leads to the actor by way of the host.

    Args:
        connection: To the host.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def ask(self, ask: Request, body: Body) -> Response:
        """See ``Line.ask``."""
        self._connection.send(to_frame(ask))
        while True:
            message = from_frame(self._connection.receive(), Response, CallbackRequest)
            if isinstance(message, Response):
                return message
            self._connection.send(to_frame(body(message)))


def serve(connection: Connection, load: Load) -> None:
    """Play cases until the host closes the connection."""
    scratch = Path.cwd()
    place(load, scratch)
    stage, loaded = open_stage(load, scratch, RemoteLine(connection))
    connection.send(to_frame(loaded))
    while stage is not None:
        try:
            message = from_frame(connection.receive(), Call, Request)
        except Closed:
            return
        if isinstance(message, Request):
            _read(connection, stage, message)
            _clear(load, scratch)
            continue
        reply = replace(stage.play(message), token=message.token)
        try:
            connection.send(to_frame(reply))
        except ProtocolError as error:
            connection.send(
                to_frame(Reply(Opaque("the scenario's value", str(error)), token=message.token))
            )


def _read(connection: Connection, stage: Stage, ask: Request) -> None:
    """Call one function in a process that ends with it, where the stage has its own PID namespace.

    Where it has none, no process may be started: the host gives each file a process of its own.
    """
    child = os.fork() if os.getpid() == 1 else 0
    if child == 0:
        connection.send(to_frame(stage.read(ask)))
        # The child of a fork must not return into the loop: it would answer the next request too.
        if os.getpid() != 1:
            os._exit(0)
        return
    _, status = os.waitpid(child, 0)
    # Whatever a file started that took its reader over: it holds the connection, too.
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    if status:
        # A reader that died may have been taken over. The host sees the end of the line and says
        # that the file cannot be read.
        os._exit(70)


def _clear(load: Load, scratch: Path) -> None:
    """Leave nothing to the next file's reader of what this one's had or did."""
    own, folders = scratch.stat().st_dev, []
    for folder, below, names in os.walk(scratch):
        # What is mounted in there, such as the grader itself, is read-only and not the scratch's.
        here = [Path(folder, name) for name in below]
        # In place: os.walk goes into what is left in this very list.
        below[:] = [path.name for path in here if path.lstat().st_dev == own]
        # os.walk counts a link to a folder among the folders, where rmdir would refuse it.
        links = [path for path in here if path.is_symlink()]
        for path in (*links, *(Path(folder, name) for name in names)):
            if path.lstat().st_dev == own:
                path.unlink()
        folders += [Path(folder, name) for name in below if Path(folder, name) not in links]
    # The inner folders first: rmdir takes only an empty one.
    for path in reversed(folders):
        with contextlib.suppress(OSError):
            path.rmdir()  # unless something is mounted below it
    write(load, scratch)


def open_stage(
    load: Load, scratch: Path, line: Line, apart: bool = True
) -> tuple[Stage | None, Loaded]:
    """Return a stage, and what is to be said of its file: whether it is Python."""
    try:
        stage = Stage(load.stage, scratch, line, apart)
    except SyntaxError as error:
        return None, Loaded((), describe(error, scratch))
    return stage, Loaded(())


def seed(number: int) -> None:
    """Seed all generators that a scenario draws from."""
    torch.default_generator.manual_seed(number)
    random.seed(number)
    np.random.seed(number)


class LocalLine:
    """Leads to an actor in the same process.

    Each of the two has random numbers of its own, as if they were apart.

    Args:
        actor: Does what is requested.
    """

    def __init__(self, actor: RequestHandler) -> None:
        self._actor = actor
        self._theirs = _state()

    def ask(self, ask: Request, body: Body) -> Response:
        """See ``Line.ask``."""

        def called(back: CallbackRequest) -> Response:
            self._swap()
            try:
                return body(replace(back, caller=os.getpid()))
            finally:
                self._swap()

        self._actor.line = called
        # Before anything else: the first request of a case seeds the actor's random numbers.
        self._swap()
        try:
            with _Others(self._actor, ask, body) if ask.waits_for else nullcontext():
                return self._actor.do(ask)
        finally:
            self._swap()

    def _swap(self) -> None:
        # Taken before the other side's is set: afterwards it would be gone.
        ours, self._theirs = _state(), self._theirs
        torch.set_rng_state(self._theirs[0])
        random.setstate(self._theirs[1])
        np.random.set_state(self._theirs[2])
        self._theirs = ours


class _Others:
    """Answers the processes that a submission starts, while it works on a request."""

    def __init__(self, actor: RequestHandler, ask: Request, body: Body) -> None:
        actor.begin(ask.case)
        self._calls = Calls(actor.listen() if hasattr(socket, "AF_UNIX") else None)
        self._calls.gather(ask.waits_for)
        self._body = body
        self._stop, self._tell = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        os.write(self._tell, b"x")
        self._thread.join()
        self._calls.close()
        os.close(self._stop)
        os.close(self._tell)

    def _serve(self) -> None:
        while self._calls.wait(self._stop, time.monotonic() + 3600):
            released = self._calls.released()
            if not released:
                return
            for call in released:
                call.answer(self._body(call.back))


def _state() -> Any:
    return torch.get_rng_state(), random.getstate(), np.random.get_state()
