"""The student process's loop: import once, then answer call after call until the host hangs up."""

from __future__ import annotations

import builtins
import concurrent.futures.thread  # noqa: F401  what submissions import, inherited by every process
import contextlib
import gc
import importlib
import itertools
import multiprocessing.reduction  # noqa: F401
import platform
import random
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
import numpy.random
import torch
import torch.multiprocessing
import torch.utils.data

from grader import vgpu
from grader.scenario_process import server as stage
from grader.scenario_process.server import LocalLine
from grader.student_process.alone import alone
from grader.student_process.late_compiler import install_late_compiler
from grader.student_process.module import describe, import_module, place
from grader.student_process.probes import Counting
from grader.student_process.scenario_requests import Line, RequestHandler
from grader.student_process.tensors import Storages, to_torch, to_wire
from grader.vgpu.recording.calls import Recording
from grader.vgpu.recording.player import CallWatch
from grader.wire.frames import Closed, Connection
from grader.wire.messages import (
    ALONE,
    LOG,
    Call,
    CallbackRequest,
    Load,
    Loaded,
    Ready,
    Reply,
    Request,
    Response,
    from_frame,
    to_frame,
)
from grader.wire.tree import leaves
from grader.wire.values import Opaque, ProtocolError, Value


def serve(connection: Connection, walls: dict[str, str]) -> None:
    """Answer requests until the host closes the connection.

    Args:
        connection: To the host.
        walls: What this process met when it tried to break out, by name.
    """
    install_late_compiler()
    scratch = Path.cwd()
    versions = {"torch": str(torch.__version__), "python": platform.python_version()}
    # Sent before a byte of the submission is here; nothing in it can have been forged.
    connection.send(to_frame(Ready(walls, versions)))
    session = Session(scratch, lambda back: _call_back(connection, back))
    while True:
        try:
            message = from_frame(connection.receive(), Load, Call, Request)
        except Closed:
            return None
        # Without files this is a stage of its own. With files nobody is kept out, and both live
        # here.
        if isinstance(message, Load) and message.stage and not message.files:
            return stage.serve(connection, message)
        reply: Loaded | Reply | Response
        if isinstance(message, Load):
            reply = session.load(message)
        elif isinstance(message, Call):
            reply = replace(session.call(message), token=message.token)
        elif message.action == "listen":
            session.listen(message, connection)
            continue
        else:
            reply = replace(session.ask(message), token=message.token)
        _answer(connection, reply)


def _call_back(connection: Connection, back: CallbackRequest) -> Response:
    connection.send(to_frame(back))
    did: Response = from_frame(connection.receive(), Response)
    return did


def _answer(connection: Connection, reply: Loaded | Reply | Response) -> None:
    try:
        connection.send(to_frame(reply))
    except ProtocolError as error:
        # Too long or too deep for the wire, and nothing of it is sent yet: a value like any other
        # that cannot cross.
        cannot = Opaque("the returned value", str(error))
        assert not isinstance(reply, Loaded)
        connection.send(to_frame(type(reply)(cannot, token=reply.token)))


class Session:
    """The module under test."""

    def __init__(self, scratch: Path, line: Line) -> None:
        self._scratch = scratch
        self._line = line
        self._handler: RequestHandler | None = None
        self._stage: stage.Stage | None = None
        self._module: ModuleType | None = None
        self._files: dict[str, str] = {}
        self._gpus: vgpu.Machine | None = None

    def load(self, load: Load) -> Loaded:
        """Place the files and import the module."""
        if load.gpus:
            # For good: this process ends with the submission that was promised them.
            self._gpus = vgpu.install(load.gpus, load.gpu_memory_mb * 2**20 or None)
        place(load, self._scratch)
        self._files = {
            str(self._scratch / path): "" if path == load.module else path for path in load.files
        }
        imported = import_module(self._scratch / load.module, self._scratch)
        self._module = imported.module
        self._handler = RequestHandler(
            imported.module, load.given, self._scratch, self._line, self._begin_case
        )
        if load.stage:
            # Nobody is kept out here, and torch is imported once.
            line = LocalLine(self._handler)
            self._stage, loaded = stage.open_stage(load, self._scratch, line, apart=False)
            if loaded.fault is not None:
                return loaded
        return imported.report()

    def ask(self, ask: Request) -> Response:
        """Do one thing for a scenario."""
        assert self._handler is not None
        return self._handler.do(ask)

    def listen(self, ask: Request, connection: Connection) -> None:
        """Send the socket to which processes of the submission connect."""
        assert self._handler is not None
        self._handler.begin(ask.case)
        with self._handler.listen() as listener:
            # The host's copy alone is left open: nobody here can take a call.
            connection.send_descriptor(to_frame(Response(token=ask.token)), listener.fileno())

    def _begin_case(self) -> None:
        _seed()
        if self._gpus is not None:
            self._gpus.trace.clear()

    def call(self, call: Call) -> Reply:
        """Make one call and report what came of it."""
        if call.scenario and self._stage is not None:
            return self._stage.play(call)
        if self._handler is not None:
            # A plain call must not see the objects and attributes that a scenario left in the
            # module.
            self._handler.end()
        _seed()
        try:
            args = tuple(to_torch(item, {}) for item in call.args)
            kwargs = {name: to_torch(item, {}) for name, item in call.kwargs.items()}
            target = getattr(self._module, call.entry)
            # After the arguments were carried to their devices: these copies are not the
            # submission's.
            if self._gpus is not None:
                self._gpus.trace.clear()
            if COUNTING in call.probes:
                return self._count(target, args, kwargs, call.probes)
            if call.block:
                return Reply(to_wire(_together(_block(target, args, kwargs, call.block))))
            watch = self._watch(call.probes, target, (*args, *kwargs.values()))
            run = target if watch is None else watch.call
            result = run(*args, **kwargs)
            # Addresses are compared while all tensors of the reply are alive.
            storages = Storages() if "layout" in call.probes else None
            value = to_wire(result, storages)
            after = None
            if "args_after" in call.probes:
                after = tuple(to_wire(item, storages) for item in args)
        except BaseException as error:  # noqa: BLE001  KeyboardInterrupt is a submission's fault too
            return Reply(fault=describe(error, self._scratch))
        # The devices' plain values are the wire's too; its own alias has more kinds.
        devices = {"devices": cast("Value", watch.report)} if watch else {}
        return Reply(value, args_after=after, probes=devices)

    def _watch(
        self, probes: Iterable[str], target: Callable[..., Any], inputs: tuple[Any, ...]
    ) -> CallWatch | None:
        if "devices" not in probes:
            return None
        # These GPUs, whatever the submission has done about them meanwhile.
        return CallWatch(self._gpus, target, _tensors(inputs))

    def _count(
        self,
        target: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        probes: Collection[str],
    ) -> Reply:
        """Make a call for what it does; what it returns shows that it was done."""
        warm_probes()
        inputs = list(_tensors((*args, *kwargs.values())))
        counting, recording = Counting(self._files, inputs), Recording(inputs, LOG in probes)
        result = value = fault = None
        try:
            with alone(ALONE in probes), recording, counting:
                result = target(*args, **kwargs)
            value = to_wire(result)
        except BaseException as error:  # noqa: BLE001  as above
            fault = describe(error, self._scratch)
        written = {name: to_wire(item) for name, item in recording.report(result).items()}
        return Reply(value, fault=fault, probes={COUNTING: counting.report(result), **written})


def _block(
    target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], calls: int
) -> list[Any]:
    """Make several calls, each on its own slices of the tensors, and its own items of the lists."""
    columns = [_slices(item, calls) for item in (*args, *kwargs.values())]
    # Without arguments zip yields no row, and nothing would be called.
    rows = zip(*columns, strict=True) if columns else itertools.repeat((), calls)
    names, first = tuple(kwargs), len(args)
    collects, says = gc.isenabled(), builtins.print
    # A collection takes milliseconds and may fall into any block: noise that no order of blocks
    # removes.
    gc.disable()
    # Writing a tensor out takes longer than many a function: a print left in is no loop.
    builtins.print = lambda *_, **__: None
    try:
        # Apart: making an empty dictionary for each call would be timed along with it.
        if not names:
            return [target(*row) for row in rows]
        return [target(*row[:first], **dict(zip(names, row[first:], strict=True))) for row in rows]
    finally:
        builtins.print = says
        if collects:
            gc.enable()


def _slices(item: Any, calls: int) -> Any:
    if isinstance(item, list):
        return item
    return item.unbind(0) if isinstance(item, torch.Tensor) else itertools.repeat(item, calls)


def _together(results: list[Any]) -> Any:
    """Return tensors of one shape as one, which costs less on the wire; other results as a list."""
    first = results[0]
    alike = all(
        type(item) is torch.Tensor and item.shape == first.shape and item.dtype is first.dtype
        for item in results
    )
    return torch.stack(results) if alike else results


def _tensors(items: tuple[Any, ...]) -> Iterator[torch.Tensor]:
    return (item for item in leaves(items) if isinstance(item, torch.Tensor))


def _seed() -> None:
    """Give reference and submission the same random numbers; nothing hidden is drawn here."""
    # Not torch.manual_seed: for each backend that is not in use it formats a stack, 0.6 ms a call.
    torch.default_generator.manual_seed(0)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(0)
    random.seed(0)
    np.random.seed(0)


@cache
def warm_probes() -> None:
    """Count something, once, so that what torch imports for its modes is imported by then."""
    with Counting({}, ()):
        torch.zeros(1) + 1


COUNTING = "counting"
"""The probe's name on the wire."""

REST = ("torch.distributed.tensor",)
"""Torch imports it, and sympy with it, for the first tensor on a virtual GPU: half a second."""


def warm(also: Iterable[str] = (), engine: bool = True) -> None:
    """Run one small step of what submissions use and torch imports late.

    Args:
        also: Modules to import, where they are installed.
        engine: Run autograd's engine too. Not before a fork that is to use a GPU: it asks every
            kind of device for its number, and on a build with CUDA the answer, 0 while GPUs are
            hidden, holds in every fork.
    """
    for name in also:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    install_late_compiler()
    # Too small for a second thread: once a parallel region has run here, products hang in every
    # fork.
    out = torch.nn.Linear(2, 2)(torch.zeros(1, 2)).sum()
    torch.nn.functional.conv2d(torch.zeros(1, 1, 4, 4), torch.zeros(1, 1, 2, 2))
    torch.func.vmap(torch.sum)(torch.zeros(2, 2))
    torch.distributions.Normal(0.0, 1.0).sample()  # type: ignore[no-untyped-call]
    torch.bmm(torch.zeros(1, 2, 2), torch.zeros(1, 2, 2))
    warm_probes()
    if engine:
        out.backward()
        torch.func.vmap(torch.func.grad(lambda x: (x * x).sum()))(torch.zeros(2, 2))
