"""Processes that a program starts: they have the devices, and leave an account of what they did.

A child that Python starts anew (``spawn``, and what asks for ``forkserver``) runs a line of ours
first; a forked one has its parent's machine. Tensors go from one to the other by sharing memory, as
CUDA's do.

``python -m grader.vgpu`` makes a folder, which all processes know that its script starts. Each of
them leaves a file there as it ends: its name and rank, the memory that it held, its events. The
last one reads them all, for one summary and one timeline.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import dataclasses
import json
import multiprocessing
import multiprocessing.context
import multiprocessing.reduction
import multiprocessing.spawn
import multiprocessing.util
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

import torch
import torch.multiprocessing
from torch.nn.parallel import DistributedDataParallel

from grader.vgpu.core.machine import HOST, Machine, Shared, installed, machine
from grader.vgpu.core.tensor import VirtualTensor, wrap
from grader.vgpu.core.trace import (
    Allocation,
    Collective,
    Kernel,
    Mark,
    Release,
    Synchronisation,
    TraceEvent,
    Transfer,
)
from grader.vgpu.log.summary import Held, summarise
from grader.vgpu.patches import Patches, unsupported

_KINDS: dict[str, type[TraceEvent]] = {
    kind.__name__: kind
    for kind in (Kernel, Transfer, Synchronisation, Mark, Collective, Allocation, Release)
}
_TUPLES = frozenset({"shape", "ranks"})
_ROOT = str(Path(__file__).parents[2])
_Storage: Any = torch.UntypedStorage
_FIRST = (
    "import sys; sys.path.append({root!r}); "
    "from grader.vgpu.processes import begin; begin({settings!r}); "
)


@dataclass(frozen=True, slots=True)
class Account:
    """What one process did.

    Attributes:
        name: ``rank 1``, ``SpawnPoolWorker-2``, or ``script``.
        rank: In its group of processes, or −1.
        events: In the order of their issue.
        held: Device → memory.
    """

    name: str
    rank: int
    events: list[TraceEvent]
    held: dict[str, Held]


def account_of(here: Machine, since: int = 0) -> Account:
    """Return what this process did from an event on."""
    events = list(here.trace.since(since))
    total = summarise(events)
    held = {
        name: total.held(name, here.memory(n).live, here.memory(n).limit)
        for n, name in enumerate(here.names)
    }
    # One that torchrun started is a rank, also where it is in no group.
    rank = int(os.environ.get("RANK", "-1")) if here.rank is None else here.rank
    started = multiprocessing.parent_process() is not None
    name = multiprocessing.current_process().name if started else "script"
    return Account(f"rank {rank}" if rank >= 0 else name, rank, events, held)


def write_account(folder: Path, account: Account) -> None:
    """Leave an account in a folder; whole, or not at all.

    Events that are alike are written once; the tape names them by their places.
    """
    rows: dict[TraceEvent, int] = {}
    tape = [rows.setdefault(event, len(rows)) for event in account.events]
    document = {
        "name": account.name,
        "rank": account.rank,
        "held": {name: dataclasses.asdict(held) for name, held in account.held.items()},
        "rows": [[type(event).__name__, *_field_values(event)] for event in rows],
        "tape": tape,
    }
    part = folder / f"{os.getpid()}.part"
    part.write_text(json.dumps(document), encoding="utf-8")
    part.replace(folder / f"{os.getpid()}.json")


def read_accounts(folder: Path) -> list[Account]:
    """Return the accounts that were left in a folder, by rank."""
    # A file that is still being written is called ``.part``: never half an account.
    files = sorted(folder.glob("*.json"))
    found = [_account(json.loads(path.read_text(encoding="utf-8"))) for path in files]
    found.sort(key=lambda account: (account.rank, account.name))
    names = [account.name for account in found]
    # Two pools each have a first worker.
    return [
        dataclasses.replace(account, name=f"{account.name} ({names[:place].count(account.name)})")
        if account.name in names[:place]
        else account
        for place, account in enumerate(found)
    ]


def _field_values(event: TraceEvent) -> list[Any]:
    return [getattr(event, field.name) for field in dataclasses.fields(event)]


def _account(data: dict[str, Any]) -> Account:
    rows = [_event(*each) for each in data["rows"]]
    return Account(
        data["name"],
        data["rank"],
        [rows[place] for place in data["tape"]],
        {name: Held(**held) for name, held in data["held"].items()},
    )


def _event(kind: str, *values: Any) -> TraceEvent:
    made: Any = _KINDS[kind]
    names = [field.name for field in dataclasses.fields(made)]
    fields = {
        name: tuple(value) if name in _TUPLES else value
        for name, value in zip(names, values, strict=True)
    }
    event: TraceEvent = made(**fields)
    return event


# What the process does at its end; Python's own processes forget it as they begin, and set it anew.
_ending: list[multiprocessing.util.Finalize] = []
_ending_of = 0
"""The process that is to do so: a fork has its parent's, which it has forgotten how to do."""


def tell_at_exit(here: Machine) -> None:
    """Let this process leave its account as it ends, also where it is told to end."""
    if here.shared is None:
        return
    # A fork has its parent's events too.
    since = 0 if here.shared.process == os.getpid() else here.trace.count
    global _ending_of  # noqa: PLW0603  each process has one
    _ending_of = os.getpid()
    _ending[:] = [
        multiprocessing.util.Finalize(None, _leave_account, args=(here, since), exitpriority=0)
    ]
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _stop)


def _stop(number: int, _: Any) -> None:
    # A pool that is left ends its workers so. One that already leaves its account ends by itself.
    own = _ending_of == os.getpid()
    if own and not all(ending.still_active() for ending in _ending):
        return
    for ending in _ending:
        ending()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _leave_account(here: Machine, since: int) -> None:
    # A pool may send its signal while a worker that has nothing left to do is writing this.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    account = account_of(here, since)
    if here.shared is not None and account.events and here.shared.folder.is_dir():
        write_account(here.shared.folder, account)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _forked(_: object) -> None:
    here = installed()
    if here is not None:
        tell_at_exit(here)


# Where Python's own processes begin after a fork.
multiprocessing.util.register_after_fork(_forked, _forked)


def end_now(status: int) -> NoReturn:
    """End this process: what it has to do at its end is done, the interpreter is not taken down.

    Gloo's threads may still be letting go of the last tensors that ranks exchanged. Where the
    interpreter is already being taken down, that aborts the whole process (seen with torch 2.13:
    "terminate called without an active exception"), though all its work was done.
    """
    # Waits for the threads that Python waits for.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)


def _ends_now(original: Callable[..., None]) -> Callable[..., None]:
    def spawn_main(*args: Any, **named: Any) -> None:
        try:
            original(*args, **named)
        except SystemExit as ended:
            if not isinstance(ended.code, int):
                raise
            end_now(ended.code)

    return spawn_main


def begin(data: dict[str, Any]) -> None:
    """Make the devices of a process that was just started, as its parent has them."""
    # Found late: the package itself imports this module.
    from grader.vgpu import install  # noqa: PLC0415
    from grader.vgpu.timeline import on_timeline  # noqa: PLC0415

    sys.path.remove(_ROOT)
    multiprocessing.spawn.spawn_main = _ends_now(multiprocessing.spawn.spawn_main)
    here = install(data["count"], data["limit"])
    if data["folder"] is None:
        return
    here.shared = Shared(Path(data["folder"]), data["card"], data["arithmetic"])
    tell_at_exit(here)
    if data["card"] is not None:
        # Until the process ends.
        on_timeline(data["card"], arithmetic=data["arithmetic"]).__enter__()


def _settings(here: Machine) -> dict[str, Any]:
    shared = here.shared
    card = None if shared is None or shared.card is None else shared.card.name
    return {
        "count": here.count,
        "limit": here.memory(0).limit,
        "folder": None if shared is None else str(shared.folder),
        "card": card,
        "arithmetic": shared is None or shared.arithmetic,
    }


def _command(original: Any) -> Any:
    def get_command_line(**named: Any) -> list[str]:
        # Before all else: what the child unpickles may already hold tensors of a device.
        command: list[str] = original(**named)
        if "-c" in command:
            at = command.index("-c") + 1
            command[at] = _FIRST.format(root=_ROOT, settings=_settings(machine())) + command[at]
        return command

    return get_command_line


@dataclass(frozen=True, slots=True)
class _SentLayout:
    """How a tensor lies in its storage, and what it is."""

    ordinal: int
    dtype: torch.dtype
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    requires_grad: bool
    parameter: bool


def _tensor_received(handle: Any, size: int, layout: _SentLayout) -> Any:
    descriptor = handle.detach()
    try:
        storage = _Storage._new_shared_fd_cpu(descriptor, size)
    finally:
        os.close(descriptor)
    bare = torch.empty(0, dtype=layout.dtype, device=HOST)
    bare.set_(storage, layout.offset, layout.shape, layout.stride)
    tensor = wrap(bare, layout.ordinal)
    if layout.parameter:
        return torch.nn.Parameter(tensor, layout.requires_grad)
    return tensor.requires_grad_(layout.requires_grad)


def _sent(tensor: VirtualTensor) -> tuple[Any, ...]:
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries.  If you just want to transfer the data, "
            "call detach() on the tensor before serializing (e.g., putting it on the queue)."
        )
    if sys.platform == "win32":
        raise unsupported("a tensor that goes to another process", "send Tensor.cpu()")
    # In place: this process's own tensor lies in the shared memory from now on.
    descriptor, size = tensor.untyped_storage()._share_fd_cpu_()
    layout = _SentLayout(
        tensor.ordinal, tensor.dtype, int(tensor.storage_offset()), tuple(tensor.shape),
        tensor.stride(), tensor.requires_grad, isinstance(tensor, torch.nn.Parameter),
    )  # fmt: skip
    return _tensor_received, (multiprocessing.reduction.DupFd(descriptor), size, layout)


def patch_processes(patches: Patches) -> None:
    """Let new processes have devices, and tensors go to them."""
    spawning = multiprocessing.spawn
    patches.wrap(spawning, "get_command_line", _command)
    # A server of forks would have to have the devices too; a new process has the same effect.
    from_server = getattr(multiprocessing.context, "ForkServerProcess", None)
    if from_server is not None:
        popen = vars(multiprocessing.context.SpawnProcess)["_Popen"]
        patches.set(from_server, "_Popen", popen)
    multiprocessing.reduction.ForkingPickler.register(VirtualTensor, _sent)


_Failed = tuple[str, str, int]
"""Class, text and line of what a rank raised."""


def in_ranks(number: int, work: Callable[[int], Any], file: str) -> list[Any]:
    """Run ``work(0)`` … ``work(number - 1)`` in processes of their own; return what they return.

    A process that fails ends the others, and what it raised is raised here as if in its line.

    Args:
        number: How many.
        work: Gets the rank. What it returns is pickled.
        file: The submission's: its lines are shown.
    """
    context = multiprocessing.get_context("fork")
    pipes: list[Connection] = []
    children = []
    for rank in range(number):
        receiving, sending = context.Pipe(duplex=False)
        child = context.Process(target=_child, args=(partial(work, rank), sending, file))
        child.start()
        sending.close()
        pipes.append(receiving)
        children.append(child)
    results: dict[int, Any] = {}
    try:
        while len(results) < number:
            waiting = [pipe for rank, pipe in enumerate(pipes) if rank not in results]
            for pipe in connection.wait(waiting):
                rank = pipes.index(pipe)  # type: ignore[arg-type]
                results[rank] = _received(pipes[rank], rank, file)
    finally:
        for child in children:
            child.kill()
            child.join()
    return [results[rank] for rank in range(number)]


def _keep_wrappers() -> None:
    """Let every DistributedDataParallel of this process live until its end."""
    # Torch's reducer may own the process group last, and ends it while it holds the interpreter's
    # lock, for which the group's own thread may be waiting: now and then an honest worker would
    # never return (seen with torch 2.13).
    make, kept = DistributedDataParallel.__init__, []

    def make_and_keep(self: DistributedDataParallel, *args: Any, **kwargs: Any) -> None:
        kept.append(self)
        make(self, *args, **kwargs)

    DistributedDataParallel.__init__ = make_and_keep  # type: ignore[method-assign]


def _child(work: Callable[[], Any], sending: Connection, file: str) -> None:
    # A process that was split off while other threads ran must not start torch's own.
    torch.set_num_threads(1)
    _keep_wrappers()
    try:
        sending.send((work(), None))
    except BaseException as error:  # noqa: BLE001  whatever it is, the parent is to hear of it
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno or 0 for frame in frames if frame.filename == file]
        sending.send((None, (type(error).__name__, str(error), lines[-1] if lines else 0)))


def _received(pipe: Connection, rank: int, file: str) -> Any:
    failed: _Failed | None
    try:
        result, failed = pipe.recv()
    except EOFError:
        raise RuntimeError(f"process {rank} ended before its work was done") from None
    if failed is None:
        return result
    name, text, line = failed
    kind = getattr(builtins, name, RuntimeError)
    text = text if kind.__name__ == name else f"{name}: {text}"
    code = compile("\n" * (line - 1) + "raise error", file if line else __file__, "exec")
    exec(code, {"error": kind(f"{text} (in process {rank})")})  # noqa: S102  for file and line
    return None
