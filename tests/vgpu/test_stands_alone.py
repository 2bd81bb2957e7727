"""Virtual devices stand alone: they need torch, numpy and the standard library."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import grader.vgpu
from grader.vgpu.recording import calls
from grader.vgpu.recording.descriptors import DTYPES
from grader.wire.messages import LOG
from grader.wire.values import ITEMSIZE

FOLDER = Path(grader.vgpu.__file__).parent
ALLOWED = {"torch", "numpy", "torchgen", *sys.stdlib_module_names}


def foreign(source: str) -> Iterator[str]:
    """Yield what a module imports beside what the devices may."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] not in ALLOWED and not f"{name}.".startswith("grader.vgpu."):
                yield name


def test_they_import_nothing_else() -> None:
    found = {
        str(file.relative_to(FOLDER)): names
        for file in FOLDER.rglob("*.py")
        if (names := list(foreign(file.read_text(encoding="utf-8"))))
    }
    assert found == {}


def test_an_import_of_something_else_is_seen() -> None:
    source = "import yaml\ndef f():\n    from grader.wire import values\nimport torch.nn, json"
    assert sorted(foreign(source)) == ["grader.wire.values", "yaml"]


def test_what_they_share_with_the_wire_is_the_same() -> None:
    assert set(ITEMSIZE) == DTYPES
    assert calls.LOG == LOG
