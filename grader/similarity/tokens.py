"""Python as tokens: what is left of a submission when names, comments and layout do not count."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Name, Number, String, Text

_SYMBOLS = 1 << 20
_FIRST = 0x10000  # above the surrogates, and all of Unicode that is left from there on
_DROPPED = (Comment, Text, String.Doc)
_OWN = ("self", "cls")
"""After these and a dot stand names that the writer chose, not those of a library."""

TokenKind = tuple[str, ...]
"""A kind of token, as Pygments has them."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A submission as tokens.

    Attributes:
        document: One character a token; equal tokens are equal characters.
        starts: Where each begins in the text, in characters.
        ends: Where each ends.
    """

    document: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def tokenise(text: str) -> Tokens:
    """Return the tokens of a Python file. Text that is no Python is taken as it comes."""
    found = list(_significant(text))
    return Tokens(
        "".join(_character(symbol) for symbol, _, _ in found),
        tuple(start for _, start, _ in found),
        tuple(end for _, _, end in found),
    )


def pack(tokens: Tokens) -> bytes:
    """Return tokens as bytes."""
    symbols = [ord(character) for character in tokens.document]
    return json.dumps([symbols, tokens.starts, tokens.ends], separators=(",", ":")).encode()


def unpack(data: bytes) -> Tokens:
    """Return the tokens in what a worker wrote.

    Raises:
        ValueError: It is no such thing; the worker read hostile text and is not trusted with more.
    """
    try:
        symbols, starts, ends = ([int(number) for number in part] for part in json.loads(data))
        document = "".join(map(chr, symbols))
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"not what the tokeniser writes: {error!r}") from error
    if not len(symbols) == len(starts) == len(ends) or min([*starts, *ends], default=0) < 0:
        raise ValueError("not what the tokeniser writes")
    return Tokens(document, tuple(starts), tuple(ends))


def _significant(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (symbol, start, end) of the tokens that count."""
    before = last = ""
    string: tuple[int, int] | None = None  # comes in pieces: prefix, quotes, escapes
    for start, kind, written in PythonLexer().get_tokens_unprocessed(text):
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
