"""The page of a question: who in the class has which points, made which mistake, and took how long.

For staff, beside the page of the class. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from grader.report.html.class_page import ClassView, HistogramBar, MistakeRow, QuestionLine, bars_of
from grader.report.html.render import Labels, render
from grader.report.model import QuestionResult
from grader.report.summary import unread, unwritten
from grader.verdict import Status


@dataclass(frozen=True, slots=True)
class Answer:
    """What one submission did with the question.

    Attributes:
        name: Of the submission.
        link: To the question on its page for staff, from the page of the question.
        people: Who handed it in, in a line.
        result: Points and checks.
        mistakes: Those that it made here.
        seconds: How long its calls took, with all that the grader did around them.
        nothing: Label of why it did nothing here; empty where it did.
    """

    name: str
    link: str
    people: str
    result: QuestionResult
    mistakes: tuple[MistakeRow, ...]
    seconds: float
    nothing: str


@dataclass(frozen=True, slots=True)
class QuestionView:
    """The page of a question.

    Attributes:
        line: How the class did.
        answers: Of all submissions that have the question, the class's order.
        bars: Submissions by their share of the points.
        mistakes: Those made here, the most frequent first.
        median: Of the seconds of those that wrote it.
        asked: What was asked; empty where nobody knows.
        previous: Id of the question before, or empty.
        next: Id of the one after, or empty.
    """

    line: QuestionLine
    answers: tuple[Answer, ...]
    bars: tuple[HistogramBar, ...]
    mistakes: tuple[MistakeRow, ...]
    median: float
    asked: str
    previous: str
    next: str

    @property
    def links(self) -> Mapping[str, str]:
        """Name of a submission → link to what it did here."""
        return {answer.name: answer.link for answer in self.answers}


def question_page(view: QuestionView, of_class: ClassView, labels: Labels) -> str:
    """Return the page of a question."""
    values = {"view": view, "report": of_class.report}
    return render("question.html", ("base.js", "table.js"), labels, values)


def question_views(view: ClassView, asked: Mapping[str, str]) -> tuple[QuestionView, ...]:
    """Return what the page of each question shows.

    Args:
        view: The class.
        asked: Question → what was asked.
    """
    ids = ["", *(line.id for line in view.questions), ""]
    return tuple(
        _view(view, line, asked.get(line.id, ""), (ids[place], ids[place + 2]))
        for place, line in enumerate(view.questions)
    )


def _view(view: ClassView, line: QuestionLine, asked: str, around: tuple[str, str]) -> QuestionView:
    answers = _answers(view, line.id)
    times = [answer.seconds for answer in answers if answer.seconds and not answer.nothing]
    return QuestionView(
        line,
        answers,
        # What the grader failed at says nothing about the question.
        bars_of(each.result for each in answers if each.result.status is not Status.ERROR),
        tuple(row for row in view.mistakes.rows if row.mistake.question == line.id),
        median=median(times) if times else 0.0,
        asked=asked,
        previous=around[0],
        next=around[1],
    )


def _answers(view: ClassView, question: str) -> tuple[Answer, ...]:
    found = []
    for line in view.lines:
        report = line.row.report
        made = (view.mistakes.rows[index] for index in line.mistakes)
        mistakes = tuple(row for row in made if row.mistake.question == question)
        lost = "flag_unread" if unread(report) is not None else ""
        found += [
            Answer(
                report.submission.id,
                f"../{line.row.staff}#q-{place}",
                line.row.people,
                result,
                mistakes,
                report.timing.questions.get(question, 0.0),
                lost or ("n_unwritten" if unwritten(result) else ""),
            )
            for place, result in enumerate(report.questions, start=1)
            if result.id == question
        ]
    return tuple(found)
