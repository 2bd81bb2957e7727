from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from grader.report.model import IsolationInfo, Report
from grader.report.terminal import print_class, print_report
from grader.sandbox.host.processes import Tier
from grader.verdict import Code, Status


def _printed(show: Callable[[Console], None], width: int = 100, colour: bool = False) -> str:
    out = io.StringIO()
    show(
        Console(
            file=out,
            width=width,
            force_terminal=colour,
            color_system="standard" if colour else None,
        )
    )
    return out.getvalue()


def _walled(report: Report, isolation: IsolationInfo) -> Report:
    environment = report.environment.model_copy(update={"isolation": isolation})
    return report.model_copy(update={"environment": environment})


def test_pending_is_not_zero(report: Report) -> None:
    text = _printed(lambda console: print_report(report, console))
    assert "pending / 5" in text
    assert " 0 / 5" not in text
    assert "6 / 15, 5 pending" in text


def test_student_text_is_no_markup(broken: Report) -> None:
    text = _printed(lambda console: print_report(broken, console), width=200, colour=True)
    assert "[red]<b>hi</b>[/red] \\x1b[31m**x**\\r\\n\\u202e=1+1" in text


def test_submission_names_are_no_markup(report: Report) -> None:
    submission = report.submission.model_copy(update={"id": "[bold]x[/]\x1b[2J"})
    hostile = report.model_copy(update={"submission": submission})
    for show in (lambda c: print_report(hostile, c), lambda c: print_class([hostile], c)):
        text = _printed(show, width=160)
        assert "[bold]x[/]\\x1b[2J" in text
        assert "\x1b" not in text


def test_claims_are_marked(report: Report) -> None:
    text = _printed(lambda console: print_report(report, console))
    assert "✗ inputs †" in text
    assert "† rests on what" in text


def test_facts_need_no_mark(broken: Report) -> None:
    assert "†" not in _printed(lambda console: print_report(broken, console))


def test_a_self_check_is_stamped(report: Report) -> None:
    bare = _walled(report, IsolationInfo(tier=Tier.NONE))
    text = _printed(lambda console: print_report(bare, console))
    assert "Graded without a sandbox: not an official score." in text


def test_walls_are_summed_up(report: Report) -> None:
    walls = IsolationInfo(tier=Tier.RESTRICTED, mechanisms=("seccomp",), proved={"socket": "EPERM"})
    text = _printed(lambda console: print_report(_walled(report, walls), console))
    assert "Isolation: restricted (mechanisms in force: 1; probes of them made: 1)" in text


def test_a_message_is_said_once(broken: Report) -> None:
    text = _printed(lambda console: print_report(broken, console))
    assert text.count("fork: out of memory") == 1
    assert text.count("as above") == 2


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_a_class_is_one_line_each(report: Report, broken: Report, width: int) -> None:
    text = _printed(lambda console: print_class([report, broken] * 3, console), width=width)
    lines = text.splitlines()
    assert sum("team-7" in line for line in lines) == 6
    assert all(len(line) <= width for line in lines)
    if width >= 80:
        assert len(lines) <= 6 + 6


def test_a_class_of_many_questions_shows_marks(report: Report) -> None:
    many = report.model_copy(
        update={
            "questions": tuple(
                report.questions[n % 3].model_copy(update={"id": f"q{n}"}) for n in range(20)
            )
        }
    )
    assert "◐◐…" * 6 in _printed(lambda console: print_class([many], console))


@pytest.mark.parametrize("width", [50, 60, 72, 80, 100])
@pytest.mark.parametrize("code", ["reduced_precision", "missing_function", "raised"])
def test_a_finding_of_a_class_is_not_broken_in_a_narrow_terminal(
    report: Report, width: int, code: str
) -> None:
    submission = report.submission.model_copy(update={"id": "a-name-that-is-quite-long"})
    failed = {"status": Status.FAILED, "code": Code(code), "message": "That is wrong."}
    checks = tuple(check.model_copy(update=failed) for check in report.questions[0].checks)
    questions = tuple(
        report.questions[0].model_copy(update={"id": f"q{n}", "checks": checks}) for n in range(20)
    )
    many = report.model_copy(update={"questions": questions, "submission": submission})
    text = _printed(lambda console: print_class([many], console), width=width)
    assert ("First finding" in text) == (code in text)
    assert code in text or width < 80
    assert all(len(line) <= width for line in text.splitlines())


def test_a_class_row_lacks_what_a_report_lacks(report: Report) -> None:
    short = report.model_copy(update={"questions": report.questions[:1]})
    text = _printed(lambda console: print_class([report, short], console), width=160)
    assert text.count("pending") >= 2


def test_a_clean_report_has_no_finding(report: Report) -> None:
    clean = report.questions[0].model_copy(update={"checks": report.questions[0].checks[:2]})
    one = report.model_copy(update={"questions": (clean,)})
    text = _printed(lambda console: print_class([one], console), width=160)
    assert "Changed elements" not in text
