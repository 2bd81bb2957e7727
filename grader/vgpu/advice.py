"""Advice on a script: which of its lines make GPUs wait, how often in a step, and what to write.

While there are ``Places``, each wait of the host and each copy is noted with the line of the
program that it came from. A step is a call of an optimizer's ``step``. Nothing is guessed from
texts: a line is named by what it did, each time that it was run.
"""

from __future__ import annotations

import linecache
import re
import sys
import sysconfig
import threading
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from grader.vgpu.words import said

_TORCH = str(Path(torch.__file__).parent)
_NOT_THE_PROGRAMS = (
    str(Path(__file__).parent), _TORCH, sysconfig.get_path("stdlib"), "<frozen ",
)  # fmt: skip
_MADE = re.compile(
    r"torch\.(zeros|ones|full|empty|eye|arange|linspace|rand|randn|randint|tensor)\(.*\)\.(cuda|to)\("
)
MANY = 100
"""Times in all that count as a loop in a program without an optimizer."""


class Place(NamedTuple):
    """A line of the program, and what it did there: a key of ``_ADVICE``."""

    what: str
    file: str
    line: int


_ADVICE = {
    "item": "reads a number from the GPU and waits for it: keep sums on the GPU (total += "
    "loss.detach()) and read them once, after the loop",
    "print": "prints a tensor of the GPU and waits for it: print every hundredth step",
    "to host": "copies to the CPU and waits: keep results on the GPU and copy them once, after the "
    "loop",
    "torch.cuda.synchronize": "waits for all work of the GPU: only a measurement of time needs it",
    "torch.cuda.empty_cache": "gives memory back, waits, and asks for it again: leave it out; free "
    "memory is used again by itself",
    "nonzero": "needs to know how many elements a mask selects, and waits: use torch.where, or "
    "multiply by the mask",
    "unpinned": "copies with non_blocking=True from memory that is not page-locked, and so waits "
    "all the same: DataLoader(pin_memory=True), or pin_memory()",
    "back": "brings to the GPU what came from there unchanged: leave it on the GPU",
    "made": "makes a tensor on the CPU and copies it: pass device= to the function that makes it",
    "replicated": "copies all parameters to each GPU again, as nn.DataParallel does at each call: "
    "use DistributedDataParallel, a process for each GPU",
}
_SAME_AS = {
    "torch.accelerator.synchronize": "torch.cuda.synchronize", "Stream.synchronize":
    "torch.cuda.synchronize", "masked_select": "nonzero", "unique": "nonzero", "equal": "item",
}  # fmt: skip


class Places:
    """Where the program waits and copies.

    Attributes:
        counts: How often, by place.
        steps: Of optimizers.
    """

    def __init__(self) -> None:
        self.counts: Counter[Place] = Counter()
        self.steps = 0
        self._lock = threading.Lock()
        # What came from a device, weakly, with its version: what was changed since is no waste.
        self._came: weakref.WeakKeyDictionary[torch.UntypedStorage, int] = (
            weakref.WeakKeyDictionary()
        )

    def note(self, what: str) -> None:
        """Note the line of the program that is running.

        What torch does by itself is none of the program's choice, as ``GradScaler.step`` waits.
        """
        what = _SAME_AS.get(what, what)
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_NOT_THE_PROGRAMS):
            if what != "replicated" and frame.f_code.co_filename.startswith(_TORCH):
                return
            frame = frame.f_back
        if frame is not None and (what in _ADVICE or what == "to device"):
            with self._lock:
                self.counts[Place(what, frame.f_code.co_filename, frame.f_lineno)] += 1

    def came(self, tensor: torch.Tensor) -> None:
        """Note a copy to the host, and what it made there."""
        self.note("to host")
        self._came[tensor.untyped_storage()] = _version(tensor)

    def goes(self, tensor: torch.Tensor, *, in_vain: bool) -> None:
        """Note a copy to a device.

        Args:
            tensor: On the host.
            in_vain: It was not to wait, and does.
        """
        if self._came.get(tensor.untyped_storage()) == _version(tensor):
            self.note("back")
        elif in_vain:
            self.note("unpinned")
        else:
            self.note("to device")

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count the steps of optimizers."""
        handle = register_optimizer_step_post_hook(self._stepped)
        try:
            yield
        finally:
            handle.remove()

    def _stepped(self, *_: Any) -> None:
        self.steps += 1


def _version(tensor: torch.Tensor) -> int:
    # Nobody counts changes of tensors that are made in inference mode.
    return -1 if tensor.is_inference() else tensor._version


def advice(counts: Iterable[tuple[Place, int]], steps: int) -> Iterator[str]:
    """Yield what to change, the line that does it most often first.

    Args:
        counts: How often, by place, in all processes together.
        steps: Likewise.
    """
    total: Counter[Place] = Counter()
    for place, count in counts:
        total[_looked_at(place)] += count
    for place, count in sorted(total.items(), key=lambda each: (-each[1], each[0])):
        if place.what in _ADVICE and count >= (max(steps, 2) if steps else MANY):
            each = f"{count / steps:.3g}" if steps else str(count)
            often = said("{count}× a step", count=each) if steps else said("{count}×", count=each)
            yield said(
                "{file}, line {line}, {often}: {advice}.", file=Path(place.file).name,
                line=place.line, often=often, advice=said(_ADVICE[place.what]),
            )  # fmt: skip


def _looked_at(place: Place) -> Place:
    if place.what == "to device" and _MADE.search(linecache.getline(place.file, place.line)):
        return place._replace(what="made")
    return place
