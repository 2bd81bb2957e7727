"""Gives a Python process that a program starts its devices, as soon as it has imported torch.

``python -m grader.vgpu`` puts this folder on ``PYTHONPATH``, so that Python runs this file first.
A process that asks for no torch notices nothing. One that ``grader.vgpu`` itself has started has a
beginning of its own.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120  before all else: quick
_SETTINGS = "TORCHGRADE_VGPU"  # grader.vgpu.processes.SETTINGS


class _AfterTorch(MetaPathFinder):
    """Finds torch once, and has its import end with the making of the devices."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _WithDevices(spec.loader, self._settings)
        return spec


class _WithDevices(Loader):
    """Loads torch, and makes the devices."""

    def __init__(self, real: Loader, settings: dict[str, Any]) -> None:
        self._real = real
        self._settings = settings

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._real
        self._real.exec_module(module)
        if "grader.vgpu" in sys.modules:
            return  # it imports torch now, for a program that makes its own devices
        root = self._settings["root"]
        sys.path.append(root)
        try:
            processes = import_module("grader.vgpu.processes")
        finally:
            sys.path.remove(root)
        processes.take_part(self._settings)


def _run_the_other() -> None:
    """Run the ``sitecustomize`` that stands behind this one, which Python would have found."""
    before = list(sys.path)
    sys.path[:] = [folder for folder in before if os.path.abspath(folder) != _HERE]  # noqa: PTH100
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import_module("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
        if mine is not None:
            sys.modules["sitecustomize"] = mine
    finally:
        sys.path[:] = before


def _begins_by_itself() -> bool:
    named = [os.path.basename(word) for word in sys.orig_argv[1:2]]  # noqa: PTH119  likewise
    return named == ["vgpu"] or any("grader.vgpu" in word for word in sys.orig_argv)


_run_the_other()
if _SETTINGS in os.environ and not _begins_by_itself():
    sys.meta_path.insert(0, _AfterTorch(json.loads(os.environ[_SETTINGS])))
