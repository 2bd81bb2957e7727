"""Comments of people on lines, in words: where the line is, and what they say of it."""

from __future__ import annotations

import datetime as dt

from grader.report.messages.words import Words
from grader.report.model import LineComment
from grader.text import inert

MAX_COMMENT = 500
_MAX_NAME = 200
_BREAK = "\n"


def place_of(comment: LineComment, words: Words) -> str:
    """Return the file and line of a comment, as its reader finds them."""
    blanks = (
        {"file": comment.notebook, "line": comment.line_in_cell, "cell": comment.cell}
        if comment.cell
        else {"file": comment.file, "line": comment.line}
    )
    blanks["file"] = inert(str(blanks["file"]), _MAX_NAME)
    place = words.label("excerpt_cell" if comment.cell else "excerpt", **blanks)
    return words.label("comment_earlier", place=place) if comment.earlier else place


def comment_text(comment: LineComment, words: Words, excerpt: bool = True) -> str:
    """Return a comment as plain text: place, what is said, and the line below it.

    Args:
        comment: Of a person.
        words: Of the reader's language.
        excerpt: Show the line, too.
    """
    said = f"{place_of(comment, words)}: {inert(comment.text, MAX_COMMENT, keep=_BREAK)}"
    line = inert(comment.excerpt.strip(), _MAX_NAME)
    return f"{said}\n    > {line}" if excerpt and line else said


def signed(comment: LineComment) -> str:
    """Return who wrote a comment and when, for staff."""
    moment = comment.at.astimezone(dt.timezone.utc)
    return f"{inert(comment.who, _MAX_NAME)}, {moment:%Y-%m-%d %H:%M} UTC"
