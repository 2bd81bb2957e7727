"""Where a file reaches for the interpreter's internals, or changes what belongs to other modules.

Work on tensors needs neither. Code that does one of them can change what its own process says about
itself: which operations ran, where tensors lie, what they took. So its word alone earns no points.

The whole file is read, whatever a question calls: what runs at import may change everything. It
may use the libraries that are known here, and no other: each of these was gone through for what
runs text or bytes as code.

Does not see: what somebody else's function does to a module that it is handed, bytes that a pipe
unpickles, and names that native code looks up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import pairwise

from grader.static_analysis.facts import Mention
from grader.static_analysis.lent import Lent
from grader.static_analysis.scope import constant_text, dotted, imported, place_of, stored

_KNOWN = frozenset(
    # As text: a name a line would be 90 lines.
    """
    __future__ abc argparse array ast asyncio atexit base64 bisect bz2 cmath collections
    colorsys concurrent contextlib contextvars copy csv dataclasses datetime decimal difflib
    enum errno faulthandler fractions functools gc glob gzip hashlib heapq html inspect io
    itertools json keyword locale logging lzma math mmap multiprocessing numbers operator os
    pathlib pickle platform pprint queue random re reprlib resource secrets select selectors
    shutil signal socket stat statistics string struct subprocess sys tarfile tempfile
    textwrap this threading time timeit tkinter traceback types typing typing_extensions
    unicodedata urllib uuid warnings weakref zipfile zlib IPython PIL cv2 einops google h5py
    imageio matplotlib mpl_toolkits numpy pandas psutil ray requests scipy seaborn skimage
    sklearn tensorboard torch torchaudio torchvision tqdm wandb
""".split()  # noqa: SIM905  as above
)
"""Modules that a file may import. The submission's own files and the assignment's are told apart
by whoever asks: ``Mention.name`` of any other is ``import NAME``."""

_MODULES = frozenset({
    "grader", "ctypes", "ctypeslib", "cffi", "importlib", "marshal", "dill", "cloudpickle", "mock",
    "builtins", "codeop", "imp", "pkgutil", "pydoc", "runpy", "_testcapi",
})  # fmt: skip
"""Modules of which any use reaches, wherever they are found: ``torch.importlib`` is one, too."""

_MEMBERS: Mapping[str, frozenset[str]] = {
    "sys": frozenset({
        "modules", "_getframe", "_current_frames", "settrace", "setprofile", "gettrace",
        "getprofile", "monitoring", "meta_path", "path_hooks", "addaudithook", "displayhook",
        "path_importer_cache", "excepthook", "unraisablehook",
    }),
    "gc": frozenset({"get_objects", "get_referrers", "get_referents", "callbacks"}),
    "inspect": frozenset({
        "currentframe", "stack", "trace", "getmembers", "getmembers_static", "getattr_static",
        "getouterframes", "getinnerframes", "getclosurevars", "getmodule", "get_annotations",
    }),
    "threading": frozenset({"settrace", "setprofile", "settrace_all_threads", "_active"}),
    "torch": frozenset({"_C", "overrides", "_ops", "library", "hub", "package", "fx", "classes"}),
    "operator": frozenset({"attrgetter", "methodcaller"}),
    "types": frozenset({"FunctionType", "CodeType", "ModuleType", "CellType", "FrameType"}),
    "typing": frozenset({"get_type_hints", "ForwardRef"}),
    "functools": frozenset({"singledispatch", "singledispatchmethod", "update_wrapper"}),
    "string": frozenset({"Formatter"}),
    "traceback": frozenset({"walk_stack", "walk_tb"}),
    "logging": frozenset({"config"}),
    "multiprocessing": frozenset({"reduction", "spawn", "forkserver"}),
    "pandas": frozenset({"eval", "io", "read_pickle"}),
    "numpy": frozenset({"f2py", "distutils", "testing"}),
    "IPython": frozenset({"core", "embed", "start_ipython", "terminal", "utils"}),
    "utils": frozenset({"cpp_extension"}),
    "ast": frozenset({"sys"}),
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
    "__self__", "__func__", "__objclass__", "__reduce_ex__", "__setattr__", "__delattr__",
    "send_bytes",
})  # fmt: skip
"""Attributes that reach, of whatever they are."""

_BUILTINS = frozenset({"exec", "eval", "compile", "__import__", "globals", "vars", "breakpoint"})
"""Built-in functions that reach."""

_BY_NAME = frozenset({"getattr", "setattr", "delattr"})
"""Built-in functions that reach where the name is not in the text."""

_SETTINGS = ("torch.backends", "matplotlib", "sys.stdout", "sys.stderr", "sys.stdin")
"""Honest code assigns these, and attributes below them."""

_MADE = frozenset({
    "b64decode", "bytearray", "bytes", "decompress", "encode", "fromhex", "memoryview", "pack",
    "to_bytes", "tobytes", "tofile", "unhexlify", "write", "write_bytes", "write_text",
    "writelines",
})  # fmt: skip
"""What can make a file or bytes of the author's own; unpickled, these run what they like."""

_ELSEWHERE = frozenset({"allow_pickle", "eval_str", "find_class", "namespace", "pickle_module"})
"""Arguments by which a library changes what it is given, or runs what it reads."""

_TAILS = frozenset({"sys", "importlib", "builtins", "ctypes", "marshal", "pickle", "inspect", "gc"})
"""Modules that are attributes of others: of whatever they are, they are meant."""

_OWN_METHODS = frozenset({"__setattr__", "__delattr__"})
"""A class may define these, and hand on to its base's."""

_UNPICKLE = ("load", "loads", "Unpickler")

_HIDDEN = frozenset(f"_{name}" for name in _TAILS)
"""As libraries import them for themselves: ``collections._sys``."""

IMPORT = "import "
"""Begins the name of a mention of a module that is not known here."""

MOST_PLACES = 100
"""Of each kind in a file."""


def reach(tree: ast.Module) -> tuple[Mention, ...]:
    """Return the first places where a file reaches, in the order of their lines.

    Imports of modules that are not known come last, each once.
    """
    # ast.walk goes level by level; a reader looks for the first in the text.
    found = sorted(_Reach(tree).places(), key=lambda item: (item.place.line, item.place.column))
    # Backwards, so that of several imports of a module the first one stays.
    unknown = {item.name: item for item in reversed(found) if item.name.startswith(IMPORT)}
    others = [item for item in found if not item.name.startswith(IMPORT)]
    # From the end: filled backwards, the last entries are the first of the text.
    return (*others[:MOST_PLACES], *[*unknown.values()][-MOST_PLACES:])


class _Reach:
    """Goes through one file."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._imports = self._names()
        self._lent = Lent(tree, self._imports)
        calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        # By identity, which is unique as long as the list keeps all nodes alive.
        self._called = {id(call.func) for call in calls}
        harmless = (*_handed_on(self._nodes), *_read_through(calls))
        self._harmless = {id(node) for node in harmless}
        self._makes_bytes = any(map(_makes_bytes, self._nodes))
        self._defined = {
            node.name for node in self._nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }
        self._texts = _texts_of(self._nodes)

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
        # After all imports: an alias may stand above the import that it names.
        for node in self._nodes:
            if isinstance(node, ast.Assign) and (name := _resolved(node.value, names)):
                names.update(dict.fromkeys(
                    (each for target in node.targets for each in stored(target)), name
                ))  # fmt: skip
        return names

    def _reaches(self, node: ast.AST) -> str:
        """Return the name of what a node reaches for, or an empty string."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return _import(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        # To define “__torch_function__” or its like is enough: torch calls it.
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return node.name if node.name in _ATTRIBUTES - _OWN_METHODS else ""
        return ""

    def _name(self, node: ast.Name) -> str:
        bare = node.id if node.id not in self._imports else ""
        # One that is not called here may be called elsewhere, with any name.
        if bare in _ATTRIBUTES or (bare in _BY_NAME and id(node) not in self._called):
            return bare
        if bare in _BUILTINS and isinstance(node.ctx, ast.Load):
            return "" if id(node) in self._harmless else bare
        name = _resolved(node, self._imports)
        return name if _is_internal(name) else ""

    def _attribute(self, node: ast.Attribute) -> str:
        name = _resolved(node, self._imports)
        # What is assigned to an imported module changes it for all code of the process.
        if not isinstance(node.ctx, ast.Load):
            if _is_setting(name) or not (name or self._lent.may_be(node.value)):
                return ""
            return name or f".{node.attr}"
        own = _is_own(node.value)
        if node.attr in _OWN_METHODS:
            return "" if own else f".{node.attr}"
        if node.attr in _ATTRIBUTES or node.attr in _TAILS:
            return name or f".{node.attr}"
        if _is_internal(name) or _is_internal(_tail(node)):
            return name or f".{node.attr}"
        return ".__dict__" if node.attr == "__dict__" and not own else ""

    def _call(self, node: ast.Call) -> str:
        name = _resolved(node.func, self._imports)
        words = [item.arg for item in node.keywords if item.arg in _ELSEWHERE]
        if words:
            return f"{words[0]}=…"
        if name.split(".")[0] in ("pickle", "torch") and self._unpickles(node, name):
            return name
        if name.startswith("timeit.") and not all(map(self._is_read, _timed(node))):
            return name
        if isinstance(node.func, ast.Name) and node.func.id in _BY_NAME and node.args:
            return self._by_name(node, node.func.id)
        return ""

    def _by_name(self, node: ast.Call, function: str) -> str:
        text = constant_text(node.args[1:2])
        of = node.args[0]
        if text is None:
            return "" if _is_own(of) else function
        # Judged as if it were written with a dot.
        attribute = ast.Attribute(of, text, ast.Load() if function == "getattr" else ast.Store())
        return f"{function}(…, {text!r})" if self._attribute(attribute) else ""

    def _unpickles(self, node: ast.Call, name: str) -> bool:
        """Return whether a call may run what stands in bytes that the file itself can make."""
        if name not in ("torch.load", *(f"pickle.{member}" for member in _UNPICKLE)):
            return False
        chosen = [item.value for item in node.keywords if item.arg == "weights_only"]
        safe = all(isinstance(item, ast.Constant) and item.value is True for item in chosen)
        return self._makes_bytes and not (safe and name == "torch.load")

    def _is_read(self, node: ast.expr) -> bool:
        """Return whether what is timed is code of this file, or text that does not reach."""
        name = node.id if isinstance(node, ast.Name) else ""
        if isinstance(node, ast.Lambda) or name in self._defined:
            return True
        text = self._texts.get(name) if name else constant_text([node])
        return text is not None and _is_harmless(text)


def _import(node: ast.Import | ast.ImportFrom) -> str:
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    whole = [*modules, *imported(node).values()]
    if internal := next((name for name in whole if _is_internal(name)), ""):
        return internal
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    roots = [name.partition(".")[0] for name in modules]
    return next((f"{IMPORT}{root}" for root in roots if root not in _KNOWN), "")


def _makes_bytes(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bytes) and bool(node.value)
    if isinstance(node, ast.Name):
        return node.id in _MADE
    return isinstance(node, ast.Attribute) and node.attr in _MADE


def _texts_of(nodes: list[ast.AST]) -> dict[str, str | None]:
    """Return name → text, where nothing but one text is ever bound to it."""
    texts: dict[str, str | None] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            for name in stored(node.targets[0]):
                texts[name] = None if name in texts else constant_text([node.value])
    whole = [node.targets[0] for node in nodes if isinstance(node, ast.Assign)]
    bound = [node.id for node in nodes if isinstance(node, ast.Name) and node not in whole
             and not isinstance(node.ctx, ast.Load)]  # fmt: skip
    handed = [node.arg for node in nodes if isinstance(node, ast.arg)]
    # Whatever is bound in another way as well holds nobody knows what.
    return {**texts, **dict.fromkeys([*bound, *handed])}


def _timed(call: ast.Call) -> list[ast.expr]:
    """Return what ``timeit`` would run: statement and preparation."""
    named = [item.value for item in call.keywords if item.arg in ("stmt", "setup")]
    return [*call.args[:2], *named]


def _is_own(node: ast.AST) -> bool:
    """Return whether this is an object of a class of the file's: ``self``, ``super()``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _handed_on(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """Yield the name of ``globals()`` where timeit and its like get all names: ``globals=…``."""
    for node in nodes:
        values: list[ast.expr | None] = []
        if isinstance(node, ast.keyword) and node.arg == "globals":
            values = [node.value]
        # In the tree, “**globals()” inside braces is an item whose key is None.
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
        if _is_harmless(text):
            yield call.func


def _is_harmless(text: str) -> bool:
    try:
        return not reach(ast.parse(text))
    except (SyntaxError, ValueError):
        return False


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
    parts = [part.lstrip("_") if part in _HIDDEN else part for part in name.split(".")]
    if not (_MODULES.isdisjoint(parts) and _ATTRIBUTES.isdisjoint(parts)):
        return True
    if len(parts) > 1 and parts[0] == "torch" and _is_private(parts[1]):
        return True
    return any(member in _MEMBERS.get(module, ()) for module, member in pairwise(parts))


def _is_private(part: str) -> bool:
    """Return whether this is a part of torch's own machinery."""
    # “torch._foreach_add” and its like are ordinary operations.
    own = part[:1] == "_" and part[:2] != "__" and not part.startswith("_foreach")
    return own and part not in ("_assert", "_utils")
