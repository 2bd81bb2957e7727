"""Rules on the source that no linter has: what may never be loaded, how large things may get."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "grader").rglob("*.py"))
RUNS_CODE_ON_LOADING = {"pickle", "cPickle", "marshal", "dill", "cloudpickle", "shelve", "joblib"}
MAX_MODULE_LINES = 400
LEAST_LINES_ALONE = 150
MAX_FUNCTION_LINES = 40
MAX_ACTOR_CODE_LINES = 1290


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


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_nothing_is_loaded_that_runs_code_on_loading(file: Path) -> None:
    assert list(forbidden(ast.parse(file.read_bytes()))) == []


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


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_modules_and_functions_stay_small(file: Path) -> None:
    text = file.read_text()
    # A comment at a dangerous line must not cost a line of code.
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("# ")]
    assert len(lines) <= MAX_MODULE_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            lines = node.end_lineno - node.lineno + 1
            if ast.get_docstring(node):
                doc = node.body[0]
                assert doc.end_lineno is not None
                lines -= doc.end_lineno - doc.lineno + 1
            assert lines <= MAX_FUNCTION_LINES, f"{node.name}, line {node.lineno}: {lines} lines"


def test_the_guest_can_be_read_in_one_sitting() -> None:
    # Code alone: a comment at a dangerous line must not cost a line of code.
    actor = [file for file in FILES if "actor" in file.parts]
    assert sum(len(code_lines(file.read_text())) for file in actor) <= MAX_ACTOR_CODE_LINES


def code_lines(text: str) -> set[int]:
    """Return the lines that hold code: no blank ones, comments or docstrings."""
    beside = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in beside and token.type != tokenize.ENDMARKER:
            lines |= {*range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            assert node.end_lineno is not None
            lines -= {*range(node.lineno, node.end_lineno + 1)}
    return lines


def test_comments_docstrings_and_blank_lines_are_no_code() -> None:
    assert code_lines('"""Doc."""\n\nx = 1  # why\n# more\ny = (\n    2)\n') == {3, 5, 6}


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def alone(sources: Mapping[str, str]) -> set[str]:
    """Return the small modules that nobody but one module of their folder, or below it, imports."""
    users: dict[str, set[str]] = {name: set() for name in sources}
    for name, source in sources.items():
        for used in {*imported(ast.parse(source))} & {*sources} - {name}:
            users[used].add(name)
    return {
        name
        for name, (user, *others) in ((name, found) for name, found in users.items() if found)
        if not others
        and f"{user}.".startswith(f"{name.rpartition('.')[0]}.")
        and len(sources[name].splitlines()) < LEAST_LINES_ALONE
    }


def test_no_small_module_is_there_for_one_neighbour() -> None:
    sources = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in FILES
    }
    entries = {name for name, file in sources.items() if file.stem in ("__init__", "__main__")}
    assert alone({name: file.read_text() for name, file in sources.items()}) - entries == set()


def test_a_small_module_of_one_neighbour_is_found() -> None:
    sources = {
        "p.a": "from p import b, c\nimport p.q.e",
        "p.b": "from p.c import f\nfrom p.d import x",
        "p.c": "",
        "p.d": "x = 0\n" * LEAST_LINES_ALONE,
        "p.q.e": "import p.q.g",
        "p.q.g": "",
    }
    assert alone(sources) == {"p.b", "p.q.g"}
