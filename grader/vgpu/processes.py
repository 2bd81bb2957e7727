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
import faulthandler
import inspect
import json
import linecache
import multiprocessing
import multiprocessing.context
import multiprocessing.reduction
import multiprocessing.spawn
import multiprocessing.util
import os
import re
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NoReturn, TextIO

import torch
import torch.multiprocessing
from torch.nn.parallel import DistributedDataParallel

from grader.vgpu.advice import Done, Place, Places
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
from grader.vgpu.memory import MemoryNotes, Owner, Peak
from grader.vgpu.patches import Patches, unsupported
from grader.vgpu.recording.summary import Held, summarise

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
        places: What lines of the program did, such as wait and copy.
        steps: Of optimizers.
        waits: Place → its events, by their numbers in ``events``, where there is a timeline.
        peaks: Device → what it held when it held most, where that was noted.
    """

    name: str
    rank: int
    events: list[TraceEvent]
    held: dict[str, Held]
    places: tuple[Done, ...] = ()
    steps: int = 0
    waits: dict[Place, list[int]] = dataclasses.field(default_factory=dict)
    peaks: dict[str, Peak] = dataclasses.field(default_factory=dict)


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
    name = multiprocessing.current_process().name if started else _script_name()
    name = f"rank {rank}" if rank >= 0 else name
    notes = here.memory_notes
    peaks = {} if notes is None else {each: notes.at_peak(each, since) for each in held}
    if here.places is None:
        return Account(name, rank, events, held, peaks=peaks)
    done, steps = here.places.done, here.places.steps
    waits = {
        place: [number - since for number in numbers if number >= since]
        for place, numbers in here.places.events.items()
    }
    return Account(name, rank, events, held, done, steps, waits, peaks)


# Filled where the process was started by the script that the devices were made for.
_of_a_script: list[bool] = []


def _script_name() -> str:
    if not _of_a_script:
        return "script"
    program = Path(sys.argv[0]).name
    return program if program not in {"", "-c"} else "python"


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
        "places": [[*place, *often] for place, *often in account.places],
        "steps": account.steps,
        "waits": [[*place, numbers] for place, numbers in account.waits.items()],
        "peaks": {
            name: [[*owner, held] for owner, held in peak.items()]
            for name, peak in account.peaks.items()
        },
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
        tuple(Done(Place(*each[:3]), *each[3:]) for each in data["places"]),
        data["steps"],
        {Place(*place): numbers for *place, numbers in data["waits"]},
        {
            name: {Owner(module, kind): held for module, kind, held in peak}
            for name, peak in data["peaks"].items()
        },
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
    forget_faults()
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
    sys.path.remove(_ROOT)
    multiprocessing.spawn.spawn_main = _ends_now(multiprocessing.spawn.spawn_main)
    take_part(data)


def take_part(data: dict[str, Any]) -> None:
    """Make the devices that a program has, in a process that it has started."""
    _of_a_script.append(True)
    # Found late: the package itself imports this module.
    from grader.vgpu import install  # noqa: PLC0415
    from grader.vgpu.timeline import on_timeline, profile  # noqa: PLC0415

    here = install(data["count"], data["limit"])
    if data["folder"] is None:
        return
    card = None if data["card"] is None else profile(data["card"])
    here.shared = Shared(Path(data["folder"]), card, data["arithmetic"], data["modules"])
    here.places = Places()
    # Until the process ends.
    here.places.counting().__enter__()
    if data["modules"]:
        here.memory_notes = MemoryNotes(here)
        here.memory_notes.counting().__enter__()
    tell_at_exit(here)
    note_faults(here.shared.folder)
    if card is not None:
        on_timeline(card, arithmetic=data["arithmetic"]).__enter__()


SETTINGS = "TORCHGRADE_VGPU"
"""Tells a Python process that the program starts what devices it has (``startup``)."""
_STARTUP = str(Path(__file__).parent / "startup")


@contextlib.contextmanager
def devices_for_children(here: Machine) -> Iterator[None]:
    """Let Python processes that the program starts by ``subprocess`` have the devices, too."""
    kept = {name: os.environ.get(name) for name in (SETTINGS, "PYTHONPATH")}
    paths = filter(None, [_STARTUP, os.environ.get("PYTHONPATH")])
    ours = {
        SETTINGS: json.dumps({**_settings(here), "root": _ROOT}),
        "PYTHONPATH": os.pathsep.join(paths),
    }
    os.environ.update(ours)
    here.patches.wrap(subprocess.Popen, "__init__", partial(_started_with, ours))
    try:
        yield
    finally:
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


_ISOLATED = (
    "a Python that is started with -I, -E or -S has no virtual GPUs: leave these options out"
)


def _is_isolated(command: Any) -> bool:
    """Tell whether a command is Python with an option that keeps its start-up hook away."""
    if not isinstance(command, (list, tuple)) or not command:
        return False
    program, *options = map(str, command)
    if not Path(program).name.startswith("python"):
        return False
    for option in options:
        # What follows these is not Python's own.
        if not option.startswith("-") or option[:2] in {"-c", "-m", "--"} or option == "-":
            return False
        if set(option[1:]) & set("IES"):
            return True
    return False


def _started_with(ours: dict[str, str], original: Any) -> Any:
    parameters = inspect.signature(original)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        """Start a process; one with an environment of its own has the devices as well."""
        given = parameters.bind(self, *args, **kwargs)
        if _is_isolated(given.arguments.get("args")):
            warnings.warn(_ISOLATED, RuntimeWarning, stacklevel=2)
        chosen = given.arguments.get("env")
        if chosen is not None and SETTINGS not in chosen:
            paths = [_STARTUP, *filter(None, [chosen.get("PYTHONPATH")])]
            given.arguments["env"] = {**chosen, **ours, "PYTHONPATH": os.pathsep.join(paths)}
        original(*given.args, **given.kwargs)

    return __init__


_FAULT = re.compile(r'File "(.+)", line (\d+) in ')
_FATAL = "Fatal Python error: "
_NOT_THE_PROGRAMS = (
    str(Path(__file__).parent), str(Path(torch.__file__).parent), sysconfig.get_path("stdlib"),
    "<frozen ",
)  # fmt: skip
_fault_files: list[TextIO] = []


def note_faults(folder: Path) -> None:
    """Let this process write down where it was, should a signal end it for what it did."""
    # Kept open until the process ends: there is no time for it later.
    file = (folder / f"{os.getpid()}.fault").open("w", encoding="utf-8")
    _fault_files[:] = [file]
    faulthandler.enable(file, all_threads=False)


def note_name(name: str) -> None:
    """Write down what this process is called, for whoever tells of its end."""
    for file in _fault_files:
        file.write(f"{name}\n")
        file.flush()


def forget_faults() -> None:
    """Take the note away: this process ends as it should."""
    for file in _fault_files:
        # A fork has its parent's.
        if Path(file.name).stem == str(os.getpid()):
            Path(file.name).unlink(missing_ok=True)


_PATIENCE = 5.0
"""Seconds for processes that end a little later than the script that has started them."""


def await_children(folder: Path) -> None:
    """Wait for processes that are yet to leave their accounts; for those that stay, not long."""
    ends = time.monotonic() + _PATIENCE
    while time.monotonic() < ends:
        going = (int(file.stem) for file in folder.glob("*.fault"))
        if not any(_goes_on(process) for process in going if process != os.getpid()):
            return
        time.sleep(0.02)


def _goes_on(process: int) -> bool:
    try:
        os.kill(process, 0)
        # One of this process's own that has ended is still there until it is waited for.
        return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ProcessLookupError:
        return False
    except (ChildProcessError, AttributeError):
        return True


Signals = dict[int, tuple[str, int]]
"""Process → its name, and the signal that ended it."""


def deaths(folder: Path, signals: Signals) -> Iterator[str]:
    """Yield which processes a signal has ended, and at which line of Python.

    Args:
        folder: Where the processes leave what they did.
        signals: Those that are known to have been ended.
    """
    texts = {int(file.stem): file.read_text("utf-8") for file in folder.glob("*.fault")}
    faulty = {process for process, text in texts.items() if _FATAL in text}
    for process in sorted({*signals, *faulty}):
        own, _, fault = texts.get(process, "").partition(_FATAL)
        name, number = signals.get(process, (own.strip() or f"process {process}", 0))
        cause = signal.Signals(number).name if number else fault.strip().partition("\n")[0]
        yield f"{name} was ended by {cause}{_line_of(fault)}"


def _line_of(fault: str) -> str:
    """Return the innermost line of the program's own, of what faulthandler wrote."""
    frames = [(file, int(line)) for file, line in _FAULT.findall(fault)]
    if not frames:
        return "."
    own = [frame for frame in frames if not frame[0].startswith(_NOT_THE_PROGRAMS)]
    file, line = (own or frames)[0]
    source = linecache.getline(file, line).strip()
    return f" in {file}, line {line}" + (f": {source}" if source else ".")


def _settings(here: Machine) -> dict[str, Any]:
    shared = here.shared
    card = None if shared is None or shared.card is None else shared.card.name
    return {
        "count": here.count,
        "limit": here.memory(0).limit,
        "folder": None if shared is None else str(shared.folder),
        "card": card,
        "arithmetic": shared is None or shared.arithmetic,
        "modules": shared is not None and shared.modules,
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
                results[rank] = _received(pipes[rank], children[rank], rank, file)
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


def _received(pipe: Connection, child: BaseProcess, rank: int, file: str) -> Any:
    failed: _Failed | None
    try:
        result, failed = pipe.recv()
    except EOFError:
        child.join()
        status = child.exitcode or 0
        cause = f" by {signal.Signals(-status).name}" if status < 0 else ""
        raise RuntimeError(f"process {rank} ended{cause} before its work was done") from None
    if failed is None:
        return result
    name, text, line = failed
    kind = getattr(builtins, name, RuntimeError)
    text = text if kind.__name__ == name else f"{name}: {text}"
    code = compile("\n" * (line - 1) + "raise error", file if line else __file__, "exec")
    exec(code, {"error": kind(f"{text} (in process {rank})")})  # noqa: S102  for file and line
    return None
