"""Which language a reader is spoken to in. Nothing large is imported: help texts ask it, too."""

from __future__ import annotations

import os

LANGUAGES = ("en", "ko")
VARIABLE = "TORCHGRADE_LANG"
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")


def choose(language: str) -> None:
    """Have this process, and those that it starts, speak a language."""
    os.environ[VARIABLE] = language


def current_language() -> str:
    """Return the language that was chosen, or that the locale names; else English."""
    names = (os.environ.get(VARIABLE), next(filter(None, map(os.environ.get, _LOCALE)), None))
    known = (name[:2].lower() for name in names if name)
    return next((name for name in known if name in LANGUAGES), "en")
