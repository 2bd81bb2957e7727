"""A rule on the source that no linter has: what may never be loaded."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults import no_faults

ROOT = Path(__file__).parents[2]
RUNS_CODE_ON_LOADING = {"pickle", "cPickle", "marshal", "dill", "cloudpickle", "shelve", "joblib"}


def forbidden(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {(node.module or "").split(".")[0]}
        elif isinstance(node, ast.Call):
            names = set()
            called = ast.unparse(node.func)
            keywords = {word.arg: ast.unparse(word.value) for word in node.keywords}
            if called == "torch.load" and keywords.get("weights_only") != "True":
                yield f"line {node.lineno}: torch.load without weights_only=True"
            if called.endswith(".load") and keywords.get("allow_pickle", "False") != "False":
                yield f"line {node.lineno}: allow_pickle"
        else:
            continue
        for name in names & RUNS_CODE_ON_LOADING:
            yield f"line {node.lineno}: {name}"


def test_nothing_is_loaded_that_runs_code_on_loading() -> None:
    files = {str(path.relative_to(ROOT)): path for path in sorted((ROOT / "grader").rglob("*.py"))}
    assert len(files) > 200
    no_faults(
        files, lambda path: forbidden(ast.parse(path.read_bytes())),
        "send plain values over grader.wire, and load tensors by safetensors",
    )  # fmt: skip


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from marshal import loads",
        "import torch\ntorch.load('x')",
        "import torch\ntorch.load('x', weights_only=False)",
        "import numpy as np\nnp.load('x', allow_pickle=True)",
        "def f():\n    import dill.source",
    ],
)
def test_the_ban_finds_what_it_bans(source: str) -> None:
    assert list(forbidden(ast.parse(source)))


def test_the_ban_leaves_the_safe_forms_alone() -> None:
    source = (
        "import numpy, torch\ntorch.load('x', weights_only=True)\nnumpy.load('x')\njson.load(f)"
    )
    assert list(forbidden(ast.parse(source))) == []
