"""Every way in which Python text reaches an operation of torch, found by trying them.

What a text dispatches is told by a mode of torch's own, and not by the grader.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
import torch
import torch_spellings
from torch.utils._python_dispatch import TorchDispatchMode

from grader.observation import Claims, Observation, Outcome
from grader.static_analysis.analyse import analyse
from grader.student_process.probes import Counting

_HEAD = "import numpy as np\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
_NAMES = {"np": np, "torch": torch, "nn": torch.nn, "F": torch.nn.functional}
_SPACES = {
    "torch": torch,
    "F": torch.nn.functional,
    "torch.linalg": torch.linalg,
    "torch.special": torch.special,
    "torch.fft": torch.fft,
}
_GIVEN = ("x", "x[None]", "x.long()")
_MORE = (
    "", "0", "1.0", "0, 1", "(4, 4)", "[1]", "torch.float64", "0, 0, 2", "torch.ones(4, 4)",
    "torch.ones(4)", "torch.ones(4, 4), torch.ones(4, 4)", "0, torch.tensor([0, 1])",
    "torch.ones(4, 4), 1.0", "torch.arange(4)", "torch.ones(1, 4, 4)",
    "torch.ones(1, 4, 4), torch.ones(1, 4, 4)",
)  # fmt: skip
_MADE_WITH = ("", "4", "4, 4", "1", "dim=0", "4, 4, 1", "4, 1")
OPERATORS = (
    "x @ x", "x @= x", "x + 1", "1 + x", "x += 1", "x - 1", "1 - x", "x -= 1", "x * 2", "2 * x",
    "x *= 2", "x / 2", "2 / x", "x /= 2", "x // 2", "2 // x", "x //= 2", "x % 2", "5 % x", "x %= 2",
    "x ** 2", "2 ** x", "x **= 2", "-x", "abs(x)", "~x.bool()", "x < 2", "2 < x", "x > 2", "x == 2",
    "x != 2", "x <= 2", "x >= 2", "x.bool() & True", "True & x.bool()", "x.bool() | True",
    "x.bool() ^ True", "x.long() << 1", "1 << x.long()", "x.long() >> 1", "1.0 in x",
    "1.0 not in x", "reversed(x)", "x[0]", "x[1:]", "x[None]", "x[..., 0]", "x[x > 2]", "x[[0, 1]]",
    "x[torch.tensor([0])]", "x[0] = 1", "x[0] = x[1]", "x[x > 2] = 0", "x[0] += x[1]", "x.T",
    "x.mT", "x.H", "pow(x, 2)",
)  # fmt: skip
"""What needs no name."""


class _Dispatched(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def _text(body: str) -> str:
    return f"{_HEAD}def f(x):\n    {body}\n"


def _function(body: str) -> Any:
    space: dict[str, Any] = {}
    exec(compile(_text(body), "/f.py", "exec"), space)
    return space["f"]


def _square() -> torch.Tensor:
    return torch.arange(1.0, 17.0).reshape(4, 4)


def watched(body: str) -> Observation:
    """Return what is known of a function of ``x``, watched and read as a submission is."""
    x = _square()
    function, counting = _function(body), Counting({"/f.py": ""}, (x,))
    with counting:
        function(x)
    told = Observation(Outcome.COMPLETED, claims=Claims(probes={"counting": counting.report()}))
    source = analyse(_text(body).encode()).entries["f"]
    return Observation(Outcome.COMPLETED, counted={"": told}, source=source)


def dispatched(body: str) -> set[str] | None:
    """Return the operations that reach the dispatcher; None where the text raises."""
    x = _square()
    with suppress(Exception), _Dispatched() as mode:
        if body.startswith("return "):
            eval(body.removeprefix("return "), {**_NAMES, "x": x})
        else:
            _function(body)(x)
        return mode.names
    return None


@cache
def spellings() -> dict[str, set[str]]:
    """Return the texts that run, with what each dispatches."""
    found: dict[str, set[str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for texts in chain(_methods(), _functions(), _modules()):
            _keep_first(texts, found)
        for text in list(found):
            for other in _otherwise(text):
                _keep_first([other], found)
        for text in OPERATORS:
            _keep_first([text], found)
    return found


def _keep_first(texts: Iterable[str], found: dict[str, set[str]]) -> None:
    for text in texts:
        names = dispatched(text)
        if names is not None:
            found[text] = names
            return


def _methods() -> Iterator[Iterable[str]]:
    """Yield the ways in which each method of a tensor may be called."""
    for name, _ in torch_spellings.callables(torch.Tensor):
        yield (f"return {given}.{name}({more})" for given in _GIVEN for more in _MORE)


def _functions() -> Iterator[Iterable[str]]:
    for space, module in _SPACES.items():
        for name, _ in torch_spellings.callables(module):
            given = (f"{one}{', ' * bool(more)}{more}" for one in _GIVEN for more in _MORE)
            yield (f"return {space}.{name}({each})" for each in given)


def _modules() -> Iterator[Iterable[str]]:
    for name in json.loads(torch_spellings.FILE.read_text(encoding="utf-8"))["modules"]:
        yield (
            f"return nn.{name}({made})({given}{', ' * bool(more)}{more})"
            for made in _MADE_WITH for given in _GIVEN[:2]
            for more in ("", "torch.ones(4, 4)", "torch.arange(4)", f"{_GIVEN[0]}, torch.ones(4)")
        )  # fmt: skip


def _otherwise(text: str) -> Iterator[str]:
    """Yield the unbound method, a function by another name, and one that writes into ``out``."""
    called, _, given = text.removeprefix("return ").partition("(")
    space, _, name = called.rpartition(".")
    if space == "x":
        yield f"return torch.Tensor.{name}(x{', ' * (given != ')')}{given}"
    elif space == "torch":
        yield f"g = torch.{name}; return g({given}"
        yield f"from torch import {name} as g; return g({given}"
    if space.startswith("torch"):
        yield f"y = torch.empty(0); {called}({given[:-1]}, out=y); return y"
