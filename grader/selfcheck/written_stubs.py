"""What of an assignment stands in a student's files, as their text shows it; nothing is run."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from grader.assignment.types import Question
from grader.errors import UsageError
from grader.selfcheck.workplace import Workplace, from_text
from grader.static_analysis.stubs import DEFINITIONS, is_stub
from grader.submission import Submission, read_submission
from grader.submission.submission import IntakeError
from grader.verdict import Param


def unwritten(place: Workplace, submission: Submission) -> list[str]:
    """Return the questions whose function, as the text shows it, does nothing but say so."""
    texts = _texts(submission)
    return [item.id for item in _coded(place, texts) if texts[_file(place, item)].stub(item)]


def absent(place: Workplace, submission: Submission) -> list[str]:
    """Return the questions of which, as the text shows it, the file has no function or class.

    One that stands inside a class or another function counts as absent: it is none of the file's.
    """
    texts = _texts(submission)
    return [item.id for item in _coded(place, texts) if not texts[_file(place, item)].has(item)]


def parameters(place: Workplace, question: Question) -> list[str]:
    """Return the names that a question's function gives its arguments; none where it has none."""
    files = from_text(place, lambda own: {file.path: file.data for file in own.files}) or {}
    return parameters_in(files.get(_file(place, question), b""), question.names)


def parameters_in(text: bytes, names: Collection[str]) -> list[str]:
    """Return the names of the positional arguments of the last function of such a name."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return []
    functions = (node for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    found = [node.args for node in functions if node.name in names]
    return [each.arg for each in (*found[-1].posonlyargs, *found[-1].args)] if found else []


def hidden_builtins(place: Workplace, file: str, line: int, error: str) -> list[tuple[str, int]]:
    """Return names of Python's own that a line needs and the file makes something else of, where.

    Args:
        place: The folder.
        file: In which the line stands, as grading calls it.
        line: Where a ``TypeError`` was raised.
        error: What it says.
    """
    tree = from_text(
        place,
        lambda own: ast.parse(next((each.data for each in own.files if each.path == file), b"")),
    )
    if tree is None:
        return []
    called: dict[str, None] = {}
    for node in ast.walk(tree):
        needed = node.func if isinstance(node, ast.Call) and "not callable" in error else None
        # Only a type of Python's own stands before brackets: list[int].
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in _TYPES:
            needed = node.value
        if isinstance(needed, ast.Name) and needed.lineno == line:
            called[needed.id] = None
    nodes = [*_of_the_file(tree.body)]
    for function in _holders(tree):
        if function.lineno <= line <= (function.end_lineno or 0):
            nodes += _of_the_file(function.body)
    made = {
        node.id: node.lineno
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return [(name, made[name]) for name in called if name in made and hasattr(builtins, name)]


def leaves_in_first_turn(place: Workplace, question: Question) -> list[tuple[str, int]]:
    """Return (file, line) of each ``return`` that ends a loop in its first turn, whatever happens.

    Args:
        place: The folder.
        question: Whose function or class is looked at.
    """
    file = _file(place, question)
    tree = from_text(
        place,
        lambda own: ast.parse(next((each.data for each in own.files if each.path == file), b"")),
    )
    own = (node for node in (tree.body if tree else ()) if isinstance(node, DEFINITIONS))
    loops = (
        node
        for each in own
        if each.name in question.names
        for node in ast.walk(each)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While))
    )
    return sorted((file, line) for loop in loops if (line := _return_at_once(loop)))


def _return_at_once(loop: ast.For | ast.AsyncFor | ast.While) -> int:
    """Return the line of a ``return`` that every first turn comes to; 0 if there is none."""
    # These may go round it; so may what stands under an “if”, which is no statement of the body.
    if any(isinstance(node, (ast.Continue, ast.Break)) for node in ast.walk(loop)):
        return 0
    return next((node.lineno for node in loop.body if isinstance(node, ast.Return)), 0)


def bracket_lines(submission: Submission, names: Collection[str], assigned: bool) -> Places:
    """Return (file, line) of what reads ``x[…]`` or assigns to it, in functions and their helpers.

    Brackets on types, shapes and written-out lists are none of a tensor's.

    Args:
        submission: What is looked at.
        names: Of the functions that are called.
        assigned: Look for assignments.
    """
    context = ast.Store if assigned else ast.Load
    found: dict[tuple[str, int], None] = {}
    for file in (each for each in submission.files if each.path.endswith(".py")):
        tree = ast.parse(file.data)
        own = {node.name: node for node in tree.body if isinstance(node, DEFINITIONS)}
        waiting, seen = [name for name in names if name in own], set[str]()
        while waiting:
            seen.add(name := waiting.pop())
            # A default or an annotation is worked out when the file is loaded, not at the call.
            for node in (inner for each in own[name].body for inner in ast.walk(each)):
                if isinstance(node, ast.Name) and node.id in own and node.id not in seen:
                    waiting.append(node.id)
                if isinstance(node, ast.Subscript) and isinstance(node.ctx, context):
                    on = node.value
                    if not isinstance(on, _WRITTEN_OUT) and not _SIZES.search(ast.unparse(on)):
                        found[file.path, node.lineno] = None
    return sorted(found)


Places = list[tuple[str, int]]
_WRITTEN_OUT = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.JoinedStr)
_SIZES = re.compile(r"(?:\.shape|\.size\(\)|^(?:dict|list|tuple|set))$")
_TYPES = frozenset({"dict", "frozenset", "list", "set", "tuple", "type"})


@dataclass(frozen=True, slots=True)
class Inside:
    """A function that stands inside a class or another function, where nothing finds it.

    Attributes:
        file: In which it stands, as grading calls the file.
        line: Where it begins.
        holder: Name of the class or function.
    """

    file: str
    line: int
    holder: str

    def params(self, function: str) -> dict[str, Param]:
        """Return what its message says of a function."""
        return {
            "function": function, "holder": self.holder, "file": self.file, "line": self.line,
        }  # fmt: skip


def inside(place: Workplace, submission: Submission, question: Question) -> Inside | None:
    """Return where a question's function stands inside something else; None if it does not."""
    texts = _texts(submission)
    file = _file(place, question)
    if file not in texts or texts[file].has(question):
        return None
    for holder in _holders(texts[file].tree):
        for node in holder.body:
            if isinstance(node, DEFINITIONS) and node.name in question.names:
                return Inside(file, node.lineno, holder.name)
    return None


def elsewhere(place: Workplace, submission: Submission) -> dict[str, list[str]]:
    """Return other files of the folder → questions that are written there, and not here.

    Args:
        place: The folder.
        submission: What would be handed in of it.
    """
    open_ones = {*unwritten(place, submission), *absent(place, submission)}
    asked = [item for item in place.public.assignment.coded if item.id in open_ones]
    if not asked:
        return {}
    found = {}
    for path in _others(place):
        text = _read(path)
        if text is None:
            continue
        names = [item.id for item in asked if text.defines(item) and not text.stub(item)]
        if names:
            found[path.name] = names
    return found


def nothing_written(place: Workplace, submission: Submission) -> bool:
    """Return whether nothing that is asked for is written, as the texts show it."""
    left = {*unwritten(place, submission), *absent(place, submission)}
    return all(item.id in left for item in place.public.assignment.coded)


def takes_long_to_load(submission: Submission) -> list[tuple[str, int]]:
    """Return (file, line) of what may take long outside functions, the likeliest first.

    Waiting comes before loops, and these before calls of the file's own functions.
    """
    found: list[tuple[int, str, int]] = []
    for file in submission.files:
        if file.path.endswith(".py"):
            tree = ast.parse(file.data)
            own = {node.name for node in tree.body if isinstance(node, DEFINITIONS)}
            ranked = (_slowness(node, own) for node in _run_at_once(tree.body))
            found += [(rank, file.path, line) for rank, line in ranked if rank]
    return [(file, line) for _, file, line in sorted(found)]


def default_devices(submission: Submission) -> list[tuple[str, int, str]]:
    """Return (file, line, call) of what puts all tensors on a GPU as soon as a file is loaded.

    What stands under an ``if`` is left alone: it may ask whether there is one.
    """
    found = []
    for file in (each for each in submission.files if each.path.endswith(".py")):
        text = file.data.decode("utf-8", "replace")
        calls = (node for node in ast.parse(file.data).body if isinstance(node, ast.Expr))
        found += [
            (file.path, node.lineno, ast.get_source_segment(text, node) or ast.unparse(node))
            for node in calls
            if isinstance(node.value, ast.Call) and _sets_gpu(node.value)
        ]
    return found


_DEFAULTS = frozenset({"set_default_device", "set_default_tensor_type"})
_GPU = re.compile(r"(?:torch\.)?(?:cuda|mps)\b.*")


def _sets_gpu(call: ast.Call) -> bool:
    """Return whether a call sets a default, and its argument can mean nothing but a GPU."""
    if ast.unparse(call.func).rpartition(".")[2] not in _DEFAULTS:
        return False
    return any(map(_is_gpu, (*call.args, *(keyword.value for keyword in call.keywords))))


def _is_gpu(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):  # torch.device("cuda")
        return ast.unparse(node.func).endswith("device") and any(map(_is_gpu, node.args))
    name = node.value if isinstance(node, ast.Constant) else ast.unparse(node)
    return isinstance(name, str) and _GPU.fullmatch(name) is not None


def _run_at_once(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that loading runs, those of ``if`` and the like one by one."""
    for node in body:
        if isinstance(node, (ast.If, ast.With, ast.Try)):
            if not (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)):
                parts = (getattr(node, part, ()) for part in ("body", "orelse", "finalbody"))
                yield from _run_at_once(chain.from_iterable(parts))
        elif not isinstance(node, DEFINITIONS):
            yield node


_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
_WAITING, _LOOPING, _CALLING = 1, 2, 3


def _slowness(statement: ast.stmt, own: Collection[str]) -> tuple[int, int]:
    """Return how likely a statement takes long, 1 the likeliest, and the line; 0 for nothing."""
    nodes = list(ast.walk(statement))
    calls = [(ast.unparse(node.func), node) for node in nodes if isinstance(node, ast.Call)]
    for name, node in calls:
        if name.rpartition(".")[2] in ("sleep", "input"):
            return _WAITING, node.lineno
    if any(isinstance(node, _LOOPS) for node in nodes):
        return _LOOPING, statement.lineno
    return _CALLING if any(name in own for name, _ in calls) else 0, statement.lineno


_MOST_LOOKED_AT = 50
_LARGEST = 1 << 22
"""Bytes of a file beside the student's that is looked into."""


def _others(place: Workplace) -> Iterator[Path]:
    taken = {path.resolve() for path in place.files}
    given = {*place.public.support, "conftest.py"}
    sources = (path for path in sorted(place.folder.iterdir()) if path.suffix in (".py", ".ipynb"))
    for path in list(sources)[:_MOST_LOOKED_AT]:
        known = path.name in given or path.name.startswith("test_") or path.resolve() in taken
        if not known and path.is_file() and path.stat().st_size < _LARGEST:
            yield path


def _read(path: Path) -> _Text | None:
    """Return what a file or notebook defines; None where it cannot be read."""
    try:
        submission = read_submission({f"any{path.suffix}": path}, ["any.py"])
        return _Text(ast.parse(submission.files[0].data))
    except (IntakeError, UsageError, OSError, SyntaxError, ValueError, RecursionError):
        return None


def _texts(submission: Submission) -> dict[str, _Text]:
    return {
        file.path: _Text(ast.parse(file.data))
        for file in submission.files
        if file.path.endswith(".py")
    }


def _file(place: Workplace, question: Question) -> str:
    return place.public.assignment.file_of(question)


def _coded(place: Workplace, texts: dict[str, _Text]) -> Iterator[Question]:
    return (item for item in place.public.assignment.coded if _file(place, item) in texts)


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class _Text:
    """What the text of a file defines."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        own = list(_of_the_file(tree.body))
        self._defined = {node.name: node for node in own if isinstance(node, DEFINITIONS)}
        self._bound = {*self._defined, *_bound(own), *_declared_global(tree)}
        if _in_disguise(tree):
            self._bound.add("*")

    def has(self, question: Question) -> bool:
        """Return whether the file binds a name of a question, or could in a way no text shows."""
        return bool(self._bound & {*question.names, "*"})

    def defines(self, question: Question) -> bool:
        """Return whether a function or class of a question's name stands in the file."""
        return any(name in self._defined for name in question.names)

    def stub(self, question: Question) -> bool:
        """Return whether a question's function is still to be written."""
        return any(
            name in self._defined and is_stub(self._defined[name]) for name in question.names
        )


def _of_the_file(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield all that stands in a body, without what functions and classes in it hold."""
    for node in body:
        yield node
        if not isinstance(node, (*DEFINITIONS, ast.Lambda)):
            yield from _of_the_file(ast.iter_child_nodes(node))


def _bound(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _declared_global(tree: ast.Module) -> Iterator[str]:
    found = (node.names for node in ast.walk(tree) if isinstance(node, ast.Global))
    return chain.from_iterable(found)


_WAYS_ROUND = frozenset({"__dict__", "__getattr__", "exec", "globals", "locals", "setattr", "vars"})


def _in_disguise(tree: ast.Module) -> bool:
    """Return whether a file could bind names that do not stand in it as such."""
    for node in ast.walk(tree):
        names = (getattr(node, part, None) for part in ("id", "attr", "name"))
        if any(isinstance(name, str) and name in _WAYS_ROUND for name in names):
            return True
    return False


def _holders(tree: ast.Module) -> Iterator[_Definition]:
    return (node for node in ast.walk(tree) if isinstance(node, DEFINITIONS))
