"""Where a file reaches for the interpreter's internals, or changes what belongs to other modules.

Work on tensors needs neither. Code that does one of them can change what its own process says about
itself: which operations ran, where tensors lie, what they took. So its word alone earns no points.

The whole file is read, whatever a question calls: what runs at import may change everything.

Does not see: a module handed to a function that assigns to its parameter's attributes, and names
that native code looks up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import pairwise

from grader.source.facts import Mention
from grader.source.found import place_of
from grader.source.scope import dotted, imported, stored
from grader.source.texts import constant_text

_MODULES = frozenset({
    "grader", "ctypes", "cffi", "importlib", "marshal", "dill", "cloudpickle", "unittest.mock",
    "builtins", "code", "codeop", "dis", "imp", "pkgutil", "pydoc", "runpy", "_testcapi",
})  # fmt: skip
"""Modules of which any use reaches."""

_MEMBERS: Mapping[str, frozenset[str]] = {
    "sys": frozenset({
        "modules", "_getframe", "_current_frames", "settrace", "setprofile", "gettrace",
        "getprofile", "monitoring", "meta_path", "path_hooks", "addaudithook", "displayhook",
    }),
    "gc": frozenset({"get_objects", "get_referrers", "get_referents", "callbacks"}),
    "inspect": frozenset({
        "currentframe", "stack", "trace", "getmembers", "getmembers_static", "getattr_static",
        "getouterframes", "getinnerframes", "getclosurevars", "getmodule",
    }),
    "threading": frozenset({"settrace", "setprofile", "settrace_all_threads", "_active"}),
    "torch": frozenset({"_C", "overrides", "_ops", "library"}),
    "operator": frozenset({"attrgetter", "methodcaller"}),
    "types": frozenset({"FunctionType", "CodeType", "ModuleType", "CellType", "FrameType"}),
}  # fmt: skip
"""Module → members that reach."""

_ATTRIBUTES = frozenset({
    "__globals__", "__builtins__", "__code__", "__closure__", "__subclasses__", "__mro__",
    "__bases__", "__base__", "__getattribute__", "__loader__", "__spec__", "__defaults__",
    "__kwdefaults__", "__wrapped__", "gi_frame", "cr_frame", "ag_frame", "tb_frame", "f_back",
    "f_globals", "f_locals", "f_builtins", "f_code", "cell_contents", "_getframe", "get_objects",
    "get_referrers", "get_referents", "settrace", "setprofile", "_python_dispatch",
    "DisableTorchFunctionSubclass", "DisableTorchFunction", "_DisableTorchDispatch",
    "_disable_torch_dispatch", "_pop_mode", "_pop_torch_function_stack",
    "_pop_torch_dispatch_stack", "_make_subclass", "_make_wrapper_subclass", "as_subclass",
    "TorchDispatchMode", "TorchFunctionMode", "__torch_function__", "__torch_dispatch__",
})  # fmt: skip
"""Attributes that reach, of whatever they are."""

_BUILTINS = frozenset({"exec", "eval", "compile", "__import__", "globals", "vars", "breakpoint"})
"""Built-in functions that reach."""

_BY_NAME = frozenset({"getattr", "setattr", "delattr"})
"""Built-in functions that reach where the name is not in the text."""

_SETTINGS = ("torch.backends", "matplotlib", "sys.stdout", "sys.stderr", "sys.stdin")
"""Honest code assigns these, and attributes below them."""

_MOST = 20


def reach(tree: ast.Module) -> tuple[Mention, ...]:
    """Return the first places where a file reaches, in the order of their lines."""
    found = sorted(_Reach(tree).places(), key=lambda item: (item.place.line, item.place.column))
    return tuple(found[:_MOST])


class _Reach:
    """Goes through one file."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._nodes = list(ast.walk(tree))
        self._imports = self._names()
        calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        self._called = {id(call.func) for call in calls}
        harmless = (*_handed_on(self._nodes), *_read_through(calls))
        self._harmless = {id(node) for node in harmless}

    def places(self) -> Iterator[Mention]:
        for node in self._nodes:
            if name := self._reaches(node):
                yield Mention(name, place_of(node), id(node) in self._called)

    def _names(self) -> dict[str, str]:
        """Return local name → dotted name of imports, and of plain aliases of them."""
        names: dict[str, str] = {}
        for node in self._nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names.update(imported(node))
        for node in self._nodes:
            if isinstance(node, ast.Assign) and (name := _resolved(node.value, names)):
                names.update(dict.fromkeys(
                    (each for target in node.targets for each in stored(target)), name
                ))  # fmt: skip
        return names

    def _reaches(self, node: ast.AST) -> str:
        """Return the name of what a node reaches for, or an empty string."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            whole = [*imported(node).values(), *modules]
            return next((name for name in whole if _is_internal(name)), "")
        if isinstance(node, (ast.Attribute, ast.Name)):
            return self._name(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return node.name if node.name in _ATTRIBUTES else ""
        return ""

    def _name(self, node: ast.Attribute | ast.Name) -> str:
        name = _resolved(node, self._imports)
        if isinstance(node, ast.Name):
            bare = node.id if node.id not in self._imports else ""
            if bare in _BY_NAME and id(node) not in self._called:
                return bare
            if bare in _BUILTINS and isinstance(node.ctx, ast.Load):
                return "" if id(node) in self._harmless else bare
            return name if _is_internal(name) else ""
        if not isinstance(node.ctx, ast.Load):
            return name if name and not _is_setting(name) else ""
        if node.attr in _ATTRIBUTES or _is_internal(name) or _is_internal(_tail(node)):
            return name or f".{node.attr}"
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        return ".__dict__" if node.attr == "__dict__" and not own else ""

    def _call(self, node: ast.Call) -> str:
        if not isinstance(node.func, ast.Name) or node.func.id not in _BY_NAME or not node.args:
            return ""
        function = node.func.id
        text = constant_text(node.args[1:2])
        of = node.args[0]
        if text is None:
            own = isinstance(of, ast.Name) and of.id in ("self", "cls")
            return "" if own else function
        attribute = ast.Attribute(of, text, ast.Load() if function == "getattr" else ast.Store())
        named = self._name(attribute)
        return f"{function}(…, {text!r})" if named else ""


def _handed_on(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """Yield the name of ``globals()`` where timeit and its like get all names: ``globals=…``."""
    for node in nodes:
        values: list[ast.expr | None] = []
        if isinstance(node, ast.keyword) and node.arg == "globals":
            values = [node.value]
        elif isinstance(node, ast.Dict):
            values = [
                value for key, value in zip(node.keys, node.values, strict=True) if key is None
            ]
        for value in values:
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
                yield value.func


def _read_through(calls: list[ast.Call]) -> Iterator[ast.AST]:
    """Yield the name of ``exec`` and ``eval`` where the text stands there and does not reach."""
    for call in calls:
        text = constant_text(call.args[:1])
        if not isinstance(call.func, ast.Name) or call.func.id not in ("exec", "eval") or not text:
            continue
        try:
            harmless = not reach(ast.parse(text))
        except (SyntaxError, ValueError):
            harmless = False
        if harmless:
            yield call.func


def _resolved(node: ast.expr, imports: Mapping[str, str]) -> str:
    """Return the dotted name of something imported; empty for anything else."""
    parts = dotted(node)
    if not parts or parts[0] not in imports:
        return ""
    return ".".join([imports[parts[0]], *parts[1:]])


def _tail(node: ast.Attribute) -> str:
    """Return the last two parts of ``x.sys.modules``: modules have others as attributes."""
    return f"{node.value.attr}.{node.attr}" if isinstance(node.value, ast.Attribute) else ""


def _is_setting(name: str) -> bool:
    return any(name == setting or name.startswith(f"{setting}.") for setting in _SETTINGS)


def _is_internal(name: str) -> bool:
    if not name:
        return False
    if any(name == module or name.startswith(f"{module}.") for module in _MODULES):
        return True
    parts = name.split(".")
    if not _ATTRIBUTES.isdisjoint(parts):
        return True
    return any(member in _MEMBERS.get(module, ()) for module, member in pairwise(parts))
