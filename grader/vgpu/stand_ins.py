"""Modules that stand in for others: for a library that is not installed, for torch's compiler.

An assignment's ``modules: {torchvision.models.resnet: resnet.py}`` lets a submission say
``from torchvision.models.resnet import ResNet`` on any machine, and ``--module`` does so for a
script. A library that imports is left as it is; nothing is looked at before it is asked for.

Torch imports ``torch._dynamo`` with the first optimiser, only to be told that nothing is being
compiled. The import takes as long as that of torch itself, for whoever waits for a first result.
So a stand-in answers what an optimiser asks; anything else that it is asked imports the compiler,
which takes its place.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import torch


class StandIns(MetaPathFinder):
    """Finds modules under their library's name.

    Args:
        modules: Library's module → the file, below a folder of ``sys.path``, that stands in for it.
    """

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = {
            name: file.removesuffix(".py").replace("/", ".") for name, file in modules.items()
        }
        self._packages = {
            name.rsplit(".", cut)[0] for name in modules for cut in range(name.count(".") + 1)
        }

    def find_spec(
        self, name: str, path: Sequence[str] | None, _: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what stands in for a module, or None where it is not for us to say."""
        if name not in self._packages:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return ModuleSpec(name, _StandIn(self, None), is_package=True)
        if "." not in name:
            spec.loader = _StandIn(self, spec.loader)
        return spec

    def fill(self, module: ModuleType) -> None:
        """Give a module what its file defines, and the modules below it."""
        source = self._modules.get(module.__name__)
        if source is not None:
            defined = vars(import_module(source)).items()
            vars(module).update({name: value for name, value in defined if name[:2] != "__"})
        for name in sorted(self._packages):
            if name.rpartition(".")[0] == module.__name__:
                import_module(name)


class _StandIn(Loader):
    """Loads a library if that works, and what stands in for it if it does not."""

    def __init__(self, names: StandIns, real: Loader | None) -> None:
        self._names = names
        self._real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None if self._real is None else self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if self._real is not None:
            try:
                self._real.exec_module(module)
            except Exception:  # noqa: BLE001  built for another torch, a library fails as it likes
                # Half a library is in there by now: all of its modules must be stood in for.
                below = f"{module.__name__}."
                for name in [name for name in sys.modules if name.startswith(below)]:
                    del sys.modules[name]
                # So that nothing more is found in the library's own folder.
                module.__path__ = []
            else:
                return
        self._names.fill(module)


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
        self.trace_rules = _CompilerPart(self, "trace_rules", clear_lru_cache=_do_nothing)
        # Asked by ``DistributedDataParallel``; the answer is that of the compiler's own defaults.
        self.utils = _CompilerPart(self, "utils", get_optimize_ddp_mode=_ddp_mode)
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


def _do_nothing() -> None:
    pass


def _ddp_mode() -> str:
    return "ddp_optimizer"
