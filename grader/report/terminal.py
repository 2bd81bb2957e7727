"""Reports as tables on a terminal. Text of a submission never becomes markup or control sequences.

For staff, and for students on public cases: it shows ``message``, which holds everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from grader.report.comments import comment_text, signed
from grader.report.messages.catalogue import current
from grader.report.model import (
    CheckResult,
    IsolationInfo,
    QuestionResult,
    Report,
    ReportStatus,
    Scored,
)
from grader.report.summary import MARKS, amount, worth
from grader.report.view import Audience, view_of
from grader.sandbox.host.processes import Tier
from grader.text import inert
from grader.verdict import Basis, Status

_MAX_CELL = 600
_FINDINGS = "First finding"
_MOST_OF_A_NAME = 24
_LEAST_OF_A_NAME = 10
_BETWEEN = 3
"""Blanks between two columns of a table of a class."""
_ROOM_FOR_A_SENTENCE = 48
_CLAIM = "† rests on what the submission's own process said of itself"
_WIDTH_OF_A_NUMBER = 9
_WIDTH_OF_THE_REST = 56
STYLE = {
    Status.PASSED: "green",
    Status.PARTIAL: "yellow",
    Status.FAILED: "red",
    Status.SKIPPED: "dim",
    Status.DEFERRED: "cyan",
    Status.ERROR: "magenta",
}
_REPORT_STYLE = {
    ReportStatus.GRADED: "green",
    ReportStatus.PENDING: "cyan",
    ReportStatus.INCOMPLETE: "magenta",
}


_Cells = Callable[[Report, Sequence[str]], list[Text]]


def print_report(report: Report, console: Console) -> None:
    """Print one submission: a row a check, then totals, notes and how it was walled in."""
    view = view_of(report, Audience(staff=True))
    report = view.report
    console.print(_plain(f"{report.assignment.id} · {report.submission.id}", "bold"))
    checks = [check for _, check in report.checks()]
    widths = (
        max((_label(check).cell_len for check in checks), default=0),
        max((_points(check).cell_len for check in checks), default=0),
    )
    for question in report.questions:
        console.print()
        console.print(_heading(question))
        console.print(_checks_table(question, widths))
    console.print()
    if any(_is_claim(check) for check in checks):
        console.print(_plain(_CLAIM, "dim"))
    console.print(_total_line(report))
    for comment in report.comments:
        said = comment_text(comment, current())
        # Each line by itself: a text that is plain has none that end it.
        for line in [*said.split("\n"), f"    {signed(comment)}"]:
            console.print(_plain(line))
    for line in [*view.notices, *report.submission.notes]:
        console.print(_plain(line, "yellow"))
    console.print(_isolation_line(report.environment.isolation))


def print_class(reports: Sequence[Report], console: Console) -> None:
    """Print many submissions of one assignment: a row each, with the first thing to know.

    Points by question where the terminal is wide enough for them, one mark each where it is not.
    """
    questions = list(dict.fromkeys(q.id for report in reports for q in report.questions))
    room = (console.width - _WIDTH_OF_THE_REST) // _WIDTH_OF_A_NUMBER
    cells = _point_cells if len(questions) <= room else _mark_cells
    bare = _class_table(reports, questions, cells, 0)
    left = console.width - Measurement.get(console, console.options, bare).maximum - _BETWEEN
    console.print(_class_table(reports, questions, cells, _room_for_findings(reports, left)))
    # A space that does not break keeps each number beside its name.
    legend = (
        f"{head}\u00a0{name}" for head, name in zip(_headings(questions), questions, strict=True)
    )
    console.print(_plain(" · ".join(legend), "dim"))


def _room_for_findings(reports: Sequence[Report], left: int) -> int:
    """Return how wide findings are shown: no word of theirs is broken, rather names are folded.

    Args:
        reports: The class.
        left: What other columns leave at their widest.

    Returns:
        0 where there is no room even then.
    """
    longest = max(len(_FINDINGS), *(len(_first_finding(report, 0)) for report in reports))
    name = min(_MOST_OF_A_NAME, max((len(each.submission.id) for each in reports), default=0))
    if left >= longest:
        return left
    return longest if left + max(name - _LEAST_OF_A_NAME, 0) >= longest else 0


def _class_table(
    reports: Sequence[Report], questions: Sequence[str], cells: _Cells, room: int
) -> Table:
    """Return the table; with ``room`` for findings, in characters, or without any."""
    numbers = cells is _point_cells
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Submission", overflow="fold", max_width=_MOST_OF_A_NAME)
    for name in _headings(questions) if numbers else ["Questions"]:
        table.add_column(name, justify="right" if numbers else "left", no_wrap=True)
    table.add_column("Total", justify="right", no_wrap=True)
    table.add_column("Status", no_wrap=True)
    if room:
        table.add_column(_FINDINGS, overflow="fold", no_wrap=room < _ROOM_FOR_A_SENTENCE)
    for report in reports:
        row = [
            _plain(report.submission.id),
            *cells(report, questions),
            _points(report, "bold"),
            Text(report.status.value, _REPORT_STYLE[report.status]),
        ]
        table.add_row(*row, *([Text(inert(_first_finding(report, room), room))] if room else []))
    return table


def _headings(questions: Sequence[str]) -> list[str]:
    return [f"Q{number}" for number, _ in enumerate(questions, start=1)]


def _point_cells(report: Report, questions: Sequence[str]) -> list[Text]:
    results = {question.id: question for question in report.questions}
    return [_question_cell(results.get(name)) for name in questions]


def _mark_cells(report: Report, questions: Sequence[str]) -> list[Text]:
    results = {question.id: question.status for question in report.questions}
    known = [results.get(name, Status.SKIPPED) for name in questions]
    return [Text.assemble(*((MARKS[status], STYLE[status]) for status in known))]


def _heading(question: QuestionResult) -> Text:
    return Text("  ").join(
        [
            _plain(question.id, "bold"),
            _points(question, f"bold {STYLE[question.status]}"),
            _plain(question.title, "dim"),
            *(_plain(f"on {name}", "dim") for name in _gpus(question)),
        ]
    )


def _gpus(question: QuestionResult) -> list[str]:
    return sorted({check.device for check in question.checks} - {"", "cpu"})


def _checks_table(question: QuestionResult, widths: tuple[int, int]) -> Table:
    """Return the rows of one question; the same widths for all keep their columns in line."""
    table = Table.grid(padding=(0, 2))
    table.add_column(width=widths[0])
    table.add_column(width=widths[1], justify="right")
    table.add_column(overflow="fold")
    above = ""
    for check in question.checks:
        message = _plain(check.message)
        if not check.message or check.message == above:
            message = Text("as above" if check.message else check.status.value, "dim")
        table.add_row(_label(check), _points(check, STYLE[check.status]), message)
        above = check.message
    return table


def _label(check: CheckResult) -> Text:
    mark = " †" if _is_claim(check) else ""
    return _plain(f"  {MARKS[check.status]} {check.id}{mark}", STYLE[check.status])


def _is_claim(check: CheckResult) -> bool:
    return check.basis is Basis.CLAIM


def _points(part: CheckResult | QuestionResult | Report, style: str = "") -> Text:
    """Return “7.5 / 20”, or with “pending” in the place of points that are still open."""
    most = worth(part)
    if isinstance(part, CheckResult) and part.uncounted:
        return Text("not counted", style)
    if _all_open(part):
        return Text(f"pending / {most}", style)
    open_points = f" +{amount(part.pending)}?" if part.pending else ""
    return Text(f"{amount(part.score)}{open_points} / {most}", style)


def _all_open(part: Scored) -> bool:
    return 0 < part.max_score <= part.pending


def _question_cell(question: QuestionResult | None) -> Text:
    if question is None:
        return Text("")
    style = STYLE[question.status]
    if _all_open(question):
        return Text("pending" if question.status is not Status.ERROR else "error", style)
    return Text(amount(question.score) + ("?" if question.pending else ""), style)


def _total_line(report: Report) -> Text:
    style = f"bold {_REPORT_STYLE[report.status]}"
    line = Text.assemble(
        ("Total  ", "bold"), (f"{amount(report.score)} / {amount(report.max_score)}", style)
    )
    return line.append(f", {amount(report.pending)} pending" if report.pending else "", style)


def _isolation_line(isolation: IsolationInfo) -> Text:
    if isolation.tier is Tier.NONE:
        return Text("Isolation: none", "yellow")
    held = f"mechanisms in force: {len(isolation.mechanisms)}"
    return Text(
        f"Isolation: {isolation.tier.value} ({held}; probes of them made: {len(isolation.proved)})",
        "dim",
    )


def _first_finding(report: Report, room: int) -> str:
    for question in report.questions:
        for check in question.checks:
            if check.message and not (check.status is Status.PASSED or check.uncounted):
                long = room >= _ROOM_FOR_A_SENTENCE
                return f"{question.id}: {check.message}" if long else check.code.value
    return ""


def _plain(text: str, style: str = "") -> Text:
    """Return text that rich prints as it is: no markup, no control character, no endless cell."""
    return Text(inert(text, _MAX_CELL), style)
