"""Importing a submission so that one bad line costs what depends on it, and nothing else.

The module's top-level statements run one after the other, as Python would run them. An import
that fails binds a placeholder, which raises when it is used; any other exception ends the import,
and the functions defined before it can still be called.
"""

from __future__ import annotations
import __future__

import ast
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher, get_close_matches
from functools import partial
from importlib.machinery import FileFinder, ModuleSpec, SourceFileLoader
from inspect import CO_COROUTINE
from pathlib import Path
from types import FunctionType, ModuleType, TracebackType
from typing import Any

from grader.vgpu.module_fallbacks import StandIns
from grader.wire.messages import Fault, Load, Loaded
from grader.wire.values import TEXT_CAP, Buffer

_MESSAGE_CAP = 2_000
_FRAMES = 30
_MAX_POSITION = 2**31

_name_of = type.__dict__["__name__"].__get__
"""The name that a class was made with: a metaclass may have put code behind ``__name__``."""


def describe(error: BaseException, scratch: Path) -> Fault:
    """Return a bounded description; ``file`` and ``line`` point into the submitted code.

    Args:
        error: What was raised. Its ``__str__`` may raise, recurse or return gigabytes.
        scratch: Folder of the submitted files.
    """
    try:
        file, line, column = _position(error, scratch)
    except BaseException:  # noqa: BLE001  its attributes are the submission's own code
        file, line, column = "", 0, 0
    return Fault(
        type=_plain(_name_of(type(error)))[:200],
        message=_guarded(lambda: _message(error))[:_MESSAGE_CAP],
        file=file,
        line=line,
        column=column,
        trace=_guarded(lambda: _trace(error))[:TEXT_CAP],
    )


def _guarded(make: object) -> str:
    try:
        text = make()  # type: ignore[operator]
    except BaseException as second:  # noqa: BLE001  the exception is the submission's own code
        return f"<no text: {_plain(_name_of(type(second)))} while making it>"
    return _plain(text)


def _plain(text: str) -> str:
    # Lone surrogates travel through JSON escapes, but not into every file that text ends up in.
    # The base class's method: a subclass of str may have its own.
    return str.encode(text, "utf-8", "backslashreplace").decode("utf-8")


def _message(error: BaseException) -> str:
    # exit() without a word: its text would be “None”.
    if isinstance(error, SystemExit) and error.code is None:
        return ""
    # A syntax error's text repeats file and line, which have fields of their own.
    text = error.msg if isinstance(error, SyntaxError) else str(error).rstrip()
    try:
        nearest = _nearest(error)
    except BaseException:  # noqa: BLE001  looking for it runs the submission's own code
        nearest = None
    return text if nearest is None else f"{text}. Did you mean: '{nearest}'?"


_LIKENESS, _MOST_OTHER = 0.8, 3
"""Of a name that is suggested: least likeness, and most characters that only one of both has.

Beyond them it is more often another name than a slip, as ModelParallel is for PipelineParallel.
"""


def _nearest(error: BaseException) -> str | None:
    """Return the name that was probably meant, as Python's own prompt suggests one."""
    trace = error.__traceback__
    if isinstance(error, AttributeError):
        known = dir(error.obj)
    elif isinstance(error, NameError) and trace is not None:
        while trace.tb_next is not None:
            trace = trace.tb_next
        frame = trace.tb_frame
        known = [*frame.f_locals, *frame.f_globals, *frame.f_builtins]
    else:
        return None
    wrong = error.name
    if type(wrong) is not str or wrong in known:
        return None
    public = [name for name in known if name[:1] != "_" or wrong[:1] == "_"]
    for name in get_close_matches(wrong, public, 1, _LIKENESS):
        unlike = 1 - SequenceMatcher(None, wrong, name).ratio()
        if round(unlike * (len(wrong) + len(name))) <= _MOST_OTHER:
            return name
    return None


def _trace(error: BaseException) -> str:
    # The innermost frames alone: of an endless recursion Python would write out a thousand.
    return "".join(
        traceback.TracebackException(
            type(error), error, error.__traceback__, limit=-_FRAMES, compact=True
        ).format()
    )


def _position(error: BaseException, scratch: Path) -> tuple[str, int, int]:
    if isinstance(error, SyntaxError):
        file = Path(str(error.filename or "")).name[:200]
        return file, _natural(error.lineno), _natural(error.offset)
    place = ("", 0)
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        # The last one that is found stays: below it are frames of libraries, which tell a student
        # nothing.
        if path.parent == scratch:
            place = (path.name[:200], trace.tb_lineno)
        trace = trace.tb_next
    return place[0], place[1], 0


def _natural(number: object) -> int:
    # By type: what a SyntaxError's attributes are is the submission's choice.
    return number if type(number) is int and 0 < number < _MAX_POSITION else 0


_MAX_NAMES = 1000


class MissingImport:
    """Stands for a module or name that could not be imported."""

    def __init__(self, name: str, reason: str) -> None:
        self._what = (name, reason)

    def __getattr__(self, attribute: str) -> Any:
        name, reason = object.__getattribute__(self, "_what")
        raise ImportError(f"“{name}” is not available here ({reason})")

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Raise: what is missing cannot be called."""
        return self.__getattr__("__call__")


class Notebook:
    """What ``get_ipython()`` gives in a script exported from a notebook: magics do nothing here."""

    def __getattr__(self, _: str) -> Any:
        return lambda *_, **__: None


class Colab:
    """Stands for ``google.colab`` and what is in it, which only Colab has: calls do nothing."""

    def __getattr__(self, _: str) -> Colab:
        return self

    def __call__(self, *_: Any, **__: Any) -> None:
        """Do nothing: no drive is mounted, no file goes up or down."""


_COLAB = "google.colab"


@dataclass
class Imported:
    """A module that was imported, as far as that went."""

    module: ModuleType
    fault: Fault | None = None
    missing: list[str] = field(default_factory=list)

    def report(self) -> Loaded:
        """Return the message for the host."""
        names = [
            name
            # A copy: isinstance may run a `__class__` of the submission's, which may bind further
            # names.
            for name, value in list(vars(self.module).items())
            if isinstance(name, str) and callable(value) and not name.startswith("__")
            if value is not Notebook and not isinstance(value, (MissingImport, Colab))
        ]
        # Cut, as a file may bind a million names, and all of these cross the wire.
        return Loaded(
            tuple(name[:200] for name in names[:_MAX_NAMES]), self.fault, tuple(self.missing[:50])
        )


def place(load: Load, scratch: Path) -> None:
    """Write the files of a ``Load`` into the scratch folder and make them importable."""
    write(load, scratch)
    # By real path, as the finder asks: on macOS, /tmp itself is a link.
    # The student's own are imported as the one that is called; all others as Python does it.
    own = {path for path in load.files if "/" not in path}
    sent = {
        os.path.realpath(scratch / path): (_OwnFile if path in own else _AsSent, bytes(data))
        for path, data in _files(load)
    }
    sys.path.insert(0, str(scratch))
    # First of all: Python's own finder would also find what code has written there since.
    sys.path_hooks.insert(0, partial(_sent_only, sent, os.path.realpath(scratch)))
    sys.meta_path.insert(0, StandIns(load.modules))
    os.chdir(scratch)


def write(load: Load, scratch: Path) -> None:
    """Write the files of a ``Load`` into the scratch folder."""
    for path, data in _files(load):
        target = scratch / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        if path in load.support:
            # Against accidents only: the owner can change it back. What counts is that imports take
            # what was sent.
            target.chmod(0o444)


def _files(load: Load) -> tuple[tuple[str, Buffer], ...]:
    return (*load.support.items(), *load.files.items())


class _Sent(FileFinder):
    """Finds files that were sent, below one folder, and nothing that was written there since.

    The host reads what was sent. A module that code writes and then imports, or bytecode in a
    ``__pycache__``, would run unread.

    Args:
        folder: Where to look.
        sent: Path → how it is imported, and its content.
    """

    def __init__(self, folder: str, sent: Mapping[str, tuple[type[_AsSent], bytes]]) -> None:
        # Sources only: a compiled module or bytecode in the scratch is nothing that the host has
        # read.
        super().__init__(folder, (SourceFileLoader, [".py"]))
        self._sent = sent

    def find_spec(self, name: str, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return where a module is, or None."""
        spec = super().find_spec(name, target)
        if spec is None or spec.loader is None:
            return spec
        path = os.path.realpath(str(spec.origin))
        if path not in self._sent:
            return None
        # The text as it was sent: the file may have been rewritten since the host read it.
        loader, text = self._sent[path]
        spec.loader = loader(name, str(spec.origin), text)
        return spec


class _AsSent(SourceFileLoader):
    """Runs a module's text as it was sent, whatever the file holds by now."""

    def __init__(self, name: str, path: str, text: bytes) -> None:
        super().__init__(name, path)
        self._text = text

    def get_data(self, _: Any) -> bytes:
        """Return the text."""
        return self._text

    def path_stats(self, path: Any) -> Mapping[str, Any]:
        """Raise: without a file's time, no bytecode is read or written."""
        raise OSError(path)


class _OwnFile(_AsSent):
    """Imports a student's file for another one: its bad lines cost no more than they do there."""

    def exec_module(self, module: ModuleType) -> None:
        """Run its statements; names that are missing in the end say what went wrong."""
        try:
            _execute(self._text, self.path, Imported(module))
        except BaseException as error:  # noqa: BLE001  SystemExit is a submission's fault too
            fault = describe(error, Path(self.path).parent)
            what = f"{fault.file}, line {fault.line}: {fault.type}: {fault.message}"
            vars(module)["__getattr__"] = partial(_unfinished, what)


def _unfinished(what: str, name: str) -> Any:
    # Python itself asks for names such as __path__, and takes this error alone for “no”.
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(what)


def _sent_only(
    sent: Mapping[str, tuple[type[_AsSent], bytes]], scratch: str, folder: str
) -> FileFinder:
    """Return the finder for a folder that a submission can write to."""
    whole = os.path.realpath(folder)
    below = any(f"{whole}/".startswith(f"{root}/") for root in (scratch, "/dev/shm"))  # noqa: S108  as given
    # An installed package may lie below the scratch, mounted read-only.
    if not below or not os.access(whole, os.W_OK):
        raise ImportError(folder)
    return _Sent(folder, sent)


def import_module(path: Path, scratch: Path, strict: bool = False) -> Imported:
    """Run the top-level statements of a file and return its module.

    Args:
        path: The file.
        scratch: Folder of the submitted files.
        strict: Let exceptions through, as for a file of the instructor's.
    """
    imported = Imported(ModuleType(path.stem))
    module = imported.module
    module.__file__ = str(path)
    # Before it runs: dataclasses and pickle look their module up while it is being imported.
    sys.modules[path.stem] = module
    try:
        _execute(path.read_bytes(), str(path), imported)
    except BaseException as error:
        if strict:
            raise
        imported.fault = describe(error, scratch)
    return imported


def _execute(text: bytes, path: str, imported: Imported) -> None:
    """Run the statements of a file, one after the other."""
    vars(imported.module)["get_ipython"] = Notebook
    # As bytes: Python then finds byte order mark and encoding by its own rules.
    tree = ast.parse(text, path)
    # A notebook may wait outside functions; Python refuses that in a file.
    flags = _future_flags(tree) | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    for block in _blocks(tree.body):
        _run(block, flags, path, imported)


def _future_flags(tree: ast.Module) -> int:
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= getattr(__future__, alias.name).compiler_flag
    return flags


def _blocks(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Group statements: each import alone, everything between two imports together."""
    block: list[ast.stmt] = []
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if block:
                yield block
                block = []
            yield from ([single] for single in _split(node))
        else:
            block.append(node)
    if block:
        yield block


def _split(node: ast.Import | ast.ImportFrom) -> Iterator[ast.stmt]:
    """One statement a name, so that a missing name does not take its neighbours along."""
    # Its flags are given to every block instead: run by itself, it would hold for its own block
    # only.
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return
    for alias in node.names:
        if isinstance(node, ast.Import):
            single: ast.stmt = ast.Import([alias])
        else:
            single = ast.ImportFrom(node.module, [alias], node.level)
        # With its line: compile refuses a statement without one.
        yield ast.copy_location(single, node)


def _run(block: list[ast.stmt], flags: int, filename: str, imported: Imported) -> None:
    tree = ast.Module(body=block, type_ignores=[])
    # dont_inherit: this module's own “from __future__ import annotations” would change the meaning
    # of the submission's annotations.
    code = compile(tree, filename, "exec", flags=flags, dont_inherit=True)
    namespace = vars(imported.module)
    try:
        if code.co_flags & CO_COROUTINE:
            import asyncio  # noqa: PLC0415  few submissions wait; all would pay for the import

            # Statements that wait outside functions, run as a notebook's kernel runs them.
            asyncio.run(FunctionType(code, namespace)())
        else:
            exec(code, namespace)  # noqa: S102  running the submission is what this process is for
    except ImportError as error:
        first = block[0]
        if not isinstance(first, (ast.Import, ast.ImportFrom)):
            raise
        name, bound = _imported_name(first)
        if f"{name}.".startswith(f"{_COLAB}."):
            namespace[bound] = Colab()
            return
        imported.missing.append(name[:200])
        # Questions that do without the module are still graded; using the name raises where it is
        # used.
        namespace[bound] = MissingImport(name, str(error)[:200])


def _imported_name(node: ast.Import | ast.ImportFrom) -> tuple[str, str]:
    alias = node.names[0]
    if isinstance(node, ast.ImportFrom):
        return f"{node.module or '.'}.{alias.name}", alias.asname or alias.name
    return alias.name, alias.asname or alias.name.split(".")[0]
