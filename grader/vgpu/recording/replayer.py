"""Run a log again on new inputs; return its outputs and what the devices did meanwhile.

The new inputs are drawn after the log was written. A log that still gives the right outputs is
therefore a right program, and its devices, copies and memory can be believed. Only operations that
the judged outputs depend on are run and counted, so decoy work beside the result earns nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from grader.vgpu.core.machine import rounded
from grader.vgpu.core.trace import Allocation, Kernel, Mark, Release, Synchronisation, TraceEvent
from grader.vgpu.core.values import Value
from grader.vgpu.recording.descriptors import LoggedLayout, MalformedError, UnsafeError
from grader.vgpu.recording.player import (
    HOST,
    Player,
    UnlistedError,
    UnrepeatableError,
    name_of,
    outputs_of,
)
from grader.vgpu.recording.program import Program, read_program
from grader.vgpu.recording.summary import summarise
from grader.vgpu.timeline.clock import afterwards
from grader.vgpu.timeline.profiles import Profile

_UNUSED = "unused on "
"""Stands before the device of a parameter on which nothing that is judged rests."""


def replay(
    data: Mapping[Any, Any],
    leaves: Mapping[str, torch.Tensor],
    own: Mapping[str, torch.Tensor],
    gpus: int,
    card: Profile | None = None,
) -> dict[str, Any]:
    """Run a log again, and return everything in plain values.

    ::

        {"state": "ran", "why": "", "outputs": {…}, "own": None, "outside": False, "reads": False,
         "parts": {"forward": {…}}, "times": {"forward": {…}}, "placement": {…}}

    Args:
        data: What ``Log.as_values`` returned, by way of a process that may be hostile.
        leaves: New values by the names of leaves.
        own: The values that the process had, for a log that other inputs lead astray.
        gpus: Number of devices.
        card: Profile of every device, for times.
    """
    result: dict[str, Any] = {
        "state": "ran", "why": "", "outputs": {}, "own": None, "outside": False, "reads": False,
        "parts": {}, "times": {}, "placement": {},
    }  # fmt: skip
    try:
        if data.get("why"):
            raise UnlistedError(str(data["why"])[:200])
        program = read_program(data)
        result |= _run_again(program, _Plan(program, gpus), data, (leaves, own), card)
    except UnlistedError as error:
        result |= {"state": "unlisted", "why": str(error)}
    except UnrepeatableError as error:
        result |= {"state": "unrepeatable", "why": str(error)}
    except (MalformedError, UnsafeError) as error:
        result |= {"state": "malformed", "why": str(error)}
    return result


Leaves = Mapping[str, torch.Tensor]


def _run_again(
    program: Program, plan: _Plan, data: Any, leaves: tuple[Leaves, Leaves], card: Profile | None
) -> dict[str, Any]:
    """Run a program on the first leaves; where it depends on what it read, on the second too."""
    result: dict[str, Any] = {"reads": program.reads, "outside": plan.outside}
    events: list[tuple[int, TraceEvent]] = []
    if program.reads:
        result["own"], events = _run(program, plan, data, leaves[1])
    try:
        result["outputs"], events = _run(program, plan, data, leaves[0])
    except UnrepeatableError as error:
        if not program.reads:
            raise
        result |= {"state": "unrepeatable", "why": str(error)}
    parts = [_ReplayedPart(program, plan, name, events) for name in plan.parts]
    result["placement"] = plan.placement()
    result["parts"] = {part.name: part.report() for part in parts}
    if card is not None:
        result["times"] = {part.name: part.times(card) for part in parts}
    return result


def _run(
    program: Program, plan: _Plan, data: Any, leaves: Leaves
) -> tuple[dict[str, Any], list[tuple[int, TraceEvent]]]:
    player = Player(program, leaves, data["constants"])
    # Reference and submission draw the same random numbers in their replays.
    torch.default_generator.manual_seed(0)
    with torch.no_grad():
        for number, entry in enumerate(program.entries):
            # Only what the outputs rest on: decoy work is neither run nor counted.
            if number in plan.kept or entry.what.kind == "free":
                player.play(number, entry)
    return player.outputs, player.events


class _Plan:
    """What of a program is run, and what for.

    Attributes:
        parts: Name → numbers of the entries that begin and end it.
        kept: Entries to run.
        outside: Bytes from outside torch are among what the outputs rest on.
    """

    def __init__(self, program: Program, gpus: int) -> None:
        self._program = program
        entries = program.entries
        # The log's word: without this it could spread its work over devices that the case does not
        # have.
        if any(home >= gpus for home in program.homes.values()):
            raise MalformedError("a device that there is not")
        ends = [n for n, entry in enumerate(entries) if entry.what.kind in ("output", "end")]
        names = {entries[n].what.fields[1] for n in ends if entries[n].what.kind == "end"}
        self.parts = {str(name): program.window(name) for name in sorted(names)}
        origin = program.ancestry(ends)
        self._used, self.outside = origin.memory, origin.outside
        self.kept = origin.entries | {n for n, entry in enumerate(entries)
                      if entry.what.kind in ("Synchronisation", "Mark")}  # fmt: skip
        self._judged = {handle for n in ends for handle in entries[n].handles}

    def placement(self) -> dict[str, Any]:
        """Return where the tensors of a model lie, and those that it returned."""
        found: dict[str, Any] = {}
        for entry in self._program.entries:
            what = entry.what
            if what.kind == "place":
                _, name, kind, _, wants = what.fields
                found[str(name)] = self._placed(kind, what.layouts[0], entry.handles[0], wants)
            elif what.kind == "end":
                for (name, _), layout, handle in outputs_of(entry):
                    found[str(name)] = self._placed("output", layout, handle, False)
        return found

    def _placed(
        self, kind: str, layout: LoggedLayout | None, handle: int, wants: Any
    ) -> dict[str, Any]:
        assert layout is not None
        device = name_of(self._program.homes[handle])
        if not self._counts(kind, layout, handle):
            device = _UNUSED + device
        shape = list(layout.shape)
        size = torch.Size(shape).numel() * layout.dtype.itemsize
        return {"kind": str(kind), "device": device, "shape": shape, "bytes": size,
                "requires_grad": bool(wants)}  # fmt: skip

    def _counts(self, kind: str, layout: LoggedLayout, handle: int) -> bool:
        """Tell whether something judged rests on this very memory, or is this memory."""
        if kind in ("gradient", "output"):
            return handle in self._judged
        # A count of batches is a buffer, too; in eval mode nobody reads it.
        return handle in self._used or not layout.dtype.is_floating_point or 0 in layout.shape


class _ReplayedPart:
    """What devices did in a part of the course, for its outputs alone."""

    def __init__(
        self, program: Program, plan: _Plan, name: str, events: list[tuple[int, TraceEvent]]
    ) -> None:
        self._program = program
        self.name = name
        begin, end = plan.parts[name]
        kept = program.ancestry([end]).entries
        inputs = program.entries[begin].what.fields[2]
        following = program.following(inputs, kept)
        self._begin, self._end = begin, end
        waits = (Synchronisation, Mark)
        # Work on the inputs counts wherever it stands: it could have been done before. Only what
        # an earlier part rests on as well was counted there.
        for _, other in plan.parts.values():
            if other < begin:
                following -= program.ancestry([other]).entries
        self.events = [
            event
            for number, event in events
            if (begin < number < end and (number in kept or isinstance(event, waits)))
            or (number < begin and number in following and _weighs(event))
        ]
        self._devices = sorted({home for home in program.homes.values() if home != HOST})

    def report(self) -> dict[Value, Value]:
        """Return it in the form of ``grader.vgpu.recording.summary``."""
        changes = summarise(self._changes())
        live = dict.fromkeys(self._devices, 0)
        for number, device, size, _ in self._program.taken:
            if number < self._end and device != HOST:
                live[device] += _blocks(size)
        held = {
            name_of(device): changes.held(name_of(device), live[device], None)
            for device in self._devices
        }
        return summarise(self.events).report(held, real=False)

    def times(self, card: Profile) -> dict[Value, Value]:
        """Return it on a timeline."""
        on_devices = [
            event for event in self.events
            if not (isinstance(event, Kernel) and event.device == name_of(HOST))
        ]  # fmt: skip
        return afterwards(on_devices, card, [name_of(device) for device in self._devices])

    def _changes(self) -> Iterator[TraceEvent]:
        for number, device, size, handle in self._program.taken:
            if self._begin < number < self._end and device != HOST:
                kind = Allocation if size >= 0 else Release
                yield kind(name_of(device), abs(_blocks(size)), handle)


def _blocks(size: int) -> int:
    # Away from zero, so that taking a block and giving it back cancel.
    return rounded(size) if size >= 0 else -rounded(-size)


def _weighs(event: TraceEvent) -> bool:
    return isinstance(event, Kernel) and event.flops > 0
