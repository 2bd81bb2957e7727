"""What the actor does for a scenario that runs elsewhere: one request at a time.

Everything here shares the process with the submission, which may change it. So nothing that it says
decides alone: the host checks the form of each answer, and the scenario judges values.
"""

from __future__ import annotations

import itertools
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from grader.student_process.module import describe, import_module
from grader.student_process.tensors import Storages, to_torch, to_wire
from grader.wire.frames import Connection
from grader.wire.messages import (
    MODULE,
    CallbackRequest,
    Request,
    Response,
    built_in,
    from_frame,
    nearest_builtin,
    to_frame,
)
from grader.wire.shared import Folder, listen
from grader.wire.values import ProtocolError, Value

Line = Callable[[CallbackRequest], Response]
"""Has a callback's body run, and returns what came of it."""

_MOST_BESIDE = 2**22
"""Bytes of files that come with an exception. More is refused as an answer that is too large, and
that would be reported in place of the exception: that the scratch is full, most likely."""

_NOW: list[RequestHandler] = []
"""The one of this process, where callbacks that were pickled find it again."""


class ScenarioFunction:
    """A function of the stage's, as the submission is handed it.

    Args:
        number: The stage's.
        path: Where other processes of the submission connect; empty where none may.
    """

    def __init__(self, number: int, path: str) -> None:
        self._number, self._path = number, path

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Have the body run in the stage; return what it returns."""
        sent = tuple(to_wire(item) for item in args)
        named = {str(name): to_wire(item) for name, item in kwargs.items()}
        back = CallbackRequest(self._number, sent, named, caller=os.getpid())
        # A fork copies the list: a child must not speak on its parent's connection.
        here = _NOW and _NOW[0].pid == os.getpid()
        did = _NOW[0].back(back) if here else _from_elsewhere(self._path, back)
        if did.fault is not None:
            raise built_in(did.kind, did.fault.message)
        return to_torch(did.value, {})

    def __reduce__(self) -> Any:
        return ScenarioFunction, (self._number, self._path)


def unpickled(number: int) -> Any:
    """Call a function of the stage's; what a file holds that runs code in whoever unpickles it."""
    return ScenarioFunction(number, "")()


_OWN: dict[int, tuple[Connection, threading.Lock]] = {}
"""Process → its connection. What a fork copies is another's."""


def _from_elsewhere(path: str, back: CallbackRequest) -> Response:
    """Call from a process that the submission started."""
    if not path:
        raise RuntimeError("this function can be called only by the process that was given it")
    if os.getpid() not in _OWN:
        caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        caller.connect(path)
        _OWN[os.getpid()] = Connection(caller), threading.Lock()
    connection, lock = _OWN[os.getpid()]
    # One call at a time: the frames of two threads on one connection would mix.
    with lock:
        connection.send(to_frame(back))
        did: Response = from_frame(connection.receive(), Response)
    return did


class _KeptObjects(dict[int, Any]):
    """Number → object; below zero are callbacks."""

    path = ""

    def __missing__(self, number: int) -> Any:
        if number < 0:
            return ScenarioFunction(-number, self.path)
        raise KeyError(f"no object {number} is kept here")


class RequestHandler:
    """Does what a scenario asks for.

    Args:
        module: The submission's.
        given: Source of the instructor's functions, or empty.
        scratch: The student process's writable folder.
        line: Leads to the stage.
        begin: Called as each case begins.
    """

    def __init__(
        self, module: ModuleType, given: str, scratch: Path, line: Line, begin: Callable[[], None]
    ) -> None:
        self._module = module
        self._source = given
        self._given: ModuleType | None = None
        self._scratch = scratch
        self.line = line
        self._begin = begin
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self._token = ""
        self._case = ""
        self._folder = Folder(scratch)
        self._forget()
        _NOW[:] = [self]

    def do(self, ask: Request) -> Response:
        """Do one thing, what was asked for before it first, and report what came of it."""
        done = 0
        try:
            self.begin(ask.case)
            self._folder.take(ask.files, ask.folders)
            value: Value = None
            for step in ask.each():
                value = self._done(step, ask)
                done += 1
            did = Response(value)
        except BaseException as error:  # noqa: BLE001  KeyboardInterrupt is the submission's too
            did = replace(failed(error, self._scratch), early=done < len(ask.batched))
        return self._with_files(did, ask)

    def _done(self, step: Request, ask: Request) -> Value:
        """Do one step of a request; return the value."""
        # At each step: the submission may have gone elsewhere in the one before.
        os.chdir(self._scratch)
        self._kept.update((n, to_torch(value, self._kept)) for n, value in step.stores.items())
        # Only while a step runs does a callback carry the host's token. A thread that was left
        # behind has none to send, and cannot answer in another step's place.
        self._token = ask.token or "here"
        try:
            return self._answer(step, self._act(step), ask.layout)
        finally:
            # After this no callback is let through: the answer must be the last that is sent.
            with self._lock:
                self._token = ""

    def _with_files(self, did: Response, ask: Request) -> Response:
        """Add what changed in the folders: a request that raised may have written, too."""
        try:
            back = [name for name, back in ask.folders.items() if back]
            files = self._folder.changed(back)
        except (OSError, ProtocolError) as error:
            return failed(error, self._scratch)
        if (
            did.fault is not None
            and sum(len(data or b"") for data in files.values()) > _MOST_BESIDE
        ):
            return did
        return replace(did, files=files)

    def begin(self, case: str) -> None:
        """Begin a case, if it is another one."""
        if case != self._case:
            self._forget()
            self._begin()
            self._case = case

    def end(self) -> None:
        """End the case, if there is one: what follows is a plain call."""
        if self._case:
            self._forget()
            self._case = ""

    def back(self, back: CallbackRequest) -> Response:
        """Have a callback's body run; the other threads wait."""
        with self._lock:
            if not self._token:
                raise RuntimeError("this function can be called only during the call it was for")
            return self.line(replace(back, token=self._token))

    def listen(self) -> socket.socket:
        """Return a socket to which other processes of the submission connect."""
        path = str(self._scratch / ".calls")
        listener = listen(path)
        self._kept.path = path
        return listener

    def _act(self, ask: Request) -> Any:
        args = tuple(to_torch(item, self._kept) for item in ask.args)
        kwargs = {name: to_torch(item, self._kept) for name, item in ask.kwargs.items()}
        if ask.action == "given":
            return getattr(self._instructors(), ask.name)(*args, **kwargs)
        target = self._kept[ask.target]
        if ask.action in ("call", "method"):
            return getattr(target, ask.name)(*args, **kwargs)
        if ask.action == "set_attr":
            return self._set(target, ask.name, *args)
        if ask.action == "collect":
            # One more than allowed, so that an endless iterator ends here and is noticed.
            collected = list(itertools.islice(iter(target), ask.most + 1))
            if len(collected) > ask.most:
                raise RuntimeError(f"more than {ask.most} items came")
            return collected
        if ask.action == "drop":
            return self._kept.pop(ask.target)
        simple: dict[str, Callable[[], Any]] = {
            "item": lambda: target[args[0]],
            "attr": lambda: getattr(target, ask.name),
            "put": lambda: args[0],
            "value": lambda: args[0],
        }
        return simple[ask.action]()

    def _answer(self, ask: Request, result: Any, layout: bool) -> Value:
        if ask.keep:
            self._kept[ask.keep] = result
        if ask.keep or ask.action in ("set_attr", "drop"):
            return None
        if layout:
            # Alive until the case ends: another tensor at the same address would look like a view.
            self._alive.append(result)
        return to_wire(result, self._storages if layout else None)

    def _instructors(self) -> ModuleType:
        if self._given is None:
            path = self._scratch / "given.py"
            path.write_text(self._source, encoding="utf-8")
            self._given = import_module(path, self._scratch, strict=True).module
        return self._given

    def _set(self, target: Any, name: str, value: Any) -> None:
        # The first time only: at a second setting the value kept would no longer be the module's
        # own.
        if target is self._module and name not in self._before:
            self._before[name] = vars(self._module).get(name, _ABSENT)
        setattr(target, name, value)

    def _forget(self) -> None:
        """Begin a case: nothing is kept, the module is as it was."""
        # The first call comes from `__init__`, before `_before` is there.
        for name, value in getattr(self, "_before", {}).items():
            if value is _ABSENT:
                vars(self._module).pop(name, None)
            else:
                vars(self._module)[name] = value
        self._before: dict[str, Any] = {}
        self._kept = _KeptObjects({MODULE: self._module})
        self._storages, self._alive = Storages(), list[torch.Tensor]()
        self._folder.remove()
        self._folder = Folder(self._scratch)


_ABSENT = object()


def failed(error: BaseException, scratch: Path) -> Response:
    """Return the description of an exception."""
    return Response(fault=describe(error, scratch), kind=nearest_builtin(error))
