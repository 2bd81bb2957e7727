"""Python as tokens: what is left of a submission when names, comments and layout do not count."""

from __future__ import annotations

import ast
import builtins
import hashlib
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Name, Number, String, Text

from grader.static_analysis.reader import serve

_SYMBOLS = 1 << 20
_FIRST = 0x10000  # above the surrogates, and all of Unicode that is left from there on
_DROPPED = (Comment, Text, String.Doc)
_OWN = ("self", "cls")
"""After these and a dot stand names that the writer chose, not those of a library."""

_BYTES = 16
"""Of a digest."""

TokenKind = tuple[str, ...]
"""A kind of token, as Pygments has them."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A submission as tokens.

    Attributes:
        document: One character a token; equal tokens are equal characters.
        starts: Where each begins in the text, in characters.
        ends: Where each ends.
        forms: Of each statement at the top a digest over its form; none where it is no Python.
            Brackets and commas that a formatter adds change tokens, and no form.
    """

    document: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    forms: tuple[str, ...] = ()


def tokenise(text: str) -> Tokens:
    """Return the tokens of a Python file. Text that is no Python is taken as it comes."""
    found = list(_significant(text))
    return Tokens(
        "".join(_character(symbol) for symbol, _, _ in found),
        tuple(start for _, start, _ in found),
        tuple(end for _, _, end in found),
        tuple(_forms(text)),
    )


def pack(tokens: Tokens) -> bytes:
    """Return tokens as bytes."""
    symbols = [ord(character) for character in tokens.document]
    parts = [symbols, tokens.starts, tokens.ends, tokens.forms]
    return json.dumps(parts, separators=(",", ":")).encode()


def unpack(data: bytes) -> Tokens:
    """Return the tokens in what a worker wrote.

    Raises:
        ValueError: It is no such thing; the worker read hostile text and is not trusted with more.
    """
    try:
        *numbers, forms = json.loads(data)
        symbols, starts, ends = ([int(number) for number in part] for part in numbers)
        digests = tuple(_digest(form) for form in forms)
        document = "".join(map(chr, symbols))
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"not what the tokeniser writes: {error!r}") from error
    if not len(symbols) == len(starts) == len(ends) or min([*starts, *ends], default=0) < 0:
        raise ValueError("not what the tokeniser writes")
    return Tokens(document, tuple(starts), tuple(ends), digests)


def _digest(text: object) -> str:
    if isinstance(text, str) and len(text) == 2 * _BYTES:
        return text
    raise ValueError(f"no digest: {text!r:.40}")


def _significant(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (symbol, start, end) of the tokens that count."""
    before = last = ""
    string: tuple[int, int] | None = None  # comes in pieces: prefix, quotes, escapes
    for start, kind, written in PythonLexer().get_tokens_unprocessed(text):
        # Before the strings are gathered: to Pygments a docstring is a kind of string as well.
        if not written.strip() or any(kind in dropped for dropped in _DROPPED):
            continue
        end = start + len(written)
        if kind in String:
            string = (string[0] if string else start, end)
            continue
        if string:
            yield "S", *string
            string = None
        yield _symbol(kind, written, given=last == "." and before not in _OWN), start, end
        before, last = last, written
    if string:
        yield "S", *string


def _symbol(kind: TokenKind, written: str, *, given: bool) -> str:
    """Return what a token counts as.

    Args:
        kind: As the lexer says.
        written: Its text.
        given: It is a name after a dot, and somebody else's.
    """
    if kind in Number:
        return written.lower()
    if kind is Name.Function or kind is Name.Class:
        return "F"
    if kind is Name or kind in Name.Variable:
        return f".{written}" if given else "V"
    return written


def _character(symbol: str) -> str:
    """Return the character that stands for a symbol, the same in every process."""
    digest = hashlib.blake2b(symbol.encode("utf-8", "backslashreplace"), digest_size=4).digest()
    return chr(_FIRST + int.from_bytes(digest, "big") % _SYMBOLS)


def _forms(text: str) -> Iterator[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = ast.parse(text)
            tree = _Nameless(parsed).visit(parsed)
        dumps = [ast.dump(node) for node in tree.body]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for dump in dumps:
        yield hashlib.blake2b(
            dump.encode("utf-8", "backslashreplace"), digest_size=_BYTES
        ).hexdigest()


class _Nameless(ast.NodeTransformer):
    """Takes away what the tokens do not count either: names of one's own, strings, docstrings."""

    def __init__(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
        # Whoever calls one of their own variables “sum” has renamed it; else “min” is not “max”.
        self._given = frozenset(dir(builtins)) - stored - arguments

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return node if node.id in self._given else ast.Name("V", node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = "V"
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        node.arg = node.arg and "V"
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id in _OWN:
            node.attr = "V"
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("S") if isinstance(node.value, (str, bytes)) else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._defined(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._defined(node)

    def visit_Module(self, node: ast.Module) -> ast.AST:
        return self._without_docstring(node)

    def _defined(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        node.name = "F"
        return self._without_docstring(node)

    def _without_docstring(self, node: ast.FunctionDef | ast.ClassDef | ast.Module) -> ast.AST:
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
        return self.generic_visit(node)


if __name__ == "__main__":
    serve(lambda data: pack(tokenise(data.decode("utf-8", "replace"))), too_much=b"[]")
