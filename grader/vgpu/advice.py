"""Advice on a script: which of its lines make GPUs wait, how often in a step, and what to write.

While there are ``Places``, each wait of the host and each copy is noted with the line of the
program that it came from, and so are losses that are added with their graphs, evaluations that keep
one, and small operations. A step is a call of an optimizer's ``step``. A line is named by what it
did, each time that it was run. Its text only tells apart what looks alike from below: whether
a small operation stands in a loop, and whether what is copied was computed on the CPU.
"""

from __future__ import annotations

import ast
import linecache
import sys
import sysconfig
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.modules import module as torch_modules
from torch.optim.optimizer import register_optimizer_step_post_hook

from grader.vgpu.words import said

_TORCH = str(Path(torch.__file__).parent)
# Python of torch's that only hands on what the program asked for.
_HANDING_ON = tuple(str(Path(_TORCH, name)) for name in ("functional.py", "_jit_internal.py"))
_LIBRARIES = sysconfig.get_path("purelib")
_NOT_THE_PROGRAMS = (
    str(Path(__file__).parent), _LIBRARIES, _TORCH, sysconfig.get_path("stdlib"), "<frozen ",
)  # fmt: skip
MANY = 100
"""Times in all that count as a loop in a program without an optimizer."""


class Done(NamedTuple):
    """What a line did: how often, and in how many steps."""

    place: Place
    often: int
    turns: int


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
    "pieces": "copies a batch to the GPU piece by piece, and each copy costs a launch: torch.stack "
    "on the CPU, and one copy",
    "saved": "saves tensors of the GPU, for which it waits: save once an epoch",
    "computed": "computes on the CPU what it copies then, and the GPU waits for it: copy first, "
    "and compute on the GPU",
    "graph": "adds losses with their graphs, which are all kept: total += loss.detach()",
    "evaluated": "evaluates a model and keeps a graph that nothing goes back through: with "
    "torch.no_grad():",
    "small": "runs small operations one by one in a loop, and each costs its launch: one operation "
    "on the whole tensor",
    "moved": "moves a model that was there before: move it once, when it is made",
    "replicated": "copies all parameters to each GPU again, as nn.DataParallel does at each call: "
    "use DistributedDataParallel, a process for each GPU",
}
_SAME_AS = {
    "torch.accelerator.synchronize": "torch.cuda.synchronize", "Stream.synchronize":
    "torch.cuda.synchronize", "masked_select": "nonzero", "unique": "nonzero", "equal": "item",
}  # fmt: skip


_SUMS = frozenset({"add", "add_"})
_LONG = 3
"""Steps over which a sum of losses goes on before it is named: two optimizers make two of one."""
_SMALL = 2**20
"""Bytes that a kernel moves in less time than its launch takes."""
_SAMPLED = 7
"""Of so many small kernels one is looked at: finding its line costs as much as running it."""
_MANY_SMALL = 16
_PIECES = 8
"""Copies of one line in a step that are a batch's rows; a dict of a batch has fewer tensors."""
_FEW = 3
"""Steps, or evaluations that keep a graph, that are few enough to be none of a loop."""
_NEARLY_ALL = 0.9
_LEAST: dict[str, Callable[[int], float]] = {
    "evaluated": lambda _: _FEW,
    # It is counted from the third step of a sum on.
    "graph": lambda steps: max(_FEW, _NEARLY_ALL * steps),
}
_LOOPED = frozenset({"small", "pieces"})
_BELOW_TORCH = frozenset({"replicated", "evaluated", "moved", "saved"})


class Places:
    """Where the program waits and copies.

    Attributes:
        counts: How often, by place.
        turns: In how many steps, by place.
        events: Numbers of the trace's events, by place, where there is a timeline.
        steps: Of the optimizer that took most: others take theirs in the same turns.
    """

    def __init__(self) -> None:
        self.counts: Counter[Place] = Counter()
        self.turns: Counter[Place] = Counter()
        self._latest: dict[Place, int] = {}
        self.events: dict[Place, list[int]] = {}
        self.steps = 0
        self._lock = threading.Lock()
        # What came from a device, weakly, with its version: what was changed since is no waste.
        self._came: weakref.WeakKeyDictionary[torch.UntypedStorage, int] = (
            weakref.WeakKeyDictionary()
        )
        # Sums that have a graph, weakly: over how many steps they go on, and the step of the last.
        self._sums: weakref.WeakKeyDictionary[torch.UntypedStorage, tuple[int, int]] = (
            weakref.WeakKeyDictionary()
        )
        self._small = 0
        self._steps_of: Counter[int] = Counter()
        # What moved parameters hold now, weakly: a weak reference to one itself would forbid torch
        # to exchange it.
        self._moved: weakref.WeakSet[torch.UntypedStorage] = weakref.WeakSet()
        # Place → the parameter that counts there: a model is moved once, whatever it has.
        self._counted: dict[Place, int] = {}
        self._hooks: list[Any] = []
        self._depth = threading.local()

    def note(self, what: str, event: int = -1, *, times: int = 1) -> Place | None:
        """Note the line of the program that is running, and return it.

        What torch does by itself is none of the program's choice, as ``GradScaler.step`` waits.

        Args:
            what: It does.
            event: Number of the event, where there is a timeline.
            times: As often as it counts.
        """
        what = _SAME_AS.get(what, what)
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_NOT_THE_PROGRAMS):
            # What a library does with small operations is none of the program's either.
            file, whose = frame.f_code.co_filename, _LIBRARIES if what == "small" else _TORCH
            hands_on = what in _BELOW_TORCH or file in _HANDING_ON
            if file.startswith(whose) and not hands_on:
                return None
            frame = frame.f_back
        if frame is None or (what not in _ADVICE and what != "to device"):
            return None
        place = Place(what, frame.f_code.co_filename, frame.f_lineno)
        with self._lock:
            self.counts[place] += times
            if self._latest.get(place) != self.steps:
                self._latest[place] = self.steps
                self.turns[place] += 1
            if event >= 0:
                self.events.setdefault(place, []).append(event)
        return place

    def came(self, tensor: torch.Tensor, event: int = -1) -> None:
        """Note a copy to the host, and what it made there."""
        self.note("to host", event)
        self._came[tensor.untyped_storage()] = _version(tensor)

    def goes(self, tensor: torch.Tensor, event: int = -1, *, in_vain: bool) -> None:
        """Note a copy to a device.

        Args:
            tensor: On the host.
            event: Number of the event, where there is a timeline.
            in_vain: It was not to wait, and does.
        """
        if self._came.get(tensor.untyped_storage()) == _version(tensor):
            self.note("back", event)
        elif in_vain:
            self.note("unpinned", event)
        else:
            self.note("to device", event)

    def moves(self, parameter: torch.Tensor, copy: torch.Tensor) -> None:
        """Note that a parameter goes elsewhere again; of all at a line, the first counts."""
        again = _storage(parameter) in self._moved
        self._moved.add(_storage(copy))
        place = self.note("moved", times=0) if again else None
        if place is not None and self._counted.setdefault(place, id(parameter)) == id(parameter):
            self.counts[place] += 1

    def kernel(self, op: str, args: tuple[Any, ...], result: Any, size: int) -> None:
        """Note a kernel, where it may be a part of something that is named.

        Args:
            op: ATen's name.
            args: What it got.
            result: What it returned.
            size: Bytes that it read and wrote.
        """
        if op in _SUMS and torch.is_grad_enabled() and result.numel() == 1:
            self._summed(args, result)
        if size <= _SMALL and torch._C._current_graph_task_id() < 0:
            self._small += 1
            if self._small % _SAMPLED == 0:
                self.note("small", times=_SAMPLED)

    def _summed(self, args: tuple[Any, ...], result: torch.Tensor) -> None:
        parts = [each for each in args[:2] if isinstance(each, torch.Tensor) and each.requires_grad]
        before = [self._sums[s] for s in map(_storage, parts) if s in self._sums]
        if not parts:
            return
        length, step = max(before, default=(0, -1))
        goes_on = step < self.steps
        self._sums[_storage(result)] = length + goes_on, self.steps
        if goes_on and length + 1 >= _LONG:
            self.note("graph", times=_LONG if length + 1 == _LONG else 1)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count the steps of optimizers, and look at models that are evaluated or saved."""
        handle = register_optimizer_step_post_hook(self._stepped)
        evaluate, save = nn.Module.eval, torch.save

        @wraps(save)
        def saving(obj: Any, *args: Any, **kwargs: Any) -> None:
            if any(each.is_cuda for each in _tensors(obj)):
                self.note("saved")
            save(obj, *args, **kwargs)

        def evaluating(module: Any) -> Any:
            self._look_at_calls()
            return evaluate(module)

        nn.Module.eval = evaluating  # type: ignore[method-assign, assignment]
        torch.save = saving
        try:
            yield
        finally:
            torch.save = save
            nn.Module.eval = evaluate  # type: ignore[method-assign]
            for each in (handle, *self._hooks):
                each.remove()
            self._hooks.clear()

    def _stepped(self, optimizer: Any, *_: Any) -> None:
        self._steps_of[id(optimizer)] += 1
        self.steps = max(self.steps, self._steps_of[id(optimizer)])

    @property
    def done(self) -> tuple[Done, ...]:
        """What the lines of the program did."""
        return tuple(Done(place, count, self.turns[place]) for place, count in self.counts.items())

    def _look_at_calls(self) -> None:
        # Not before there is something to see: hooks make each call of a module slower.
        if not self._hooks:
            self._hooks += [
                torch_modules.register_module_forward_pre_hook(self._begins),
                torch_modules.register_module_forward_hook(self._ends, always_call=True),
            ]

    def _begins(self, *_: Any) -> None:
        self._depth.now = getattr(self._depth, "now", 0) + 1

    def _ends(self, module: nn.Module, _: Any, output: Any) -> None:
        self._depth.now = max(getattr(self._depth, "now", 0) - 1, 0)
        if self._depth.now or module.training or not torch.is_grad_enabled():
            return
        graph = next((each.grad_fn for each in _tensors(output) if each.is_cuda), None)
        place = None if graph is None else self.note("evaluated")
        if place is not None and graph is not None:
            # An attack or a picture that is optimized goes back through it: it does not count.
            used: list[bool] = []

            def going_back(_: Any) -> None:
                self.counts[place] -= not used
                used.append(True)

            graph.register_prehook(going_back)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each)
    elif isinstance(value, Mapping):
        yield from _tensors(tuple(value.values()))


def _storage(tensor: torch.Tensor) -> torch.UntypedStorage:
    return tensor.untyped_storage()


def _version(tensor: torch.Tensor) -> int:
    # Nobody counts changes of tensors that are made in inference mode.
    return -1 if tensor.is_inference() else tensor._version


Processes = Sequence[tuple[Iterable[Done], int]]
"""What the lines of each process did, and in how many steps."""


def advice(processes: Processes, costs: Mapping[Place, str] | None = None) -> Iterator[str]:
    """Yield what to change, the line that does it most often first.

    Args:
        processes: All that the program had.
        costs: What a place costs, in words, where there is a timeline.
    """
    steps = sum(steps for _, steps in processes)
    for place, count in named(processes):
        # Of small operations only some are looked at.
        digits = 2 if place.what == "small" else 3
        each = f"{count / steps:.{digits}g}" if steps else str(count)
        often = said("{count}× a step", count=each) if steps else said("{count}×", count=each)
        cost = f" ({costs[place]})" if costs and place in costs else ""
        yield said(
            "{file}, line {line}, {often}: {advice}.", file=Path(place.file).name,
            line=place.line, often=often + cost, advice=said(_ADVICE[place.what]),
        )  # fmt: skip


def named(processes: Processes) -> list[tuple[Place, int]]:
    """Return the places that advice names, and how often all processes did it, most often first."""
    total, found = Counter[Place](), set[Place]()
    for lines, steps in processes:
        for place, count, turns in lines:
            kind = looked_at(place)
            total[kind] += count
            if _is_named(kind, count, turns, steps):
                found.add(kind)
    return sorted(((place, total[place]) for place in found), key=lambda each: (-each[1], each[0]))


def _is_named(place: Place, count: int, turns: int, steps: int) -> bool:
    if place.what not in _ADVICE:
        return False
    if place.what in _LEAST:
        return count >= _LEAST[place.what](steps)
    least = (steps or MANY) * {"small": _MANY_SMALL, "pieces": _PIECES}.get(place.what, 1)
    # A loop over the parameters, as for a checkpoint, does much in one step and nothing in others.
    # Without steps nobody knows which copies belong to one batch.
    goes_on = turns >= max(_FEW, _NEARLY_ALL * steps) if steps else place.what != "pieces"
    return goes_on and count >= least and (place.what not in _LOOPED or _in_loop(place))


def looked_at(place: Place) -> Place:
    """Return a place by what its line says of a copy: what was made or computed on the CPU.

    All others may be pieces of a batch, if they are many.
    """
    if place.what != "to device":
        return place
    kinds = {_of_copied(copied, place) for copied in _copied_at(place)} - {""}
    return place._replace(what=min(kinds, default="pieces"))


_MAKERS = frozenset({
    "zeros", "ones", "full", "empty", "eye", "arange", "linspace", "rand", "randn", "randint",
    "tensor",
})  # fmt: skip
_COMPUTING = frozenset({
    "flip", "fliplr", "flipud", "roll", "rot90", "mul", "mul_", "add", "add_", "sub", "sub_", "div",
    "div_", "clamp", "clamp_", "pow", "normal_", "bernoulli_", "interpolate", "pad", "where",
    "matmul", "einsum", "softmax", "one_hot",
})  # fmt: skip


@lru_cache
def _tree(file: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _copied_at(place: Place) -> Iterator[ast.expr]:
    """Yield what is copied to a device at a line."""
    for node in ast.walk(_tree(place.file)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in {"cuda", "to"}
            and node.lineno <= place.line <= (node.end_lineno or node.lineno)
        ):
            yield node.func.value


def _of_copied(copied: ast.expr, place: Place) -> str:
    if isinstance(copied, ast.Call) and _is_made(copied):
        return "made"
    if isinstance(copied, ast.Name):
        return "computed" if any(map(_computes, _set_before(copied.id, place))) else ""
    return "computed" if _computes(copied) else ""


def _set_before(name: str, place: Place) -> Iterator[ast.expr]:
    """Yield what a name is set to before a line, inside the innermost loop around it."""
    loops = [node for node in ast.walk(_tree(place.file)) if _is_around(node, place)]
    for node in ast.walk(loops[-1]) if loops else ():
        if (
            isinstance(node, ast.Assign)
            and node.lineno < place.line
            and any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
        ):
            yield node.value


def _is_made(node: ast.expr) -> bool:
    """Tell whether a function of torch makes a tensor, of nothing or of what such a one made."""
    if not isinstance(node, ast.Call):
        return False
    name, first = _name_of(node.func), node.args[0] if node.args else None
    if name in {"from_numpy", "as_tensor"}:
        return first is not None and any(map(_draws, ast.walk(first)))
    return name in _MAKERS or (bool(name) and first is not None and _is_made(first))


def _draws(node: ast.AST) -> bool:
    """Tell whether NumPy makes an array: ``np.zeros(3)``, ``np.random.randn(3)``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    whose = node.func.value
    drawn = isinstance(whose, ast.Attribute) and whose.attr == "random"
    return drawn or (isinstance(whose, ast.Name) and node.func.attr in _MAKERS)


def _computes(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.BinOp):
        return not isinstance(node.left, ast.Constant) or not isinstance(node.right, ast.Constant)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in _COMPUTING or _computes(node.func.value)


def _name_of(function: ast.expr) -> str:
    """Return ``ones`` of ``torch.ones``."""
    whole = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    return function.attr if whole and function.value.id == "torch" else ""  # type: ignore[attr-defined]


_LOOPS = ast.For, ast.While, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp


def _is_around(node: ast.AST, place: Place) -> bool:
    return isinstance(node, _LOOPS) and node.lineno <= place.line <= (node.end_lineno or 0)


def _in_loop(place: Place) -> bool:
    return any(_is_around(node, place) for node in ast.walk(_tree(place.file)))
