"""An exception that several checks met is told in full once."""

from __future__ import annotations

from dataclasses import replace

from grader.checks.judge import without_repeats
from grader.checks.values import Exact
from grader.report.messages.catalogue import ENGLISH, words_in
from grader.verdict import Code, Message, Verdict, Visibility, failed, passed

CHECKS = [Exact(id=name, points=1) for name in ("a", "b", "c")]


def raised(case: str, line: int = 3, **more: bool) -> Verdict:
    told = {"type": "RuntimeError", "message": "two devices", "file": "f.py", "line": line}
    return replace(failed(Code.RAISED, Message("raised", told)), case=case, **more)


def said(*verdicts: Verdict) -> list[str]:
    pairs = {check.id: verdict for check, verdict in zip(CHECKS, verdicts, strict=True)}
    return [ENGLISH.for_student(verdict) for verdict in without_repeats(CHECKS, pairs).values()]


def test_the_second_refers_to_the_first() -> None:
    assert said(passed(), raised("one"), raised("two")) == [
        "",
        "Case one: RuntimeError in f.py, line 3: two devices",
        "Case two: RuntimeError in f.py, line 3, as at b.",
    ]
    again = without_repeats(CHECKS, {"a": raised("x"), "b": raised("y"), "c": passed()})["b"]
    assert (again.code, again.evidence) == (Code.RAISED, raised("y").evidence)
    assert words_in("ko").for_student(again) == (
        "케이스 y: f.py 3번째 줄의 RuntimeError, a에서와 같습니다."
    )


def test_another_line_is_another_mistake() -> None:
    assert "two devices" in said(passed(), raised("one"), raised("two", line=4))[2]


def test_nothing_refers_to_what_a_student_may_not_see() -> None:
    assert said(raised("h", hidden=True), raised("one"), raised("h", hidden=True)) == [
        "In a hidden case: RuntimeError.",
        "Case one: RuntimeError in f.py, line 3: two devices",
        "In a hidden case: RuntimeError.",
    ]
    secret = [CHECKS[0].model_copy(update={"visibility": Visibility.HIDDEN}), *CHECKS[1:]]
    pairs = {"a": raised("x"), "b": raised("y"), "c": passed()}
    assert "two devices" in ENGLISH.for_student(without_repeats(secret, pairs)["b"])
