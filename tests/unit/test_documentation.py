"""Pages of the documentation are short, lead somewhere, and name what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import typer
from faults import no_faults

from grader.checks import KINDS
from grader.cli.app import COMMANDS, LazyGroup, app
from grader.report.messages.catalogue import tables_of
from grader.verdict import Code

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {
    str(page.relative_to(ROOT)): page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")))
}
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


def broken_links(page: Path) -> Iterator[str]:
    for link in ("".join(found) for found in _LINK.findall(prose(page))):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and anchor not in anchors(target):
            yield f"{link}: that page has no such heading"


def test_links_lead_to_a_page_and_a_heading_of_it() -> None:
    no_faults(PAGES, broken_links, "a heading's link is its words in small letters, with hyphens")


def too_long(page: Path) -> Iterator[str]:
    if (lines := len(text(page).splitlines())) >= LONGEST:
        yield f"{lines} lines"


def test_pages_are_short() -> None:
    no_faults(PAGES, too_long, f"a page has fewer than {LONGEST} lines: cut it, or make two of it")


def miscounted(file: Path) -> Iterator[str]:
    readme = " ".join(text(ROOT / "README.md").split())
    questions = len(re.findall(r"^  - id: ", text(file), re.MULTILINE))
    if not re.search(rf"`{file.parent.name}` \({questions}\b", readme):
        yield f"README.md does not say “`{file.parent.name}` ({questions}”"


def test_the_readme_counts_the_questions_of_each_assignment() -> None:
    files = {file.parent.name: file for file in ROOT.glob("assignments/*/assignment.yml")}
    no_faults(files, miscounted, "name it in README.md, with the number of its questions")


def test_every_page_is_linked_from_the_readme() -> None:
    readme = text(ROOT / "README.md")
    no_faults(
        {f"docs/{page.name}": page for page in DOCS.glob("*.md")},
        lambda page: [] if f"(docs/{page.name})" in readme else ["no link from README.md"],
        "link it from README.md",
    )


def missing_files(page: Path) -> Iterator[str]:
    spans = _CODE.findall(prose(page))
    names = {name.rstrip("./") for span in spans for name in _PATH.findall(span) if "<" not in span}
    made = re.compile(r"starter/ID|reference/ID|[a-z/]+/demo")
    for name in sorted(names):
        if not made.match(name) and not (ROOT / name).exists():
            yield name


def test_files_that_a_page_names_are_there() -> None:
    no_faults(PAGES, missing_files, "name the file where it lies now")


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

    def told_otherwise(name: str) -> Iterator[str]:
        own, (_, told) = group.get_command(None, name).get_short_help_str(200), COMMANDS[name]
        if own != told:
            yield f"the list says “{told}”, the command “{own}”"

    no_faults({name: name for name in COMMANDS}, told_otherwise, "correct COMMANDS in app.py")


def wrong_commands(page: Path) -> Iterator[str]:
    for name, arguments in commands(page):
        given = re.findall(r"(?<= )--?[a-z][\w-]*", arguments.partition(" #")[0])
        known = options().get(name)
        if known is None:
            yield f"grader {name}"
        else:
            yield from (f"grader {name} {option}" for option in given if option not in known)


def test_commands_on_a_page_exist_with_their_options() -> None:
    assert sum(len(commands(page)) for page in PAGES.values()) > 50
    no_faults(PAGES, wrong_commands, "`grader COMMAND --help` lists what there is")


def test_grading_explains_every_verdict_code() -> None:
    page = text(DOCS / "grading.md")
    no_faults(
        {code.value: code for code in Code},
        lambda code: [] if re.search(rf"\b{code.value}\b", page) else ["is not on the page"],
        "say in docs/grading.md what it means",
    )


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

    def unexplained(kind: str) -> Iterator[str]:
        keys = sorted(KINDS[kind].model_fields.keys() - common)
        for name in (f"kind {kind}", *(f"key {key}" for key in keys)):
            if not re.search(rf"[`{{ ]{name.split()[1]}[`:]", page):
                yield f"{name} is not on the page"

    no_faults({kind: kind for kind in KINDS}, unexplained, "add a row to docs/checks.md")
