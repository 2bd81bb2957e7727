"""Which language a student reads: as asked for, else as the machine is set."""

from __future__ import annotations

import os

from grader.report import words_ko
from grader.report.words import ENGLISH, Words

KOREAN = Words(
    {**ENGLISH.sentences, **words_ko.SENTENCES},
    {**ENGLISH.codes, **words_ko.CODES},
    words_ko.PHRASES,
)
"""What has no Korean words yet is said in English: better than an id."""

LANGUAGES = {"en": ENGLISH, "ko": KOREAN}
VARIABLE = "TORCHGRADE_LANG"
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")


def choose(language: str) -> None:
    """Have this process, and those that it starts, speak a language.

    Args:
        language: A key of ``LANGUAGES``.
    """
    os.environ[VARIABLE] = language


def current() -> Words:
    """Return the words of the language that was chosen, or that the locale names."""
    names = (os.environ.get(VARIABLE), next(filter(None, map(os.environ.get, _LOCALE)), None))
    found = (LANGUAGES.get((name or "")[:2].lower()) for name in names)
    return next(filter(None, found), ENGLISH)
