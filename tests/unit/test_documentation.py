"""Pages of the documentation are short, lead somewhere, and name what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer

from grader.checks import KINDS
from grader.cli.app import COMMANDS, LazyGroup, app
from grader.report.messages.catalogue import tables_of
from grader.verdict import Code

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
LONGEST = 250
_LINK = re.compile(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"")
_CODE = re.compile(r"`([^`\n]+)`")
_FENCE = re.compile(r"^ *(```+).*?^ *\1$", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"(?:grader|tests|assignments|reference|starter|docs|\.ci)/[\w./-]+")
_SENTENCE_END = re.compile(r"(?<=[.?!]) ")
_FEW_LETTERS = 8
_COMMAND = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?grader ([a-z][a-z-]*)((?: .*)?)$")


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    return _FENCE.sub("", text(page))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return what GitHub calls the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return frozenset(heading.replace(" ", "-") for heading in plain)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_a_page_and_a_heading_of_it(page: Path) -> None:
    broken = []
    for link in ("".join(found) for found in _LINK.findall(prose(page))):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_are_short(page: Path) -> None:
    assert len(text(page).splitlines()) < LONGEST


def test_the_readme_counts_the_questions_of_each_assignment() -> None:
    readme = " ".join(text(ROOT / "README.md").split())
    for file in (ROOT / "assignments").glob("*/assignment.yml"):
        questions = len(re.findall(r"^  - id: ", text(file), re.MULTILINE))
        assert re.search(rf"`{file.parent.name}` \({questions}\b", readme), file.parent.name


def test_every_page_is_linked_from_the_readme() -> None:
    readme = text(ROOT / "README.md")
    pages = [page.name for page in DOCS.glob("*.md")]
    assert [name for name in pages if f"(docs/{name})" not in readme] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    spans = _CODE.findall(prose(page))
    names = {name.rstrip("./") for span in spans for name in _PATH.findall(span) if "<" not in span}
    made = re.compile(r"starter/ID|reference/ID|[a-z/]+/demo")
    assert sorted(n for n in names if not made.match(n) and not (ROOT / n).exists()) == []


def commands(page: Path) -> list[tuple[str, str]]:
    """Return subcommand and arguments of each ``grader …`` on a page."""
    lines = [line for block in _FENCE.finditer(text(page)) for line in block[0].splitlines()]
    spans = _CODE.findall(prose(page))
    each = (_COMMAND.match(line.strip()) for line in [*lines, *spans])
    return [(found[1], found[2]) for found in each if found]


@cache
def options() -> dict[str, set[str]]:
    """Return the options of each subcommand."""
    group = typer.main.get_command(app)
    assert isinstance(group, LazyGroup)
    return {
        name: {"--help"}.union(
            *((*each.opts, *each.secondary_opts) for each in group.get_command(None, name).params)
        )
        for name in group.list_commands(None)
    }


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, LazyGroup)
    for name, (_, told) in COMMANDS.items():
        assert group.get_command(None, name).get_short_help_str(200) == told


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_a_page_exist_with_their_options(page: Path) -> None:
    wrong = []
    for name, arguments in commands(page):
        given = re.findall(r"(?<= )--?[a-z][\w-]*", arguments.partition(" #")[0])
        known = options().get(name)
        wrong += [f"grader {name}"] if known is None else [
            f"grader {name} {option}" for option in given if option not in known
        ]  # fmt: skip
    assert wrong == []


def test_pages_show_commands() -> None:
    assert sum(len(commands(page)) for page in PAGES) > 50


def test_grading_explains_every_verdict_code() -> None:
    page = text(DOCS / "grading.md")
    assert [code.value for code in Code if not re.search(rf"\b{code.value}\b", page)] == []


def sentences() -> list[re.Pattern[str]]:
    """Return the sentences of all English messages, with any text in their blanks."""
    texts = [str(text) for text in _strings(tables_of("en"))]
    said = {sentence for text in texts for sentence in _SENTENCE_END.split(text)}
    found = []
    for sentence in said:
        parts = re.split(r"\{[^}]*\}", sentence)
        if sum(map(len, parts)) > _FEW_LETTERS:
            found.append(re.compile(".+?".join(map(re.escape, parts))))
    return found


def _strings(tree: object) -> Iterator[object]:
    if isinstance(tree, (dict, list)):
        for item in tree.values() if isinstance(tree, dict) else tree:
            yield from _strings(item)
    else:
        yield tree


def test_quoted_messages_are_what_the_grader_says() -> None:
    bad = text(DOCS / "grading.md").split("## Bad submissions")[1].split("\n## ")[0]
    quotes = re.findall(r" \*([^*]+)\*", bad)
    wrong = text(DOCS / "student.md").split("## When something goes wrong")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (?!message|-)(.*?) \|", wrong, re.MULTILINE)
    quotes += [f"{row.replace('…', 'what')}." for row in rows]
    known = sentences()
    spoken = [sentence.strip("… ") for quote in quotes for sentence in _SENTENCE_END.split(quote)]
    assert len(spoken) > 25
    unknown = [
        sentence
        for sentence in spoken
        if sentence and not any(each.fullmatch(sentence) for each in known)
    ]
    assert unknown == []


def test_checks_explains_every_kind_and_its_keys() -> None:
    page = text(DOCS / "checks.md")
    common = {"id", "kind", "points", "cases", "requires", "visibility", "item", "claim"}
    missing = [
        f"{kind}: {key}"
        for kind, cls in KINDS.items()
        for key in [kind, *(cls.model_fields.keys() - common)]
        if not re.search(rf"[`{{ ]{key}[`:]", page)
    ]
    assert missing == []
