"""What a call's result descends from: a device's work beside it is no part of the call's work.

A submission may compute its answer on the CPU and drop a product on the GPU. Both happen, and the
trace says so. Here the call's log is followed back from what it returned. Like the trace, this is
the word of the process that the call runs in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

import torch

from grader.vgpu.core.machine import Machine
from grader.vgpu.core.tensor import UnwritableError, VirtualTensor
from grader.vgpu.core.trace import Kernel
from grader.vgpu.log.collector import Log, logged
from grader.vgpu.log.descriptors import READS, Entry, MalformedError, UnsafeError
from grader.vgpu.log.player import HOST, Player, UnlistedError, UnrepeatableError, name_of
from grader.vgpu.log.program import Program, read_program
from grader.vgpu.log.summary import DeviceWatch, summarise
from grader.wire.values import Value

_CALL = "call"


class CallWatch:
    """Watches a call; of the kernels on virtual devices, those that its result descends from.

    Copies, memory and waits are all that there were: what is copied for nothing costs time as well.
    On real GPUs, and where the log cannot be followed, the kernels too are all that there were.

    Args:
        machine: Virtual devices; None for real ones.
        target: What is called.
        inputs: Tensors that the call gets.

    Attributes:
        report: As of ``DeviceWatch``. ``dropped`` are the FLOPs of the kernels that are left out.
    """

    def __init__(
        self, machine: Machine | None, target: Callable[..., Any], inputs: Iterable[torch.Tensor]
    ) -> None:
        self.report: dict[Value, Value] = {}
        self._machine = machine
        self._target = target
        self._leaves = {f"x{number}": item for number, item in enumerate(inputs)}

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Make the call, and return what it returns."""
        # Copies: a call may change its arguments, and the log is followed once it is over.
        before = {name: item.clone() for name, item in self._leaves.items()}
        follows = self._machine is not None and all(map(_alone, self._leaves.values()))
        with logged() if follows else nullcontext() as log, DeviceWatch(self._machine) as watch:
            if log:
                self._begin(log)
            result = self._target(*args, **kwargs)
            if log:
                _end(log, result)
        self.report = watch.report
        used = _descended(log, before) if log else None
        if used is not None:
            dropped = max(0, _flops(self.report["kernels"]) - _flops(used))
            self.report = {**self.report, "kernels": used, "dropped": dropped}
        return result

    def _begin(self, log: Log) -> None:
        for name, item in self._leaves.items():
            log.leaf(name, item)
        log.begin(_CALL, *self._leaves)


def _end(log: Log, result: Any) -> None:
    try:
        log.end(_CALL, result)
    except UnwritableError as error:
        # A result that no log can hold, a sparse tensor say, is for the checks of values to judge.
        log.why = str(error)


def _alone(tensor: torch.Tensor) -> bool:
    """Tell whether a tensor has memory of its own, on the host, as a leaf has."""
    whole = tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
    return whole and tensor.is_contiguous() and not isinstance(tensor, VirtualTensor)


def _flops(kernels: Any) -> int:
    return sum(item["flops"] for item in kernels)


def _descended(log: Log, leaves: dict[str, torch.Tensor]) -> Value | None:
    """Return the kernels on devices from which the result descends; None if nobody can tell."""
    values = log.as_values()
    if values["why"]:
        return None
    try:
        program = read_program(values)
        kept = _kept(program)
        player = Player(program, leaves, values["constants"])
        with torch.no_grad():
            for number, entry in enumerate(program.entries):
                if number in kept or entry.what.kind == "free":
                    player.play(number, entry)
    # An honest call may do what no log can hold. Then the trace is believed, as on a real GPU.
    except (UnlistedError, UnrepeatableError, MalformedError, UnsafeError):
        return None
    host = name_of(HOST)
    work = (event for _, event in player.events
            if isinstance(event, Kernel) and event.device != host)  # fmt: skip
    return summarise(work).report({}, real=False)["kernels"]


def _kept(program: Program) -> set[int]:
    _, end = program.window(_CALL)
    found = program.ancestry([end])
    if found.outside or not program.entries[end].handles:
        # The result went through NumPy or a list. Elements of a device leave torch only after they
        # came home, so what came home may be in it.
        found = program.ancestry([end, *_homecomings(program)])
    return found.entries


def _homecomings(program: Program) -> Iterable[int]:
    for number, entry in enumerate(program.entries):
        if entry.what.kind in ("op", "move") and _comes_home(program, entry):
            yield number


def _comes_home(program: Program, entry: Entry) -> bool:
    homes = program.homes
    if all(homes[handle] == HOST for handle in entry.read()):
        return False
    reads = entry.what.kind == "op" and entry.what.fields[1] in READS
    return reads or any(homes[handle] == HOST for handle in (*entry.fresh(), *entry.changed()))
