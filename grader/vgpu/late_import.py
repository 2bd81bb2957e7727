"""Importing modules of torch's late, while virtual devices are in force.

Torch imports ``torch._dynamo`` with the first optimiser. It takes longer than torch itself, and
compares torch's functions with its own notes of them, so it must find torch as it is. Importing it
beforehand would make every program wait for it; so the patches step aside while it is imported.
Modules of ``sharded.LATE`` are changed as soon as they are there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from grader.vgpu import sharded
from grader.vgpu.patches import Patches

_LATE = "torch._dynamo"


class LateImport(MetaPathFinder):
    """Finds these modules, and has them loaded as they need it.

    Args:
        patches: What steps aside, or is added to. Other threads find torch unpatched for that time.
    """

    def __init__(self, patches: Patches) -> None:
        self._patches = patches

    def find_spec(
        self, name: str, path: Sequence[str] | None, _: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load it; None for all other modules."""
        late = name == _LATE or name in sharded.LATE
        spec = PathFinder.find_spec(name, path) if late else None
        if spec is not None and spec.loader is not None:
            kind = _Unpatched if name == _LATE else _Changing
            spec.loader = kind(spec.loader, self._patches)
        return spec

    def start(self) -> None:
        """Wait for the import."""
        sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


class _Unpatched(Loader):
    """Loads a module while the patches stand aside."""

    def __init__(self, real: Loader, patches: Patches) -> None:
        self._real = real
        self._patches = patches

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Who asks the module for its source later asks its own loader.
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._real
        with self._patches.aside():
            self._real.exec_module(module)


class _Changing(_Unpatched):
    """Loads a module, and changes it."""

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._real
        self._real.exec_module(module)
        sharded.LATE[module.__name__](module, self._patches)
