"""What instructors make: assignments, starters, packs for platforms; and what tries them."""

from __future__ import annotations

from pkgutil import get_data


def template(name: str, **blanks: str) -> str:
    """Return a file that is written for an instructor, its blanks filled.

    Args:
        name: In ``grader/authoring/templates``.
        blanks: ``id`` fills ``@ID@``, and so on.
    """
    text = (get_data(__name__, f"templates/{name}") or b"").decode()
    for blank, value in blanks.items():
        text = text.replace(f"@{blank.upper()}@", value)
    return text
