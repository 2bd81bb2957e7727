"""Pages hold what they should, and a student's nothing that is hidden."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from grader.report.html.class_page import ClassRow, class_page, class_view
from grader.report.html.question_page import question_page, question_views
from grader.report.html.render import Labels
from grader.report.html.submission_page import (
    Links,
    Picture,
    SubmissionFiles,
    asked_in,
    read_pictures,
    shown_pictures,
    staff_page,
    student_page,
)
from grader.report.model import FileInfo, Report
from grader.report.view import ReleaseStage
from grader.report.view import for_student as redacted
from grader.submission.submission import SubmittedFile
from grader.verdict import Code, Status, Visibility

ENGLISH, KOREAN = Labels("en"), Labels("ko")
HOSTILE = "</script><img src=x onerror=alert(1)>\" ' {{ 7 * 7 }} \u202egnp.exe"


class Seen(HTMLParser):
    """Elements and attributes of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attrs for name, attrs in self.elements if name == tag]


def named(report: Report, name: str) -> Report:
    return report.model_copy(
        update={"submission": report.submission.model_copy(update={"id": name})}
    )


def with_checks(report: Report, **changes: object) -> Report:
    """Change every check of a report."""
    questions = tuple(
        each.model_copy(
            update={"checks": tuple(check.model_copy(update=changes) for check in each.checks)}
        )
        for each in report.questions
    )
    return report.model_copy(update={"questions": questions})


def row(report: Report, **more: object) -> ClassRow:
    name = report.submission.id
    return ClassRow(report, f"{name}/report.html", f"{name}/student.html", **more)  # type: ignore[arg-type]


def pages_of(report: Report) -> list[str]:
    return [
        staff_page(report, ENGLISH),
        student_page(report, ENGLISH),
        class_page(class_view([row(report)], ENGLISH), ENGLISH),
        *questions_of([row(report)]),
    ]


def questions_of(rows: list[ClassRow]) -> list[str]:
    view = class_view(rows, ENGLISH)
    asked = {each.id: HOSTILE for each in view.questions}
    return [question_page(each, view, ENGLISH) for each in question_views(view, asked)]


def test_a_policy_lets_only_the_pages_own_styles_and_scripts_run(report: Report) -> None:
    for page in pages_of(report):
        policy = re.search(r'Security-Policy" content="([^"]*)"', page)
        assert policy
        assert policy[1].startswith("default-src 'none'; img-src data:; ")
        assert "unsafe" not in policy[1]
        for inside in re.findall(r"<(?:style|script)>(.*?)</", page, re.DOTALL):
            digest = b64encode(sha256(inside.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy[1]


def test_nothing_comes_from_elsewhere_and_no_attribute_runs(report: Report) -> None:
    for page in pages_of(report):
        for tag, attrs in Seen(page).elements:
            assert not [name for name in attrs if name.startswith("on") or name == "style"]
            for name in ("src", "href"):
                value = attrs.get(name, "")
                assert not re.match(r"(?!data:)[a-z]+:|//", value), (tag, value)


def test_hostile_text_stays_text(report: Report) -> None:
    hostile = with_checks(
        named(report, HOSTILE),
        message=HOSTILE, student_message=HOSTILE, id=HOSTILE, evidence={HOSTILE: HOSTILE},
    )  # fmt: skip
    file = SubmittedFile(HOSTILE, HOSTILE.encode(), HOSTILE)
    info = FileInfo(path=HOSTILE, sha256=file.sha256)
    hostile = hostile.model_copy(
        update={
            "submission": hostile.submission.model_copy(
                update={"files": (info,), "notes": (HOSTILE,)}
            )
        }
    )
    files = SubmissionFiles((file,), (), {"multiply": HOSTILE})
    links = Links("../index.html", ("x", HOSTILE), ("y", HOSTILE), "student.html")
    view = class_view([row(hostile, people=HOSTILE)], ENGLISH)
    for page in (
        staff_page(hostile, ENGLISH, files, links),
        student_page(hostile, ENGLISH, files),
        class_page(view, ENGLISH),
        questions_of([row(hostile, people=HOSTILE)])[0],
    ):
        seen = Seen(page)
        assert not [each for each in seen.all("img") if "onerror" in each]
        assert "onerror=alert(1)" in seen.text
        assert "{{ 7 * 7 }}" in seen.text
        assert len(seen.all("script")) == 2
        # What turns the reading direction round is shown as an escape where text is free.
        assert "\\u202e" in seen.text


def test_a_student_reads_nothing_hidden(report: Report) -> None:
    shown = with_checks(report, visibility=Visibility.VISIBLE)
    page = student_page(shown, ENGLISH)
    staff = staff_page(shown, ENGLISH)
    for secret in ("x is 0.125", "case wide", "Traceback", "598"):
        assert secret in staff, secret
        assert secret not in page, secret
    assert "In a hidden case: ValueError." in page
    assert "For staff" not in page


@pytest.mark.parametrize(
    ("visibility", "shown_from"),
    [
        (Visibility.VISIBLE, ReleaseStage.NOW),
        (Visibility.AFTER_DUE_DATE, ReleaseStage.DUE),
        (Visibility.AFTER_PUBLISHED, ReleaseStage.PUBLISHED),
        (Visibility.HIDDEN, None),
    ],
)
def test_a_check_is_shown_from_its_release_on(
    report: Report, visibility: Visibility, shown_from: ReleaseStage | None
) -> None:
    changed = with_checks(report, visibility=visibility)
    order = list(ReleaseStage)
    for release in order:
        known = redacted(changed, release)
        expected = shown_from is not None and order.index(release) >= order.index(shown_from)
        assert bool(known.questions) == expected


def test_points_do_not_tell_of_checks_that_are_not_shown(report: Report) -> None:
    now, published = redacted(report), redacted(report, ReleaseStage.PUBLISHED)
    # The check “secret” is worth 1 of the 15 points and was lost.
    assert (now.score, now.max_score) == (6.0, 14.0)
    assert (published.score, published.max_score) == (6.0, 15.0)
    question = next(each for each in now.questions if each.id == "normalize")
    assert [check.id for check in question.checks] == ["values"]
    assert question.max_score == 4
    page = student_page(report, ENGLISH)
    assert "Checks that count and are not shown: 1" in page


def test_redacting_leaves_nothing_to_draw_inputs_from(report: Report) -> None:
    known = redacted(with_checks(report, visibility=Visibility.VISIBLE))
    text = known.model_dump_json()
    assert known.environment.seed == 0
    assert "0.125" not in text
    assert '"case":"' not in text


def test_the_status_of_a_question_is_that_of_what_is_shown(report: Report) -> None:
    values = (
        report.questions[1]
        .checks[0]
        .model_copy(update={"status": Status.PASSED, "score": 4.0, "max_score": 4.0})
    )
    question = report.questions[1].model_copy(
        update={"checks": (values, report.questions[1].checks[1]), "score": 4.0}
    )
    known = redacted(report.model_copy(update={"questions": (question,)}))
    assert known.questions[0].status is Status.PASSED


def test_a_line_is_shown_with_what_is_around_it(report: Report) -> None:
    # To Python, neither a form feed nor a separator ends a line.
    data = "".join(f"line {number}\n" for number in range(1, 30)).replace("1\n", "1\f\u2028\n", 1)
    file = SubmittedFile("toy.py", data.encode(), "toy.py")
    info = FileInfo(path="toy.py", sha256=file.sha256)
    graded = with_checks(report, visibility=Visibility.VISIBLE).model_copy(
        update={"submission": report.submission.model_copy(update={"files": (info,)})}
    )
    # What a hidden case decided shows its student no lines: a submission could choose them.
    visible = with_checks(graded, hidden=False)
    for page in (
        staff_page(graded, ENGLISH, SubmissionFiles((file,))),
        student_page(visible, ENGLISH, SubmissionFiles((file,))),
    ):
        figure = page[page.index("<figure") : page.index("</figure>")]
        text = Seen(figure).text
        assert "toy.py, line 12" in text
        assert [f"line {number}" in text for number in (8, 9, 12, 15, 16)] == [
            False, True, True, True, False,
        ]  # fmt: skip
    assert "<figure" not in student_page(graded, ENGLISH, SubmissionFiles((file,)))
    assert "line 29" in staff_page(graded, ENGLISH, SubmissionFiles((file,)))


def test_a_file_that_has_changed_since_is_not_shown(report: Report) -> None:
    file = SubmittedFile("toy.py", b"changed = 1\n" * 20, "toy.py")
    page = staff_page(report, ENGLISH, SubmissionFiles((file,)))
    assert "changed = 1" not in page
    assert "have changed since" in page


def test_pictures_are_images_and_a_hidden_one_stays_with_staff(
    report: Report, tmp_path: Path
) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    for name in ("multiply.values", "normalize.secret", "multiply.gantt", "other.thing"):
        (folder / f"{name}.svg").write_bytes(svg)
    pictures = read_pictures(tmp_path, report)
    assert [each.name for each in pictures] == [
        "multiply.gantt", "multiply.values", "normalize.secret",
    ]  # fmt: skip
    kept = shown_pictures(pictures, redacted(report))
    assert [each.name for each in kept] == ["multiply.values"]
    seen = Seen(staff_page(report, ENGLISH, SubmissionFiles((), pictures)))
    assert len(seen.all("img")) == 3
    assert all(each["alt"] for each in seen.all("img"))
    assert b64decode(seen.all("img")[0]["src"].partition(",")[2]) == svg
    assert len(seen.all("script")) == 2


def test_a_picture_that_a_hidden_case_decided_is_not_for_the_student(report: Report) -> None:
    hidden = redacted(with_checks(report, visibility=Visibility.VISIBLE))
    assert not shown_pictures([Picture("normalize", "secret", "x", "data:,")], hidden)


def test_what_was_asked_is_the_starters_docstring(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        'def f(x):\n    """Twice.\n\n    Returns:\n        2x\n    """\n'
    )
    (tmp_path / "broken.py").write_text("def (")
    assert asked_in(tmp_path) == {"f": "Twice.\n\nReturns:\n    2x"}
    assert asked_in(tmp_path / "nowhere") == {}


def test_a_class_is_counted(report: Report, broken: Report) -> None:
    rows = [row(named(report, name)) for name in ("a", "b")] + [row(named(broken, "c"))]
    view = class_view(rows, ENGLISH)
    assert view.counts == {
        "full": 0, "pending": 2, "gpu": 2, "you": 0, "look": 3, "incomplete": 1,
    }  # fmt: skip
    assert [bar.count for bar in view.bars] == [0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]
    assert [words for words, _ in view.attention] == [
        "Incomplete, to run again with --resume (its sandbox failed)",
        "Identical files",
    ]
    assert [words for words, _ in view.pending] == ["needs a GPU that this machine does not have"]
    multiply = view.questions[0]
    assert (multiply.full, multiply.some, multiply.none, multiply.open) == (0, 2, 0, 1)
    assert multiply.share == pytest.approx(0.8)
    made = [(row.mistake.code, row.who) for row in view.mistakes.rows]
    assert made == [(code, ("a", "b")) for code in ("input_modified", "raised", "wrong_value")]
    assert view.lines[0].flags == ("twins", "gpu", "pending")
    assert view.lines[2].flags == ("incomplete", "twins")


def test_what_could_not_be_run_is_to_be_looked_at(report: Report) -> None:
    lost = {"status": Status.FAILED, "code": Code.SYNTAX_ERROR, "score": 0.0, "pending": 0.0}
    rows = [row(named(report, "a")), row(named(with_checks(report, **lost), "b"))]
    view = class_view(rows, ENGLISH)
    assert ("Could not be run (syntax error)", (("b", rows[1].staff),)) in view.attention
    assert "unread" in view.lines[1].flags
    assert view.counts["look"] == 2
    assert not view.lines[1].mistakes
    assert "실행할 수 없음 (문법 오류)" in class_page(class_view(rows, KOREAN), KOREAN)


def test_lateness_is_shown_where_it_counts(report: Report) -> None:
    rows = [row(report, days_late=2.0, final=None), row(named(report, "b"), final=4.5)]
    page = class_page(class_view(rows, ENGLISH, policy=True), ENGLISH)
    assert "Days late" in page
    assert 'data-l="2"' in page
    assert ">4.5</td>" in page
    assert "Days late" not in class_page(class_view(rows, ENGLISH), ENGLISH)


def test_a_page_is_in_one_language(report: Report) -> None:
    page = student_page(report, KOREAN)
    assert '<html lang="ko">' in page
    assert "무엇을" in student_page(report, KOREAN, SubmissionFiles((), (), {"multiply": "x"}))
    assert "입력" in page
    assert "not right" not in page
