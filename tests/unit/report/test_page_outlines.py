"""What stands where on a page: structure, points and links. Its texts are the catalogue's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from faults import no_faults

import grader.report.html
from grader.report.html.class_page import ClassRow, class_page, class_view, question_lines
from grader.report.html.question_page import question_page, question_views
from grader.report.html.render import SIGNS, Labels
from grader.report.html.submission_page import staff_page, student_page
from grader.report.model import CheckResult, QuestionResult, Report, Timing
from grader.report.summary import amount, mistakes_in
from grader.verdict import Code, Status, Visibility

ENGLISH, KOREAN = Labels("en"), Labels("ko")
VOID = {"meta", "link", "input", "br", "img"}
READ = {"title", "alt", "aria-label", "placeholder"}
"""Attributes that are read out; data- attributes of scripts hold texts as well."""


@dataclass
class Element:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    parts: list[Element | str] = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    @property
    def text(self) -> str:
        parts = (part if isinstance(part, str) else part.text for part in self.parts)
        return " ".join(" ".join(parts).split())

    def inside(self) -> Iterator[Element]:
        for part in self.parts:
            if isinstance(part, Element):
                yield part
                yield from part.inside()

    def all(self, tag: str, *classes: str, **attributes: str) -> list[Element]:
        return [
            each
            for each in self.inside()
            if each.tag == tag and set(classes) <= each.classes
            and all(each.attributes.get(name) == value for name, value in attributes.items())
        ]  # fmt: skip

    def one(self, tag: str, *classes: str, **attributes: str) -> Element:
        (found,) = self.all(tag, *classes, **attributes)
        return found

    def outline(self) -> tuple[object, ...]:
        """Tags, and what their attributes are that nobody reads."""
        kept = {
            name: value
            for name, value in self.attributes.items()
            if name not in READ and not name.startswith("data-") and name != "lang"
        }
        return self.tag, kept, [each.outline() for each in self.parts if isinstance(each, Element)]


class Reader(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.root = Element("page")
        self._open = [self.root]
        self.feed(page)
        assert self._open == [self.root], "an element is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].parts.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].parts.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self._open[-1].parts.append(data)


LABELS = {
    text
    for name, text in ENGLISH.words.labels.items()
    if "{" not in text and text != KOREAN.words.labels[name]
}
"""What a page says in English."""


def own_texts(root: Element) -> set[str]:
    """The texts and attributes that are read, each by itself."""
    texts = {part.strip() for each in root.inside() for part in each.parts if isinstance(part, str)}
    return texts | {
        value
        for each in root.inside()
        for name, value in each.attributes.items()
        if name in READ or name.startswith("data-")
    }


def read(page: str) -> Element:
    return Reader(page).root


def named(report: Report, name: str) -> Report:
    submission = report.submission.model_copy(update={"id": name})
    return report.model_copy(update={"submission": submission})


@pytest.fixture
def rows(report: Report, broken: Report) -> list[ClassRow]:
    return [
        ClassRow(each, f"{each.submission.id}/report.html", f"{each.submission.id}/student.html")
        for each in (named(report, "a"), named(broken, "b"))
    ]


def first_question(rows: list[ClassRow], labels: Labels) -> str:
    view = class_view(rows, labels)
    return question_page(question_views(view, {"multiply": "m"})[0], view, labels)


@pytest.fixture
def pages(report: Report, rows: list[ClassRow]) -> list[tuple[str, str]]:
    """Each page in English and in Korean."""
    return [
        (first_question(rows, ENGLISH), first_question(rows, KOREAN)),
        (staff_page(report, ENGLISH), staff_page(report, KOREAN)),
        (student_page(report, ENGLISH), student_page(report, KOREAN)),
        (
            class_page(class_view(rows, ENGLISH), ENGLISH),
            class_page(class_view(rows, KOREAN), KOREAN),
        ),
    ]


def test_a_page_has_the_same_outline_in_every_language(pages: list[tuple[str, str]]) -> None:
    for english, korean in pages:
        ours, theirs = read(english), read(korean)
        assert ours.one("html").attributes["lang"] == "en"
        assert theirs.one("html").attributes["lang"] == "ko"
        assert ours.one("body").outline() == theirs.one("body").outline()
        assert own_texts(ours) & LABELS
        assert own_texts(theirs) & LABELS == set()


def test_who_hears_a_page_finds_their_way(pages: list[tuple[str, str]]) -> None:
    for page in (page for both in pages for page in both):
        root = read(page)
        ids = [each.attributes["id"] for each in root.inside() if "id" in each.attributes]
        assert len(ids) == len(set(ids))
        assert len(root.all("h1")) == 1
        for each in root.inside():
            assert each.attributes.get("aria-labelledby", "main") in ids
            if each.attributes.get("href", "").startswith("#"):
                assert each.attributes["href"][1:] in ids
            if each.tag == "svg":
                assert each.attributes["role"] == "img"
                assert each.attributes["aria-label"]
            if each.tag == "button":
                assert each.text or each.attributes.get("aria-label")


def test_a_page_is_asked_to_be_neither_kept_nor_told_of(pages: list[tuple[str, str]]) -> None:
    for page, _ in pages:
        meta = {each.attributes.get("name"): each for each in read(page).all("meta")}
        assert meta["robots"].attributes["content"] == "noindex"
        assert meta["referrer"].attributes["content"] == "no-referrer"


def points(part: CheckResult | QuestionResult | Report) -> str:
    pending = f" +{amount(part.pending)}?" if part.pending else ""
    return f"{amount(part.score)}{pending} / {amount(part.max_score)}"


def shows_check(item: Element, check: CheckResult) -> None:
    assert {check.status.value, "mark"} <= item.all("span", "mark")[0].classes
    assert item.all("b")[0].text == check.id
    assert item.one("span", "points").text == points(check)
    code = item.all("span", "code")
    passed = check.status.value == "passed"
    assert [each.text for each in code] == ([] if passed else [ENGLISH.words.codes[check.code]])


def questions_of(root: Element, wanted: list[QuestionResult]) -> Iterator[tuple[Element, int]]:
    shown = root.all("details", "question")
    jumps = root.one("ul", "jump").all("a")
    assert len(shown) == len(jumps) == len(wanted)
    for place, (element, jump, question) in enumerate(zip(shown, jumps, wanted, strict=True)):
        assert question.status.value in element.classes
        assert jump.attributes["href"] == f"#{element.attributes['id']}"
        head = element.all("summary")[0]
        assert head.one("code").text == question.id
        assert question.title in head.text
        assert head.one("span", "points").text == points(question)
        yield element, place


def test_staff_see_every_check_with_its_case_its_numbers_and_what_the_student_reads(
    report: Report,
) -> None:
    root = read(staff_page(report, ENGLISH))
    assert root.one("h1").text == "team-7"
    assert root.one("p", "big").text == "6 / 15 +5?"
    assert root.one("p", "notice", "staff").text == ENGLISH("staff_note")
    for element, place in questions_of(root, list(report.questions)):
        for item, check in zip(
            element.all("li", "check"), report.questions[place].checks, strict=True
        ):
            shows_check(item, check)
            assert [each.text for each in item.all("p", "message")] == [check.message] * bool(
                check.message
            )
            chips = [each.text for each in item.all("span", "chip")]
            assert (ENGLISH("case", case=check.case) in chips) == bool(check.case)
            assert (ENGLISH("hidden_case") in chips) == check.hidden
            assert (ENGLISH("claim") in chips) == (check.basis.value == "claim")
            assert len(item.all("details", "evidence")) == bool(check.evidence)
            for_student = [each.text for each in item.all("p", "for-student")]
            differs = check.student_message != check.message
            assert for_student == [f"{ENGLISH('by_student')} {check.student_message}"] * differs
    run = root.one("dl", "run").text
    for fact in ("Linux x86_64", "2.4.0", "598", "namespaces, landlock, seccomp", "ab" * 32):
        assert fact in run
    assert report.submission.notes[0] in root.text


def test_a_student_sees_the_checks_that_are_shown_and_their_points(report: Report) -> None:
    root = read(student_page(report, ENGLISH))
    assert root.one("p", "big").text == "6 / 14 +5?"
    notices = [each.text for each in root.all("p", "notice") if "next" not in each.classes]
    waits = f"{ENGLISH('pending_note', pending='5', max='14')} {ENGLISH('pending_gpu', points='5')}"
    assert notices == [waits, ENGLISH("part_note")]
    shown = [
        question.model_copy(
            update={
                "checks": tuple(c for c in question.checks if c.id != "secret"),
                "max_score": question.max_score - sum(c.id == "secret" for c in question.checks),
            }
        )
        for question in report.questions
    ]
    secret = shown[1].id
    shown.sort(key=lambda question: question.status.value == "passed")
    for element, place in questions_of(root, shown):
        for item, check in zip(element.all("li", "check"), shown[place].checks, strict=True):
            shows_check(item, check)
            assert [each.text for each in item.all("p", "message")] == [
                check.student_message
            ] * bool(check.student_message)
            assert not item.all("details", "evidence")
            assert not item.all("p", "for-student")
        assert (ENGLISH("withheld", n=1) in element.text) == (shown[place].id == secret)
    run = root.one("dl", "run").text
    assert "2.4.0" in run
    assert "598" not in run
    assert not root.all("p", "notice", "staff")
    assert not root.all("nav")


def test_a_class_in_numbers(rows: list[ClassRow]) -> None:
    root = read(class_page(class_view(rows, ENGLISH), ENGLISH))
    tiles = [each.text for each in root.one("dl", "tiles").all("dd")]
    assert tiles == ["2", "6 / 15", "6.0 / 15", "0", "1 for a GPU: 1", "2"]
    assert all(each.attributes["title"] for each in root.one("dl", "tiles").all("div"))
    bars = root.one("svg", "histogram").all("rect")
    heights = [float(each.attributes["height"]) for each in bars]
    assert [place for place, height in enumerate(heights) if height] == [4]
    assert len(heights) == 11
    look, pending = (each.all("li") for each in root.all("ul", "attention"))
    links = [[link.attributes["href"] for link in each.all("a")] for each in look]
    assert links == [["b/report.html"], ["a/report.html", "b/report.html"]]
    # The tile counts what the list shows.
    assert tiles[-1] == str(len({link for names in links for link in names}))
    assert [each.text for each in pending] == ["needs a GPU that this machine does not have 2"]


def test_a_class_by_question_and_by_mistake(rows: list[ClassRow]) -> None:
    root = read(class_page(class_view(rows, ENGLISH), ENGLISH))
    lines = root.one("table", "questions").one("tbody").all("tr")
    assert [(line.one("code").text, line.all("td", "num")[2].text) for line in lines] == [
        ("multiply", "80 %"), ("normalize", "20 %"), ("on_gpu", "0 %"),
    ]  # fmt: skip
    assert [line.one("a").attributes["href"] for line in lines] == [
        "questions/multiply.html", "questions/normalize.html", "questions/on_gpu.html",
    ]  # fmt: skip
    widths = [
        {
            (each.classes & {"passed", "partial", "deferred"}).pop(): each.attributes["width"]
            for each in line.one("svg", "bar").all("rect")
            if "track" not in each.classes
        }
        for line in lines
    ]
    assert widths == [
        {"partial": "50.00", "deferred": "50.00"}, {"partial": "50.00"}, {"deferred": "100.00"},
    ]  # fmt: skip
    mistakes = root.one("table", "mistakes").one("tbody").all("tr")
    assert [(each.one("code").text, each.one("b").text) for each in mistakes] == [
        ("multiply", ENGLISH.words.codes["input_modified"]),
        ("normalize", ENGLISH.words.codes["raised"]),
        ("normalize", ENGLISH.words.codes["wrong_value"]),
    ]
    buttons = [each.one("button").attributes["data-mistake"] for each in mistakes]
    assert buttons == ["0", "1", "2"]


def test_a_mistake_that_several_checks_show_has_one_row(report: Report) -> None:
    first = report.questions[1].checks[0]
    checks = tuple(first.model_copy(update={"id": name}) for name in ("one", "two", "three"))
    question = report.questions[1].model_copy(update={"checks": checks, "max_score": 15.0})
    shown = report.model_copy(update={"questions": (question,)})
    row = ClassRow(shown, "a/report.html", "a/student.html")
    root = read(class_page(class_view([row], ENGLISH), ENGLISH))
    (made,) = root.one("table", "mistakes").one("tbody").all("tr")
    assert "one, two, three" in made.text
    assert made.one("td", "num").text == "1"


def test_the_page_of_a_question_says_who_what_and_how_long(rows: list[ClassRow]) -> None:
    timed = rows[0].report.model_copy(
        update={"timing": Timing(seconds=3.0, questions={"normalize": 2.5})}
    )
    view = class_view([replace(rows[0], report=timed, people="Ann"), rows[1]], ENGLISH)
    pages = question_views(view, {"normalize": "Divide by it."})
    assert [(each.previous, each.line.id, each.next) for each in pages] == [
        ("", "multiply", "normalize"), ("multiply", "normalize", "on_gpu"),
        ("normalize", "on_gpu", ""),
    ]  # fmt: skip
    root = read(question_page(pages[1], view, ENGLISH))
    assert root.one("h1").text == "normalize"
    assert [each.text for each in root.one("dl", "tiles").all("dd")] == [
        "0 / 2", "1", "1", "0", "0", "20 %", "2.5 s",
    ]  # fmt: skip
    assert root.one("details", "asked").one("pre").text == "Divide by it."
    mistakes = root.one("ul", "attention").all("li")
    assert [each.one("b").text for each in mistakes] == [
        ENGLISH.words.codes["raised"], ENGLISH.words.codes["wrong_value"],
    ]  # fmt: skip
    assert [each.one("a").attributes["href"] for each in mistakes] == ["../a/report.html#q-2"] * 2
    first, second = root.one("table", "answers").one("tbody").all("tr")
    assert "Ann" in first.one("th").text
    assert [each.text for each in first.all("td", "num")] == ["2 / 5", "2.5"]
    assert [each.text for each in second.all("td", "num")] == ["0 / 5", "–"]
    assert [each.attributes["href"] for each in first.one("td", "made").all("a")] == [
        f"#{each.attributes['id']}" for each in mistakes
    ]


def test_a_row_of_the_class_has_what_filters_and_sorting_need(rows: list[ClassRow]) -> None:
    root = read(class_page(class_view(rows, ENGLISH), ENGLISH))
    first, second = root.one("table", "class").one("tbody").all("tr")
    assert [link.attributes["href"] for link in first.all("a")] == [
        "a/report.html", "a/student.html",
    ]  # fmt: skip
    keys = ("data-s", "data-p", "data-q", "data-m", "data-f")
    assert [first.attributes[key] for key in keys] == [
        "6", "5", "4 2 0", "0 1 2", "twins gpu pending",
    ]  # fmt: skip
    assert [second.attributes[key] for key in keys] == [
        "0", "10", "0 0 0", "", "incomplete twins",
    ]  # fmt: skip
    assert "data-half" in first.attributes
    signs = first.one("td", "strip").one("span", **{"aria-hidden": "true"}).all("b")
    assert [(each.attributes["class"], each.text) for each in signs] == [
        ("partial", SIGNS["partial"]), ("partial", SIGNS["partial"]),
        ("deferred", SIGNS["deferred"]),
    ]  # fmt: skip
    numbers = root.one("table", "class").one("th", "strip").one("span", "signs").all("button")
    assert [each.text.split() for each in numbers] == [
        ["multiply", "1"], ["normalize", "2"], ["on_gpu", "3"],
    ]  # fmt: skip
    flags = [sorted(each.classes) for each in second.one("td", "flags").all("span")]
    assert flags == [["flag", "incomplete"], ["flag", "twins"]]


def with_a_right_one(report: Report) -> Report:
    """Return a report that begins with a question that is right."""
    question, check = next(
        (question, check)
        for question in report.questions
        for check in question.checks
        if check.status.value == "passed" and check.visibility.value == "visible"
    )
    points = {"score": check.score, "max_score": check.max_score, "pending": 0.0}
    right = {"id": "right", "checks": (check,), "status": check.status, **points}
    return report.model_copy(
        update={"questions": (question.model_copy(update=right), *report.questions)}
    )


def test_a_student_reads_first_what_is_wrong_and_nothing_of_claims(report: Report) -> None:
    root = read(student_page(with_a_right_one(report), ENGLISH))
    questions = root.all("details", "question")
    assert "passed" in questions[-1].classes
    assert "open" not in questions[-1].attributes
    assert {"failed", "partial"} & questions[0].classes
    assert "open" in questions[0].attributes
    (step,) = root.all("p", "next")
    assert step.text == ENGLISH("go_on", question=questions[0].all("summary")[0].one("code").text)
    assert step.one("a").attributes["href"] == f"#{questions[0].attributes['id']}"
    assert ENGLISH("claim") not in [each.text for each in root.all("span", "chip")]


def test_a_student_reads_once_what_holds_of_several_checks(report: Report) -> None:
    question = report.questions[0]
    after = {
        "status": Status.SKIPPED, "code": Code.REQUIREMENT_NOT_MET, "score": 0.0,
        "student_message": "Counts only once values passes.",
    }  # fmt: skip
    nothing = question.checks[0].model_copy(update={"id": "informs", "max_score": 0.0, "score": 0})
    checks = (*(each.model_copy(update=after) for each in question.checks), nothing)
    shown = report.model_copy(
        update={"questions": (question.model_copy(update={"checks": checks}),)}
    )
    (item,) = read(student_page(shown, ENGLISH)).all("li", "check")
    assert item.all("b")[0].text == "values, shape, inputs"
    assert item.one("span", "points").text == "0 / 5"
    assert not item.all("span", "code")
    assert len(read(staff_page(shown, ENGLISH)).all("li", "check")) == 4


def failed_by(question: QuestionResult, code: Code) -> QuestionResult:
    points = {"status": Status.FAILED, "score": 0.0, "pending": 0.0}
    checks = (each.model_copy(update={**points, "code": code}) for each in question.checks)
    return question.model_copy(update={"checks": tuple(checks), **points})


def test_a_class_counts_a_function_that_is_not_there_as_a_mistake(report: Report) -> None:
    for code, count in ((Code.NOT_IMPLEMENTED, 1), (Code.MISSING_FUNCTION, 0)):
        question = failed_by(report.questions[0], code)
        shown = report.model_copy(update={"questions": (question, report.questions[1])})
        assert question_lines([shown])[0].unwritten == count
        own = [each for each in mistakes_in(shown) if each.question == question.id]
        assert len(own) == 1 - count


def test_a_student_goes_on_with_what_is_wrong_before_what_is_not_written(report: Report) -> None:
    question, wrong = report.questions[0], report.questions[1]
    unwritten = failed_by(question, Code.NOT_IMPLEMENTED)
    absent = failed_by(question, Code.MISSING_FUNCTION)
    passed = wrong.checks[0].model_copy(update={"status": Status.PASSED, "code": Code.OK})
    right = wrong.model_copy(update={"checks": (passed,), "status": Status.PASSED})
    for questions, words in (
        ((unwritten, wrong), ENGLISH("go_on", question=wrong.id)),
        ((unwritten,), ENGLISH("go_on_unwritten", question=unwritten.id)),
        ((absent, wrong), ENGLISH("go_on", question=wrong.id)),
        ((absent, right), ENGLISH("go_on", question=absent.id)),
    ):
        shown = report.model_copy(update={"questions": questions})
        assert read(student_page(shown, ENGLISH)).one("p", "next").text == words


def test_a_student_whose_file_cannot_be_read_is_told_so_first(report: Report) -> None:
    lost = {
        "status": Status.FAILED, "code": Code.SYNTAX_ERROR, "score": 0.0, "pending": 0.0,
        "student_message": "Line 3: no.", "visibility": Visibility.VISIBLE,
    }  # fmt: skip
    questions = tuple(
        each.model_copy(
            update={
                "checks": tuple(check.model_copy(update=lost) for check in each.checks),
                "status": Status.FAILED, "score": 0.0, "pending": 0.0,
            }
        )
        for each in report.questions
    )  # fmt: skip
    root = read(student_page(report.model_copy(update={"questions": questions}), ENGLISH))
    assert root.one("p", "next").text == "Line 3: no."
    shown = root.all("details", "question")
    assert ["open" in each.attributes for each in shown] == [True, False, False]


def test_a_student_whose_questions_are_right_is_sent_nowhere(report: Report) -> None:
    right = with_a_right_one(report).questions[:1]
    shown = report.model_copy(update={"questions": right})
    assert read(student_page(shown, ENGLISH)).all("p", "next") == []


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


TEMPLATES = Path(grader.report.html.__file__).parent / "templates"
BARS = ("bar-passed", "bar-partial", "bar-deferred", "track", "hist")
TEXTS = ("ink", "dim", "link", "passed", "partial", "failed", "deferred", "error")


def test_what_is_shown_stands_out_in_both_themes() -> None:
    style = (TEMPLATES / "page.css").read_text()
    colours = dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}, #\w{6})\)", style))

    def pale(name: str) -> Iterator[str]:
        least = 3.0 if name in BARS else 4.5
        for theme, light_or_dark in enumerate(("light", "dark")):
            for ground in ("ground", "card"):
                pair = (colours[each].split(", ")[theme] for each in (name, ground))
                if (found := contrast(*pair)) < least:
                    yield f"{light_or_dark}: {found:.1f} on {ground}, at least {least} is needed"

    no_faults({f"--{name}": name for name in (*BARS, *TEXTS)}, pale, "change it in page.css")
