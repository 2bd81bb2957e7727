"""Templates become pages of HTML, in the language of their labels."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from grader.report.messages.catalogue import words_in
from grader.report.messages.words import Words
from grader.report.summary import MARKS, amount
from grader.text import inert

INDEX_FILE = "index.html"
STAFF_FILE = "report.html"
STUDENT_FILE = "student.html"

_MAX_TEXT = 4000
SIGNS = {status.value: mark for status, mark in MARKS.items()}
"""Status, as templates know it → sign."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one language.

    Attributes:
        language: ``en`` or ``ko``.
    """

    language: str = "en"

    def __call__(self, name: str, /, **blanks: object) -> str:
        """Return a label with its blanks filled."""
        return self.words.label(name, **blanks)

    @property
    def words(self) -> Words:
        """The words for messages."""
        return words_in(self.language)


def render(
    template: str,
    scripts: tuple[str, ...],
    labels: Labels,
    values: Mapping[str, object],
    styles: tuple[str, ...] = ("page.css",),
) -> str:
    """Return a page."""
    environment = _environment()
    style, early = "\n".join(_asset(name) for name in styles), _asset("early.js")
    script = "\n".join(_asset(name) for name in scripts)
    policy = (
        # A digest for each script: one that escaping missed would still not run.
        f"default-src 'none'; img-src data:; style-src {_digest(style)}; "
        f"script-src {_digest(early)} {_digest(script)}; base-uri 'none'; form-action 'none'"
    )
    return environment.get_template(template).render(
        say=labels,
        language=labels.language,
        codes=labels.words.codes,
        signs=_signs(labels),
        # Only the program's own files are marked as safe; all else is escaped.
        policy=Markup(policy),  # noqa: S704
        style=Markup(style),  # noqa: S704
        early=Markup(early),  # noqa: S704
        script=Markup(script),  # noqa: S704
        **values,
    )


@cache
def _signs(labels: Labels) -> Mapping[str, Markup]:
    """Return each status as a sign with its word for who hears the page; made once, used often."""
    sign = Markup(
        '<span class="mark {0}"><span aria-hidden="true">{1}</span>'
        '<span class="sr">{2}</span></span>'
    )
    return {status: sign.format(status, mark, labels(status)) for status, mark in SIGNS.items()}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("grader.report.html"),
        # Every text comes from a submission, or may.
        autoescape=True,
        # A name mistyped in a template would otherwise be an empty place on the page.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "amount": amount, "inert": _inert, "numbered": _numbered, "numbers": _numbers,
        "percent": _percent, "seconds": _seconds,
    }  # fmt: skip
    made.globals["marks"] = SIGNS
    return made


@cache
def _asset(name: str) -> str:
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _digest(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def _inert(text: str, limit: int = _MAX_TEXT) -> str:
    return inert(text, limit, keep="\n\t")


def _numbered(lines: Sequence[str]) -> Markup:
    """Return lines as items of a list: here, as a template takes most of a page's time for them."""
    items = (
        f'<li><span class="no">{number}</span><code>{escape(line)}</code></li>\n'
        for number, line in enumerate(lines, start=1)
    )
    return Markup("".join(items))  # noqa: S704  each line is escaped


def _numbers(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _seconds(time: float) -> str:
    return f"{time:.1f}" if time >= 1 else f"{time:.2g}"


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")
