"""One case of a scenario: what it was given, what it keeps in the actor, what it can be asked."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, Protocol

import torch

from grader.scenario_process.api import (
    Callback,
    Handle,
    OverError,
    RemoteError,
    UnreadError,
    number_of,
)
from grader.student_process.tensors import tensor_to_torch, to_torch, to_wire
from grader.wire.messages import MODULE, CallbackRequest, Fault, Request, Response, nearest_builtin
from grader.wire.shared import Folder
from grader.wire.tree import map_leaves, map_tensors
from grader.wire.values import ActorHandle, FilePath, Layout, Opaque, Tensor, Value

_TORCHS_OWN = "not implemented for '"
"""In torch's message on a dtype that an operation does not have; no stub says so."""

_CLAIMED = "_as_the_actor_said"
"""Attribute of a tensor that came from the actor: device, gradient, layout, as it claims them."""

_MOST_QUEUED = 32
"""Requests that wait for the next one that has a value."""

Body = Callable[[CallbackRequest], Response]


class Line(Protocol):
    """Leads to the actor."""

    def ask(self, ask: Request, body: Body) -> Response:
        """Have something done; ``body`` answers the calls that the submission makes meanwhile."""


@dataclass(slots=True)
class _Function:
    """A callback: its body, and how often it may be called."""

    body: Callable[..., Any]
    most: int
    gather: int
    calls: int = 0


@dataclass(slots=True)
class _CaseState:
    """What was handed out in a case, and what was not sent yet."""

    kept: int = 0
    queued: list[Request] = field(default_factory=list)
    folders: dict[str, bool] = field(default_factory=dict)
    sent: dict[int, int] = field(default_factory=dict)


class Play:
    """One case.

    Args:
        line: To the actor.
        scratch: The stage's writable folder.
        layout: Whether checks look at how tensors lie in memory.
        apart: Whether the actor has a scratch of its own.
    """

    def __init__(self, line: Line, scratch: Path, layout: bool, apart: bool) -> None:
        self.caller = 0
        self.case = ""
        self._line = line
        self._scratch = scratch
        self._layout = layout
        self._apart = apart
        self._files = Folder(scratch)
        self._state = _CaseState()
        self._functions: list[_Function] = []
        self._args: dict[int, tuple[Any, Any]] = {}
        self._busy = False
        self._raised: BaseException | None = None

    def given_args(self, args: Sequence[Value]) -> tuple[Any, ...]:
        """Return the case's own arguments; each will be sent once, if it stays as it is."""
        made = tuple(to_torch(value, {}) for value in args)
        for item in made:
            if isinstance(item, (torch.Tensor, list, tuple, dict)):
                # The item is kept beside its stamp: once it were freed, its id could be another
                # object's.
                self._args[id(item)] = item, _stamp(item)
        return made

    def ask(self, action: str, name: str = "", target: Any = None, **fields: Any) -> Any:
        """Have something done in the actor; return the value."""
        return self._incoming(self._send(self._ask(action, name, target, fields)).value)

    def keep(self, action: str, name: str = "", target: Any = None, **fields: Any) -> Handle:
        """Have something done in the actor; the result stays there."""
        self._state.kept += 1
        # Numbered here, not by the actor: nobody has to wait for its reply, and it cannot name
        # another object.
        number = self._state.kept
        self.later(action, name, target, **fields, keep=number)
        return Handle(number)

    def later(self, action: str, name: str = "", target: Any = None, **fields: Any) -> None:
        """Have something done of which nobody waits for the result: with the next that has one.

        At once where that could be told apart: by a callback that is called, by a file.
        """
        queued = self._state.queued
        queued.append(_settled(self._ask(action, name, target, fields)))
        if self._functions or self._state.folders or len(queued) > _MOST_QUEUED:
            self.finish()

    def finish(self) -> None:
        """Have done what waits."""
        if self._state.queued:
            self._send(self._state.queued.pop(), waited=False)

    def either(self, keep: bool, action: str, name: str = "", **fields: Any) -> Any:
        """Do the one or the other."""
        return (self.keep if keep else self.ask)(action, name, **fields)

    def callback(self, body: Callable[..., Any], most: int, gather: int) -> Callback:
        """Return what stands for a function, as an argument."""
        self.finish()
        self._functions.append(_Function(body, most, gather))
        return Callback(len(self._functions))

    def folder(self, write: bool) -> Path:
        """Make a shared folder."""
        self.finish()
        name = f"shared-{len(self._state.folders) + 1}"
        self._state.folders[name] = write
        (self._scratch / name).mkdir()
        # Relative: it leads whoever opens it, stage or actor, to the copy in its own scratch.
        return Path(name)

    def read(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Call a function of the scenario's file in a process of its own."""
        if not self._apart:
            return function(*args)
        self.finish()
        folders = self._state.folders
        files = Folder(self._scratch).changed(folders)
        sent = tuple(self._outgoing(item, {}) for item in args)
        ask = Request("read", function.__name__, args=sent, files=files, folders=dict(folders))
        did = self._line.ask(ask, self.body)
        if did.fault is not None:
            raise UnreadError(did.kind, did.fault)
        return self._incoming(did.value)

    def after(self, args: tuple[Any, ...]) -> tuple[Value, ...]:
        """Return the case's own arguments as the actor has them now."""
        did = self._send(self._ask("value", "", None, {"args": (list(args),)}))
        return tuple(did.value) if isinstance(did.value, list) else ()

    def returned(self, value: Any) -> Value:
        """Return the value of what a scenario returned, with what the actor claimed of tensors."""
        result: Value = map_leaves(_as_claimed, value)
        return result

    def close(self) -> None:
        """Remove the shared folders: a full disk would cost other questions."""
        for name in self._state.folders:
            shutil.rmtree(self._scratch / name, ignore_errors=True)

    def body(self, back: CallbackRequest) -> Response:
        """Run a callback's body."""
        try:
            function = self._function(back.callback)
            self.caller = back.caller
            self._busy = True
            args = [self._incoming(item) for item in back.args]
            kwargs = {name: self._incoming(item) for name, item in back.kwargs.items()}
            result = function.body(*args, **kwargs)
            return Response(self._plain(result), token=back.token)
        except Exception as error:  # noqa: BLE001  raised where the submission called
            self._raised = error
            fault = Fault(type(error).__name__[:200], str(error)[:2000])
            return Response(fault=fault, kind=nearest_builtin(error), token=back.token)
        finally:
            self._busy = False

    def _function(self, number: int) -> _Function:
        if number > len(self._functions):
            raise RuntimeError("there is no such function")
        function = self._functions[number - 1]
        function.calls += 1
        # Bounded by the scenario: a submission could otherwise learn a hidden answer by asking
        # often enough.
        if function.calls > function.most:
            raise RuntimeError(f"this function can be called {function.most} times at most")
        return function

    def _ask(self, action: str, name: str, target: Any, fields: dict[str, Any]) -> Request:
        """Return a request; arguments are as they are now."""
        if self._busy:
            raise RuntimeError("a callback's body must not use the actor")
        stores: dict[int, Value] = {}
        sent = dict(fields)
        sent["args"] = tuple(self._outgoing(item, stores) for item in fields.get("args", ()))
        named = fields.get("kwargs", {})
        sent["kwargs"] = {key: self._outgoing(item, stores) for key, item in named.items()}
        number = MODULE if target is None else number_of(target)
        return Request(action, name, number, **sent, stores=stores)

    def _send(self, ask: Request, waited: bool = True) -> Response:
        """Have a request done, and all that waits before it."""
        batched = tuple(item.as_batched() for item in self._state.queued)
        # Before it is sent: a scenario that catches the error and asks again must not have these
        # done twice.
        self._state.queued.clear()
        ask = replace(ask, batched=batched, layout=self._layout, case=self.case)
        gather = {number: each.gather for number, each in enumerate(self._functions, 1)}
        ask = replace(ask, waits_for=gather)
        did = self._line.ask(self._with_files(ask), self.body)
        if self._apart:
            self._files.take(did.files)
        if did.fault is not None:
            raise self._error(did, did.fault, waited)
        return did

    def _with_files(self, ask: Request) -> Request:
        if not self._apart:
            return ask
        shared = self._state.folders
        return replace(ask, files=self._files.changed(shared), folders=dict(shared))

    def _error(self, did: Response, fault: Fault, waited: bool) -> BaseException:
        unwritten = did.kind == "NotImplementedError" and _TORCHS_OWN not in fault.message
        if unwritten or did.early or not waited:
            return OverError(fault)
        error = RemoteError(did.kind, fault)
        # A callback's own error stands behind it: the author sees the line in scenario.py.
        error.__cause__, self._raised = self._raised, None
        return error

    def _outgoing(self, value: Any, stores: dict[int, Value]) -> Value:
        """Return the value of an argument."""
        if self._is_own(value):
            return self._once(value, stores)
        if type(value) is tuple:
            return tuple(self._outgoing(item, stores) for item in value)
        if type(value) is list:
            return [self._outgoing(item, stores) for item in value]
        if type(value) is dict:
            return {key: self._outgoing(item, stores) for key, item in value.items()}
        # By exact type here as in the codec: a subclass could carry a number of its own choosing.
        if type(value) is Handle:
            return ActorHandle(number_of(value))
        if type(value) is Callback:
            return ActorHandle(-value.number)
        return FilePath(str(value)) if isinstance(value, PurePath) else self._plain(value)

    def _is_own(self, item: Any) -> bool:
        own, stamp = self._args.get(id(item), (None, None))
        return own is not None and own is item and bool(_stamp(item) == stamp)

    def _once(self, item: Any, stores: dict[int, Value]) -> ActorHandle:
        sent = self._state.sent
        if id(item) not in sent:
            self._state.kept += 1
            sent[id(item)] = self._state.kept
            stores[self._state.kept] = self._plain(item)
        return ActorHandle(sent[id(item)])

    @staticmethod
    def _plain(item: Any) -> Value:
        value = to_wire(item)
        if isinstance(value, Opaque) and not isinstance(item, Opaque):
            raise TypeError(f"a {value.type} cannot go to the actor: {value.reason}")
        return value

    @staticmethod
    def _incoming(value: Value) -> Any:
        return to_torch(value, {}, _from_actor)


def _settled(ask: Request) -> Request:
    """Return a request with memory of its own: the scenario may change a tensor before it goes."""
    args, kwargs, stores = (_copied(part) for part in (ask.args, ask.kwargs, ask.stores))
    return replace(ask, args=args, kwargs=kwargs, stores=stores)


def _copied(value: Any) -> Any:
    return map_tensors(lambda tensor: replace(tensor, data=bytes(tensor.data)), value)


def _stamp(item: Any) -> Any:
    """Return what is another one as soon as an argument was changed here."""
    if isinstance(item, torch.Tensor):
        return item._version
    return map_leaves(lambda part: to_wire(part) if part is not None else None, item)


def _from_actor(value: Tensor) -> torch.Tensor:
    # Device and gradient are the actor's claims. The scenario computes on plain CPU tensors, and
    # the claims only go back into the verdict.
    tensor = tensor_to_torch(replace(value, device="cpu", requires_grad=False))
    setattr(tensor, _CLAIMED, (value.device, value.requires_grad, value.layout))
    return tensor


def _as_claimed(item: Any) -> Value:
    value = to_wire(item)
    claimed: tuple[str, bool, Layout | None] | None = getattr(item, _CLAIMED, None)
    if isinstance(value, Tensor) and claimed is not None:
        device, wants_grad, layout = claimed
        return replace(value, device=device, requires_grad=wants_grad, layout=layout)
    return value
