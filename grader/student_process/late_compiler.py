"""A stand-in for torch's compiler until something is compiled.

Torch imports ``torch._dynamo`` with the first optimiser, only to be told that nothing is being
compiled. The import takes as long as that of torch itself, for whoever waits for a first result.
So a stand-in answers what an optimiser asks; anything else that it is asked imports the compiler,
which takes its place.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import torch

_DYNAMO = "torch._dynamo"
_CACHE = "__dynamo_disable"
"""Where torch keeps what ``disable`` made of a function."""


class _CompilerPart:
    """A module below the compiler, of which some things are known beforehand.

    Args:
        whole: The stand-in.
        name: The module's, below it.
        known: Name → what stands there where nothing is compiled.
    """

    def __init__(self, whole: LateCompiler, name: str, **known: Callable[..., Any]) -> None:
        self._whole, self._name = whole, name
        vars(self).update(known)

    def __getattr__(self, name: str) -> Any:
        return getattr(getattr(self._whole.load(), self._name), name)


class LateCompiler(ModuleType):
    """Answers as the compiler does where nothing is compiled, and imports it for all else."""

    def __init__(self) -> None:
        super().__init__(_DYNAMO)
        self.__spec__ = find_spec(_DYNAMO)
        # Whoever goes through all modules asks for these, and needs no compiler for it.
        self.__file__ = self.__spec__.origin if self.__spec__ else None
        self.__loader__ = self.__spec__.loader if self.__spec__ else None
        self.__package__ = _DYNAMO
        # Torch clears the compiler's notes with each group of processes; there are none yet.
        self.trace_rules = _CompilerPart(self, "trace_rules", clear_lru_cache=lambda: None)
        # Asked by ``DistributedDataParallel``; the answer is that of the compiler's own defaults.
        self.utils = _CompilerPart(self, "utils", get_optimize_ddp_mode=lambda: "ddp_optimizer")
        # What ``torch.func.grad`` surrounds its work with.
        self.compiled_autograd = _CompilerPart(self, "compiled_autograd", _disable=nullcontext)
        self._disabled: list[Callable[..., Any]] = []
        self._lock = threading.RLock()

    def graph_break(self, *_: Any, **__: Any) -> None:
        """Do nothing: there is no graph."""

    def disable(self, fn: Any = None, *more: Any, **options: Any) -> Any:
        """Return a function as it is: what is not compiled needs no exemption."""
        if not callable(fn):
            return self.__getattr__("disable")(fn, *more, **options)
        self._disabled.append(fn)
        return fn

    def __getattr__(self, name: str) -> Any:
        # Whoever goes through all modules asks for such names; no compiler is imported for that.
        if name.startswith("__") and name.endswith("__") and name != "__path__":
            raise AttributeError(name)
        return getattr(self.load(), name)

    def load(self) -> ModuleType:
        """Return the compiler, imported."""
        with self._lock:
            if sys.modules.get(_DYNAMO) is self:
                self._step_aside()
            return sys.modules[_DYNAMO]

    def _step_aside(self) -> None:
        # First: the import would find the stand-in and be done.
        del sys.modules[_DYNAMO]
        vars(torch).pop("_dynamo", None)
        try:
            importlib.import_module(_DYNAMO)
        except BaseException:
            sys.modules[_DYNAMO] = self
            torch._dynamo = self
            raise
        # What was left as it is then is exempted when it is called next.
        for function in self._disabled:
            vars(function).pop(_CACHE, None)


def install_late_compiler() -> None:
    """Put the stand-in where no compiler was imported."""
    if _DYNAMO not in sys.modules:
        sys.modules[_DYNAMO] = torch._dynamo = LateCompiler()
