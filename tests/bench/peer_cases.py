"""What a grader without walls does with the inputs that ``peers.write_cases`` wrote.

In the interpreter of the submission, as such graders do. ``agrees`` is for notebooks, which are
given nothing: where reference and inputs lie is in the environment.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

REFERENCE, CASES = "PEER_REFERENCE", "PEER_CASES"


def load(path: str, name: str) -> ModuleType:
    """Import a file as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_cases(path: str) -> list[dict[str, Any]]:
    """Return the cases, the arguments as tensors."""
    cases = json.loads(Path(path).read_text())
    for case in cases:
        case["args"] = [
            torch.tensor(item["data"], dtype=getattr(torch, item["dtype"])).reshape(item["shape"])
            for item in case["args"]
        ]
    return cases


def compare(
    function: Callable[..., Any], right: Callable[..., Any], args: list[torch.Tensor]
) -> None:
    """Call both; raise AssertionError where values differ, or the arguments were changed."""
    mine = [item.clone() for item in args]
    torch.testing.assert_close(function(*mine), right(*args), rtol=1e-4, atol=1e-4)
    for before, after in zip(args, mine, strict=True):
        torch.testing.assert_close(before, after, rtol=0, atol=0)


def agrees(function: Callable[..., Any]) -> bool:
    """Compare a function with the reference's of the same name in all of its cases."""
    torch.set_num_threads(1)
    solution = load(os.environ[REFERENCE], "solution")
    for case in read_cases(os.environ[CASES]):
        if case["entry"] == function.__name__:
            compare(function, getattr(solution, case["entry"]), case["args"])
    return True
