"""The pages: all text in them is text."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from class_of import DISGUISED, LONG, OTHER, read

from grader.batch.discover import ClassSubmission, Student
from grader.similarity.compare import compare
from grader.similarity.pages import DATA_FILE, Comparison, People, histogram, sides, write_pages

HOSTILE = "</span></mark><script>alert(1)</script><img src=x onerror=alert(1)>"
ODD = "an\x1b[31mn<b>\u202e"


class Tags(HTMLParser):
    """Collects what a browser would see as elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def write(tmp_path: Path, threshold: float = 0.6) -> Path:
    files = {
        "ann": f"# {HOSTILE}\n{LONG}",
        ODD: f"{DISGUISED}\ns = '{HOSTILE}'\nt = '\u202e\x07'\n",
        "cem": OTHER,
        "twin": OTHER,
        "bad": "",
    }
    people = People([ClassSubmission("ann", tmp_path, (Student(f"Ann {HOSTILE}", id="1"),))])
    found = read(tmp_path / "class", **files)
    findings = compare(found.compared, [], threshold)
    comparison = Comparison(f"A & {HOSTILE}", 5, found, findings, threshold, people, given=False)
    return write_pages(comparison, tmp_path / "out")


def test_every_page_is_inert_and_whole(tmp_path: Path) -> None:
    index = write(tmp_path)
    pages = [index, *sorted((index.parent / "pairs").iterdir())]
    assert len(pages) == 2
    for page in pages:
        text = page.read_text()
        tags = Tags(text).seen
        assert not any(attributes for tag, attributes in tags if tag == "script")
        assert "<script>alert" not in text
        assert not any(tag in ("img", "iframe", "object", "form") for tag, _ in tags)
        assert not any(name.startswith("on") for _, attributes in tags for name in attributes)
        policy = next(a["content"] for t, a in tags if t == "meta" and "http-equiv" in a)
        assert policy is not None
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        for sign in ("\x1b", "\x07", "\u202e"):
            assert sign not in text
        for link in (a["href"] for t, a in tags if t in ("a", "link")):
            assert link is not None
            assert link.startswith(("#", "data:", "pairs/0", "../index.html")), link


def test_the_index_says_what_was_found_and_what_it_is_worth(tmp_path: Path) -> None:
    text = write(tmp_path).read_text()
    assert "A list of what to read, not of who copied" in text
    assert "No starter was found" in text
    assert "cem · twin" in text
    assert "bad: " in text
    assert "Ann &lt;/span&gt;" in text
    assert "an\\x1b[31mn&lt;b&gt;" in text


def test_a_pair_shows_both_and_leads_from_one_to_the_other(tmp_path: Path) -> None:
    text = (write(tmp_path).parent / "pairs" / "001.html").read_text()
    tags = Tags(text).seen
    places = {a["id"] for _, a in tags if "id" in a}
    jumps = [a["href"] for t, a in tags if t == "a" and str(a["href"])[1:2] in ("l", "r")]
    assert jumps
    assert {str(jump)[1:] for jump in jumps} <= places


def test_pages_of_an_earlier_comparison_go(tmp_path: Path) -> None:
    write(tmp_path / "one")
    folder = tmp_path / "out" / "pairs"
    folder.mkdir(parents=True)
    (folder / "007.html").write_text("old")
    (folder / "mine.html").write_text("not ours")
    write(tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == ["001.html", "mine.html"]


def test_the_data_are_there_too(tmp_path: Path) -> None:
    data = json.loads((write(tmp_path).parent / DATA_FILE).read_text())
    assert data["threshold"] == 0.6
    assert data["copies"] == [["cem", "twin"]]
    assert [len(pair["shares"]) for pair in data["pairs"]] == [2]
    assert data["not_compared"].keys() == {"bad"}


def test_lines_are_what_was_handed_in(tmp_path: Path) -> None:
    found = read(tmp_path, ann=LONG, bob=DISGUISED)
    (pair,) = compare(found.compared, [], 0.6).pairs
    for side, hand_in in zip(sides(pair), found.compared, strict=True):
        lines = ["".join(piece.text for piece in line.pieces) for line in side.lines]
        assert "\n".join(lines) == hand_in.script.source
        begun = [p.match for line in side.lines for p in line.pieces if p.begins]
        assert begun == list(range(len(side.partners)))


@pytest.mark.parametrize(("score", "low"), [(0.0, 0), (0.049, 0), (0.05, 5), (0.99, 95), (1.0, 95)])
def test_the_histogram_has_a_place_for_every_score(score: float, low: int) -> None:
    assert [bar.low for bar in histogram({"ann": score}) if bar.count] == [low]


def test_people() -> None:
    here = Path()
    people = People([
        ClassSubmission("a", here, (Student("Ann", "ann@x"), Student("Bob", id="2"))),
        ClassSubmission("b", here, (Student("Bob", id="2"),)),
        ClassSubmission("c", here, (Student("Cem"),)),
        ClassSubmission("d", here),
    ])  # fmt: skip
    assert people.known_as("a") == "Ann, Bob"
    assert people.known_as("d") == people.known_as("nobody") == ""
    assert not people.apart("a", "b")
    assert people.apart("a", "c")
    assert people.apart("c", "d")
