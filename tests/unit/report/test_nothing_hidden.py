"""Who reads what: one table, a row for each presenter, over everything that is hidden in a report.

Each thing is a word that stands nowhere else. A row lists the things that a presenter shows, and
the test compares them exactly: a thing too many is a leak, one too few a reader who misses it.
"""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from grader.assignment.types import Assignment
from grader.batch.discover import ClassSubmission
from grader.batch.export import feedback_of
from grader.batch.grades import Grade
from grader.integrations import pytest_items
from grader.integrations.pytest_items import CheckError, CheckItem
from grader.report.build import RunRecord, build_report
from grader.report.ci import BODY_FILE, classroom50_result, junit, write_classroom50
from grader.report.gradebook import gradebook
from grader.report.gradescope import gradescope_results
from grader.report.html.class_page import ClassRow, ClassView, class_page, class_view
from grader.report.html.question_page import question_page, question_views
from grader.report.html.render import Labels
from grader.report.html.self_check import result_html
from grader.report.html.submission_page import Picture, SubmissionFiles, staff_page, student_page
from grader.report.lateness import LateCost
from grader.report.layers import with_comments
from grader.report.messages.language import LANGUAGES, VARIABLE, current_language
from grader.report.model import (
    Environment,
    FileInfo,
    IsolationInfo,
    LineComment,
    MergedInfo,
    Report,
    SubmissionInfo,
    Timing,
)
from grader.report.student import StudentView
from grader.report.summary import summary_page
from grader.report.terminal import print_class, print_report
from grader.report.view import ReleaseStage
from grader.sandbox.host.processes import Tier
from grader.submission.submission import SubmittedFile
from grader.verdict import Basis, Code, Message, Owner, Status, Verdict, Witness, passed

NOW = dt.datetime(2026, 9, 1, tzinfo=dt.timezone.utc)
LINES = [f"# line {number}" for number in range(1, 41)]
LINES[9], LINES[29] = "# lineshown", "# linehidden"
SOURCE = SubmittedFile("toy.py", "\n".join(LINES).encode(), "toy.py")

LATE = LateCost(days=1.0, attempts=0, penalty=0.5, final=0.3333)

THINGS = {
    "text of a visible case": "textshown",
    "name of a visible case": "caseshown",
    "line of a visible case": "lineshown",
    "picture of a visible case": "pictureshown",
    "witness of a visible case": "witnessshown",
    "author's sentence on a hidden case": "authorsentence",
    "text of a hidden case": "texthidden",
    "class of a hidden exception": "ClassHiddenError",
    "name of a hidden case": "casehidden",
    "number of a hidden case": "0.31337",
    "line of a hidden case": "linehidden",
    "picture of a hidden case": "picturehidden",
    "evidence of a hidden case": "evidencehidden",
    "witness of a hidden case": "witnesshidden",
    "check after the due date": "textdue",
    "check after publication": "textpublished",
    "hidden check": "texthide",
    "name of a hidden check": "checkhide",
    "picture of a hidden check": "picturehide",
    "check of a hidden question": "textinner",
    "visible check of a hidden question": "textouter",
    "title of a hidden question with a visible check": "titlehide",
    "name of a hidden question": "namesealed",
    "title of a hidden question": "titlesealed",
    "whole score": "0.7125",
    "points that count after lateness": "0.3333",
    "seed": "598773",
    "time": "1234.5",
    "walls": "wallshidden",
    "other machine": "elsewherehidden",
    "check that ran there without walls": "mergedhide",
    "comment with a visible check": "saidshown",
    "comment with a question": "saidopen",
    "comment with no question": "saidfile",
    "comment with a check after the due date": "saiddue",
    "comment with a check after publication": "saidpublished",
    "comment with a hidden check": "saidhidden",
    "comment with a hidden question": "saidsealed",
    "line of a comment": "lineofcomment",
    "who wrote a comment": "whocommented",
}
"""What is in a report → the word by which it is found."""


def _raised(text: str, line: int | None = None, **more: Any) -> Verdict:
    kind = "ClassHiddenError" if more.get("hidden") else "ValueError"
    params: dict[str, Any] = {"type": kind, "message": text, "line": line, "file": "toy.py"}
    known = {"case": "caseshown", **more}
    return Verdict(
        Status.FAILED, Code.RAISED, Owner.STUDENT, message=Message("raised", params), **known
    )


def _witness(says: str) -> Witness:
    return Witness("source", says, Basis.FACT, {})


def _close(name: str, **more: Any) -> dict[str, Any]:
    known = {"points": 1, "rtol": 1e-5, "atol": 1e-6}
    return {"kind": "close", "id": name, **known, **more}


@pytest.fixture
def hiding() -> Report:
    """A report that hides something in every way there is."""
    cases = [{"id": "caseshown"}, {"id": "casehidden", "visibility": "hidden"}]
    said = {"en": "authorsentence", "ko": "authorsentence"}
    questions = [
        {
            "id": "open", "title": "Open", "points": 6.7125, "cases": cases,
            "checks": [
                _close("won", points=0.5),
                _close("wonhidden", points=0.2125, visibility="hidden"),
                _close("told"),
                _close("raised"),
                _close("numbers", message=said),
                _close("due", visibility="after_due_date"),
                _close("published", visibility="after_published"),
                _close("checkhide", visibility="hidden"),
            ],
        },
        {
            "id": "closed", "title": "titlehide", "points": 2, "cases": cases,
            "visibility": "hidden",
            "checks": [_close("inner"), _close("outer", visibility="visible")],
        },
        {
            "id": "namesealed", "title": "titlesealed", "points": 1, "cases": cases,
            "visibility": "hidden", "checks": [_close("sealed")],
        },
    ]  # fmt: skip
    numbers = {"mismatched": 1, "total": 2, "percent": 50.0, "abs_diff": 0.31337, "atol": 1e-6}
    hidden = {"case": "casehidden", "hidden": True}
    verdicts = {
        "open": {
            "won": passed(),
            "wonhidden": passed(),
            "told": _raised("textshown", 10, witnesses=(_witness("witnessshown"),)),
            "raised": _raised(
                "texthidden", 30, **hidden,
                evidence={"trace": "evidencehidden"}, witnesses=(_witness("witnesshidden"),),
            ),
            "numbers": Verdict(
                Status.FAILED, Code.WRONG_VALUE, Owner.STUDENT,
                message=Message("wrong_value", numbers), **hidden,  # type: ignore[arg-type]
            ),
            "due": _raised("textdue"),
            "published": _raised("textpublished"),
            "checkhide": _raised("texthide"),
        },
        "closed": {"inner": _raised("textinner"), "outer": _raised("textouter")},
        "namesealed": {"sealed": _raised("textsealed")},
    }  # fmt: skip
    walls = IsolationInfo(tier=Tier.FULL, mechanisms=("wallshidden",))
    where = Environment(
        torch="2.4.0", python="3.11.2", platform="Linux", device="cpu", isolation=walls,
        seed=598773, grader_version="0.1.0",
    )  # fmt: skip
    there = MergedInfo(
        device="elsewherehidden", isolation=Tier.NONE, seed=1, platform="Linux", torch="2.4.0",
        grader_version="0.1.0", checks=("open.mergedhide",),
    )  # fmt: skip
    report = build_report(
        Assignment.model_validate(
            {
                "schema": "torchgrade/assignment/v1", "id": "toy", "version": "1", "title": "Toy",
                "hand_in": ["toy.py"], "questions": questions,
            }
        ),
        SubmissionInfo(id="team-7", files=(FileInfo(path="toy.py", sha256=SOURCE.sha256),)),
        verdicts,
        RunRecord(where, Timing(seconds=1234.5, questions={"open": 1234.5})),
    )  # fmt: skip
    said = [
        _comment(20, "saidshown", "open", "told"),
        _comment(21, "saidopen", "open"),
        _comment(22, "saidfile"),
        _comment(23, "saiddue", "open", "due"),
        _comment(24, "saidpublished", "open", "published"),
        _comment(25, "saidhidden", "open", "checkhide"),
        _comment(26, "saidsealed", "namesealed"),
    ]
    return with_comments(report.model_copy(update={"merged": (there,)}), said)


def _comment(line: int, text: str, question: str = "", check: str = "") -> LineComment:
    return LineComment(
        file="toy.py", sha256=SOURCE.sha256, line=line, excerpt="lineofcomment", text=text,
        who="whocommented", at=NOW, question=question, check=check,
    )  # fmt: skip


def _picture(check: str, name: str) -> Picture:
    # A page holds its bytes; what a reader would see of them is looked for below.
    return Picture("open", check, f"open.{check}", f"data:,{name}")


FILES = SubmissionFiles(
    (SOURCE,),
    (
        _picture("told", "pictureshown"),
        _picture("raised", "picturehidden"),
        _picture("checkhide", "picturehide"),
    ),
    late=LATE,
)


def _printed(show: Callable[[Console], None]) -> str:
    out = io.StringIO()
    show(Console(file=out, width=4000))
    return out.getvalue()


def _labels() -> Labels:
    return Labels(current_language())


def _class(report: Report) -> ClassView:
    return class_view([ClassRow(report, "report.html", "student.html")], _labels())


def _question_pages(report: Report) -> str:
    view = _class(report)
    pages = (question_page(each, view, _labels()) for each in question_views(view, {}))
    return "\n".join(pages)


def _results(report: Report, *shown: str) -> str:
    """Return results.json; or what a student sees of it while rows are hidden.

    Gradescope shows no ``extra_data`` at all, and no score while it hides a row.
    """
    document = gradescope_results(report, LATE)
    if shown:
        document["tests"] = [test for test in document["tests"] if test["visibility"] in shown]
        for each in (document, *document["tests"]):
            del each["extra_data"], each["score"]
    return json.dumps(document, ensure_ascii=False)


def _release_body(report: Report) -> str:
    with TemporaryDirectory() as folder:
        write_classroom50(report, Path(folder), {}, NOW)
        return (Path(folder) / BODY_FILE).read_text()


def _by_pytest(report: Report) -> str:
    """Return what pytest says of each check, and at the end."""
    told = []
    for question, check in report.checks():
        item = SimpleNamespace(
            _result=lambda _, check=check: check,
            shared=SimpleNamespace(report=lambda _: report, details=lambda _: {}),
            user_properties=[],
            name=check.id,
        )
        try:
            CheckItem.runtest(item)  # type: ignore[arg-type]
        except CheckError as error:
            told.append(f"{question} {error} {item.user_properties}")
    place = SimpleNamespace(name_of=lambda _: "toy.py")
    return "\n".join([*told, *pytest_items.summary(report, place)])  # type: ignore[arg-type]


def _student_page(stage: ReleaseStage) -> Callable[[Report], str]:
    return lambda report: student_page(report, _labels(), FILES, stage)


PRESENTERS: dict[str, Callable[[Report], str]] = {
    "terminal": lambda report: _printed(lambda console: print_report(report, console)),
    "terminal of a class": lambda report: _printed(lambda console: print_class([report], console)),
    "staff page": lambda report: staff_page(report, _labels(), FILES),
    "class page": lambda report: class_page(_class(report), _labels()),
    "question pages": _question_pages,
    "summary.md": lambda report: summary_page([report]),
    "gradebook.csv": lambda report: gradebook([report]),
    "student page": _student_page(ReleaseStage.NOW),
    "student page after the due date": _student_page(ReleaseStage.DUE),
    "student page after publication": _student_page(ReleaseStage.PUBLISHED),
    "results.json": _results,
    "results.json before the due date": lambda report: _results(report, "visible"),
    "junit.xml": lambda report: junit(report).decode(),
    "result.json": lambda report: json.dumps(classroom50_result(report, {}, NOW)),
    "release-body.md": _release_body,
    "Moodle's feedback": lambda report: feedback_of(Grade(ClassSubmission("a", Path()), report)),
    "self-check": lambda report: _printed(lambda console: StudentView(console, {}).report(report)),
    "notebook": lambda report: "\n".join(map(result_html, report.questions)),
    "pytest": _by_pytest,
}

AT_ONCE = {
    "text of a visible case", "name of a visible case", "author's sentence on a hidden case",
}  # fmt: skip
"""What a student may read of checks that are visible, in a few words."""
SAID = {"comment with a visible check", "comment with a question", "comment with no question"}
"""What people say of lines, with what is visible."""
SAID_DUE = {*SAID, "comment with a check after the due date"}
SAID_PUBLISHED = {*SAID_DUE, "comment with a check after publication"}
SAID_IN_ALL = {
    *SAID_PUBLISHED, "comment with a hidden check", "comment with a hidden question",
}  # fmt: skip
OF_A_COMMENT = {"line of a comment"}
OUTER = {"visible check of a hidden question", "title of a hidden question with a visible check"}
"""A check may be visible in a question that is hidden; the question is then told by its title."""
ON_A_PAGE = {"line of a visible case", "picture of a visible case"}
DUE = {"check after the due date"}
PUBLISHED = {*DUE, "check after publication"}
WHOLE = {"whole score", "name of a hidden question"}
NO_CASE_HIDDEN = {
    *AT_ONCE, *OUTER, *PUBLISHED, *WHOLE,
    "hidden check", "name of a hidden check", "check of a hidden question",
    "title of a hidden question",
}  # fmt: skip
"""Everything that is told in a student's words: nothing of a hidden case, whatever the check is."""
OF_A_MISTAKE = {
    *AT_ONCE, *WHOLE, "name of a hidden case", "name of a hidden check", "number of a hidden case",
    "check of a hidden question", "title of a hidden question",
    "title of a hidden question with a visible check",
}  # fmt: skip
"""The first example of each mistake of a class, in the words for staff."""

SHOWN: dict[str, set[str]] = {
    "terminal": {
        *NO_CASE_HIDDEN, "name of a hidden case", "text of a hidden case",
        "class of a hidden exception", "number of a hidden case",
        "check that ran there without walls", *SAID_IN_ALL, *OF_A_COMMENT, "who wrote a comment",
    },
    "terminal of a class": {*WHOLE, "text of a visible case", "name of a visible case"},
    "staff page": {*THINGS},
    "class page": OF_A_MISTAKE,
    "question pages": {*OF_A_MISTAKE, "time"},
    "summary.md": {*WHOLE, "time"},
    "gradebook.csv": WHOLE,
    "student page": {*AT_ONCE, *OUTER, *ON_A_PAGE, *SAID, *OF_A_COMMENT},
    "student page after the due date": {
        *AT_ONCE, *OUTER, *ON_A_PAGE, *DUE, *SAID_DUE, *OF_A_COMMENT,
    },
    "student page after publication": {
        *AT_ONCE, *OUTER, *ON_A_PAGE, *PUBLISHED, "whole score", "points that count after lateness",
        *SAID_PUBLISHED, *OF_A_COMMENT,
    },
    # Gradescope hides the rows of hidden checks, and what is said there.
    "results.json": {
        *NO_CASE_HIDDEN, "points that count after lateness", *SAID_IN_ALL, *OF_A_COMMENT,
    },
    "results.json before the due date": {*AT_ONCE, *OUTER, *SAID, *OF_A_COMMENT},
    "junit.xml": {*AT_ONCE, "visible check of a hidden question"},
    # Classroom 50 gives out the grade at once, and rounds it.
    "result.json": {*AT_ONCE, *OUTER, *SAID, *OF_A_COMMENT},
    "release-body.md": {"whole score"},
    # Beside a final grade, which is the whole.
    "Moodle's feedback": {
        "whole score", "title of a hidden question with a visible check", *SAID_PUBLISHED,
    },
    # These print a self-check's report, and public cases hold no hidden question or check.
    "self-check": NO_CASE_HIDDEN,
    "notebook": NO_CASE_HIDDEN,
    # pytest names a check as an item of its own, and questions by their ids.
    "pytest": NO_CASE_HIDDEN
    - {
        "name of a hidden check", "title of a hidden question",
        "title of a hidden question with a visible check",
    },
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("presenter", PRESENTERS)
def test_a_presenter_shows_what_its_reader_may_know_and_nothing_else(
    presenter: str, language: str, hiding: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, language)
    monkeypatch.setattr(pytest_items, "line_of", lambda *_: 1)
    text = PRESENTERS[presenter](hiding)
    assert {name for name, word in THINGS.items() if word in text} == SHOWN[presenter]
