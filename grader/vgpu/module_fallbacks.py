"""Modules that stand in for those of a library that is not installed.

An assignment's ``modules: {torchvision.models.resnet: resnet.py}`` lets a submission say
``from torchvision.models.resnet import ResNet`` on any machine, and ``--module`` does so for a
script. A library that imports is left as it is; nothing is looked at before it is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


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
