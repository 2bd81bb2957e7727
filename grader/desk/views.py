"""What the desk's pages show, as plain values for JSON. Texts of submissions are made harmless."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from grader.batch.decisions import awaited, rubric_of
from grader.batch.discover import Student
from grader.batch.graded import GradedSubmission
from grader.batch.pages import submitted
from grader.batch.review_queue import Finding
from grader.batch.status import lines_of, passage_of
from grader.checks.by_hand import DOCUMENT
from grader.desk.graded_class import ClassNow, GradedClass, Item, comment_state
from grader.progress import span
from grader.report.comments import place_of
from grader.report.excerpts import texts
from grader.report.gradebook import cell
from grader.report.html.class_page import bars_of
from grader.report.layers import PersonDecision
from grader.report.messages.catalogue import ENGLISH
from grader.report.model import CheckResult, ReportStatus
from grader.report.summary import amount
from grader.static_analysis.mends import definition_of
from grader.submission import read_again
from grader.text import inert
from grader.verdict import Visibility

_LINE = 240
_NAME = 80
_TEXT = 4000
_EVIDENCE = 20_000
_FEW = 8
_BY_HAND = "Graded by hand."
View = dict[str, Any]


Rows = dict[str, tuple[GradedSubmission, View]]
"""Name → the row that was made of what was done."""


def class_view(now: ClassNow, known: Rows) -> View:
    """Return the page of the class.

    Args:
        now: The class.
        known: Rows that were made before; takes up the new ones.
    """
    for name, done in now.everybody.items():
        if name not in known or known[name][0] is not done:
            known[name] = done, _row(done)
    reports = [done.report for done in now.everybody.values()]
    bars = bars_of(each for each in reports if each.status is not ReportStatus.INCOMPLETE)
    left = now.seconds_left
    return {
        "title": now.setup.assignment,
        "total": now.setup.total,
        "working": now.working,
        "left": "" if left is None else f"about {span(left)} left",
        "watched": now.setup.watched,
        "bars": [[bar.low, bar.high, bar.count] for bar in bars],
        "rows": [known[name][1] for name in now.everybody],
        "absent": [inert(_called(each.student()), _NAME) for each in now.setup.absent],
    }


def _row(done: GradedSubmission) -> View:
    report = done.report
    return {
        "name": done.name,
        "shown": inert(done.name, _NAME),
        "people": inert("; ".join(map(_called, done.submission.students)), 2 * _NAME),
        "score": amount(report.score),
        "max": amount(report.max_score),
        "pending": amount(report.pending) if report.pending else "",
        "status": report.status.value,
        "waits": len(awaited(report)),
        "strip": [question.status.value for question in report.questions],
    }


def _called(student: Student) -> str:
    return " ".join(filter(None, (student.name, student.email, student.id)))


def queue_view(graded: GradedClass, who: str) -> View:
    """Return the queue: each item, and whether it is decided or open before somebody else."""
    now = graded.now
    titles = {
        question.id: question.title
        for done in now.everybody.values()
        for question in done.report.questions
    }
    return {
        "titles": titles,
        "working": now.working,
        "items": [
            {
                "id": item.id,
                "question": item.question,
                "check": item.check.id,
                "decided": now.decision(item) is not None,
                "by": graded.opened_by(item.id, who),
            }
            for item in now.items.values()
        ],
    }


def item_view(graded: GradedClass, item: Item, who: str, names: bool) -> View:
    """Return one item with all that a person decides on.

    Args:
        graded: The class.
        item: Of the queue, or any check of a submission.
        who: Asks.
        names: Say whose it is.
    """
    now, check = graded.now, item.check
    done = now.everybody[item.name]
    alike = now.alike(item)
    waiting = [] if item.read else [other for other in alike if now.decision(other) is None]
    mine = now.decision(item)
    return {
        "id": item.id,
        "name": inert(item.name, _NAME) if names else "",
        "question": item.question,
        "check": check.id,
        "state": now.state(item),
        "worth": check.max_score,
        "said": f"{check.code.value}, {amount(check.score)} of {amount(check.max_score)}",
        "message": inert(check.message, _TEXT, keep="\n"),
        "lines": _lines(done, item),
        "source": _source_in_question(done, item),
        "comments": comments_view(done),
        "reads": _READERS[check.visibility],
        "document": inert(str(check.params.get("file", "")), _NAME)
        if check.message_id == DOCUMENT
        else "",
        "rubric": [[part.text, part.points] for part in rubric_of(check)[:9]],
        "evidence": inert(_json(check), _EVIDENCE, keep="\n"),
        "reference": reference_of(Path(now.setup.file), item.question),
        "others": _others(now, alike),
        "waiting": len(waiting),
        "decision": _decision(mine) if mine else None,
        "by": graded.opened_by(item.id, who),
        "why": default_why(now, item),
    }


def default_why(now: ClassNow, item: Item) -> str:
    """Return the reason that a student reads where whoever decides writes none."""
    alike = [] if item.read else now.alike(item)
    given = [each.why for other in alike if (each := now.decision(other))]
    return Counter(given).most_common(1)[0][0] if given else _BY_HAND


def _decision(decision: PersonDecision) -> View:
    return {
        "points": decision.points,
        "why": inert(decision.why, _TEXT),
        "who": inert(decision.who, _NAME),
        "at": _moment(decision.at),
    }


def _moment(at: dt.datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _others(now: ClassNow, alike: Sequence[Item]) -> list[View]:
    """Return what the same finding earned, the most frequent first."""
    given = Counter(
        (each.points, inert(each.why, _TEXT)) for other in alike if (each := now.decision(other))
    )
    return [
        {"points": points, "why": why, "count": count}
        for (points, why), count in given.most_common(_FEW)
    ]


def _lines(done: GradedSubmission, item: Item) -> list[tuple[str, str, bool]]:
    """Return lines in question: number, text, and whether the finding names it."""
    finding = Finding(item.question, (item.check,), (done,))
    if passage := passage_of(finding):
        named = item.check.params.get("line")
        return [
            (str(number), inert(text.expandtabs(4), _LINE), number == named)
            for number, text in enumerate(passage.lines, passage.first)
        ]
    return [_read(line) for line in lines_of(finding)]


def _read(line: str) -> tuple[str, str, bool]:
    number, text = line[:5].strip(), line[6:]
    if not number.isdecimal():
        number, text = "", line
    return number, inert(text.expandtabs(4), _LINE), False


def _source_in_question(done: GradedSubmission, item: Item) -> View | None:
    """Return the file of the lines in question; None where it is not what was graded."""
    passage = passage_of(Finding(item.question, (item.check,), (done,)))
    graded = {file.path: file.sha256 for file in done.report.submission.files}
    if passage is None or graded.get(passage.file.path) != passage.file.sha256:
        return None
    return _source(passage.file.path, passage.file.sha256)


def _source(path: str, sha256: str) -> View:
    """Return what tells a version of a file, for a comment on a line of it."""
    return {"file": path, "sha256": sha256}


def comments_view(done: GradedSubmission) -> list[View]:
    """Return what people say of lines of a submission."""
    # The report adds whether the file has changed since.
    stored = {each.place: each for each in done.comments}
    return [
        {
            **_source(each.file, each.sha256),
            "line": each.line,
            "place": place_of(each, ENGLISH),
            "excerpt": inert(each.excerpt, _LINE),
            "text": inert(each.text, _TEXT, keep="\n"),
            "who": inert(each.who, _NAME),
            "at": _moment(each.at),
            "state": comment_state(stored[each.place]),
        }
        for each in done.report.comments
    ]


_READERS = {
    Visibility.VISIBLE: "The student reads it.",
    Visibility.AFTER_DUE_DATE: "The student reads it with this check: after the due date.",
    Visibility.AFTER_PUBLISHED: "The student reads it with this check: once grades are published.",
    Visibility.HIDDEN: "Only staff reads it, as this check is hidden.",
}
_READERS_OF_A_QUESTION = "The student reads it together with the question that the line is in."


def _json(check: CheckResult) -> str:
    # The rubric has its own place.
    evidence = {name: value for name, value in check.evidence.items() if name != "rubric"}
    parts = {"evidence": evidence, "witnesses": list(check.witnesses)}
    shown = {name: value for name, value in parts.items() if value}
    return json.dumps(shown, ensure_ascii=False, indent=1) if shown else ""


def reference_of(file: Path, question: str) -> str:
    """Return the text of a question's function or class in the reference; empty if it has none."""
    folder = file.parent.parent.parent / "reference" / file.parent.name
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if defined := definition_of(text, question):
            return defined.text_in(text)
    return ""


def file_view(done: GradedSubmission) -> list[View]:
    """Return the files of a submission that are still what was graded."""
    graded = {file.path: file.sha256 for file in done.report.submission.files}
    return [
        {
            "path": inert(text.path, _NAME),
            "lines": text.lines,
            "source": _source(text.path, graded[text.path]),
        }
        for text in texts(
            submitted(done.report, done.submission.path), done.report.submission.files
        )
    ]


def document_of(done: GradedSubmission, item: Item) -> bytes | None:
    """Return the file that a person reads for an item; None where it is gone."""
    wanted = [file.path for file in done.report.submission.files]
    name = str(item.check.params.get("file", ""))
    submission = read_again(done.submission.path, wanted, documents=[name])
    return submission.documents[0].data if submission and submission.documents else None


def student_view(graded: GradedClass, name: str) -> View:
    """Return a submission with each check that a person may decide on."""
    now = graded.now
    done = now.everybody[name]
    return {
        **_row(done),
        "comments": comments_view(done),
        "reads": _READERS_OF_A_QUESTION,
        "replay": f"grader replay {quote(str(graded.out / name))}",
        "checks": [
            {
                "place": f"{question}.{check.id}",
                "state": now.state(item),
                "said": check.code.value,
                "score": amount(check.score),
                "worth": check.max_score,
                "pending": check.pending > 0,
                "message": inert(check.student_message, _TEXT, keep="\n"),
                "decision": _decision(mine) if (mine := now.decision(item)) else None,
            }
            for question, check in done.report.checks()
            if (item := now.item_at(name, f"{question}.{check.id}"))
        ],
    }


_CHANGES = (
    "when", "who", "submission", "student", "question", "check", "grader_said", "points_before",
    "points_now", "worth", "why",
)  # fmt: skip


def changes_table(now: ClassNow) -> str:
    """Return every decision that stands as CSV, the latest last."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(_CHANGES)
    every = sorted(now.decisions, key=lambda pair: (pair[1].at, pair[0], pair[1].place))
    for name, each in every:
        people = "; ".join(map(_called, now.everybody[name].submission.students))
        row = (
            each.at.isoformat(timespec="seconds"), each.who, name, people, each.question,
            each.check, each.said.value, amount(each.said_points), amount(each.points),
            amount(each.worth), each.why,
        )  # fmt: skip
        writer.writerow(map(cell, row))
    return out.getvalue()


def finish_view(graded: GradedClass, written: Path) -> View:
    """Return what is still open, and whether the written totals are the desk's."""
    now = graded.now
    waits = Counter(
        question.id for done in now.everybody.values() for question, _ in awaited(done.report)
    )
    otherwise, folder = list(_otherwise(now, written)), quote(str(graded.out))
    return {
        "waits": sorted(waits.items()),
        "incomplete": [
            inert(name, _NAME)
            for name, done in now.everybody.items()
            if done.report.status is ReportStatus.INCOMPLETE
        ],
        "pending": sum(
            done.report.pending > 0 and not awaited(done.report) for done in now.everybody.values()
        ),
        "absent": [inert(_called(each.student()), _NAME) for each in now.setup.absent],
        "working": now.working,
        "decided": len(now.decisions),
        "total": len(now.everybody),
        "otherwise": otherwise[:_FEW],
        "agree": len(now.everybody) - len(otherwise),
        "commands": [
            f"grader export canvas {folder} --into my_export.csv --out import.csv",
            f"grader export moodle {folder} --into worksheet.csv --out import.csv",
            f"grader export gradescope {folder} --into autograder.zip --out scored.zip",
        ],
    }


def _otherwise(now: ClassNow, written: Path) -> Iterator[str]:
    """Yield whose row of the written gradebook has not the desk's total."""
    rows = _rows(written)
    for grade in now.grades:
        name = grade.submission.name
        row = rows.get(cell(name))
        mine = "" if grade.score is None else amount(grade.score)
        if row is None or (row.get("score"), row.get("pending")) != (
            mine, amount(grade.report.pending),
        ):  # fmt: skip
            yield inert(name, _NAME)


def _rows(path: Path) -> Mapping[str, Mapping[str, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return {}
    return {row["submission"]: row for row in csv.DictReader(io.StringIO(text, newline=""))}
