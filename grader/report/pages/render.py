"""Views become HTML."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from grader.report.language import LANGUAGES
from grader.report.summary import amount
from grader.report.text import inert
from grader.report.words import ENGLISH, Words
from grader.report.words_en_pages import LABELS as ENGLISH_LABELS
from grader.report.words_ko_pages import LABELS as KOREAN_LABELS

if TYPE_CHECKING:
    from grader.report.pages.class_view import ClassView

INDEX_FILE = "index.html"
STAFF_FILE = "report.html"
STUDENT_FILE = "student.html"

_LABELS = {"en": ENGLISH_LABELS, "ko": KOREAN_LABELS}
_MAX_TEXT = 4000
MARKS = {
    "passed": "✓",
    "partial": "◐",
    "failed": "✗",
    "skipped": "–",
    "deferred": "…",
    "error": "!",
}
"""Status → sign; never by colour alone."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of one language.

    Attributes:
        language: ``en`` or ``ko``.
    """

    language: str = "en"

    def __call__(self, name: str, /, **blanks: object) -> str:
        """Return a label with its blanks filled."""
        return _LABELS[self.language][name].format_map(blanks)

    @property
    def words(self) -> Words:
        """The words for messages."""
        return LANGUAGES.get(self.language, ENGLISH)


def class_page(view: ClassView, labels: Labels) -> str:
    """Return the page of a class."""
    return render("class.html", ("base.js", "class.js"), labels, {"view": view})


def render(
    template: str,
    scripts: tuple[str, ...],
    labels: Labels,
    values: Mapping[str, object],
    styles: tuple[str, ...] = ("page.css",),
) -> str:
    """Return a page.

    Args:
        template: Its name.
        scripts: Names of the scripts in it.
        labels: Language.
        values: What the template fills in.
        styles: Names of the styles in it.
    """
    environment = _environment()
    style, early = "\n".join(_asset(name) for name in styles), _asset("early.js")
    script = "\n".join(_asset(name) for name in scripts)
    policy = (
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
    return {status: sign.format(status, mark, labels(status)) for status, mark in MARKS.items()}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("grader.report.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "amount": amount, "inert": _inert, "numbered": _numbered, "numbers": _numbers,
        "percent": _percent,
    }  # fmt: skip
    made.globals["marks"] = MARKS
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


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")
