from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import toy_starter
from toy_starter import fill

from grader.errors import InfrastructureError
from grader.observation import Observation, Outcome
from grader.report.model import QuestionResult, Report, ReportStatus
from grader.run.answer_budget import Sized
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import ProcessSpec
from grader.selfcheck import warm_sandbox
from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.pictures import pictures
from grader.selfcheck.terminal import SaveWatch
from grader.selfcheck.warm_sandbox import SpareSandbox, open_for_check
from grader.selfcheck.workplace import Workplace, open_workplace
from grader.verdict import Code


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return open_workplace(toy_starter.starter(tmp_path / "toy"))


@pytest.fixture
def check(place: Workplace, lent: None) -> Iterator[SelfCheck]:
    with SelfCheck(place, open_for_check()) as found:
        yield found


def codes(report: Report) -> dict[str, Code]:
    return {
        f"{question.id}.{item.id}": item.code
        for question in report.questions
        for item in question.checks
    }


def test_from_a_fresh_starter_to_one_function_right(place: Workplace, check: SelfCheck) -> None:
    fresh = check.check()
    assert fresh.score == 0
    assert fresh.max_score == 10
    assert codes(fresh)["double.values"] is Code.NOT_IMPLEMENTED
    assert codes(fresh)["Counter.later"] is Code.REQUIREMENT_NOT_MET
    assert "not a score" in fresh.submission.notes[-1]
    fill(place.folder, "double", "    return 2 * x")
    filled = check.check()
    assert codes(filled)["double.values"] is Code.OK
    assert codes(filled)["double.surprise"] is Code.NOT_RUN
    double = filled.questions[0]
    assert (double.score, double.pending) == (3, 1)
    assert filled.status is ReportStatus.PENDING


def test_the_reference_earns_everything_but_what_is_left_to_grading(check: SelfCheck) -> None:
    materials = toy_starter.made()[1]
    check.workplace.module("double").write_text((materials.reference_folder / "toy.py").read_text())
    report = check.check()
    open_ones = {name for name, code in codes(report).items() if code is not Code.OK}
    assert open_ones == {"double.surprise", "Counter.later"}
    assert report.score + report.pending == report.max_score


def test_results_are_told_as_they_come_and_are_those_of_the_report(check: SelfCheck) -> None:
    fill(check.workplace.folder, "double", "    return 2 * x")
    told: list[QuestionResult | str] = []
    report = check.check(["double", "mean_of"], told.append, told.append)
    assert told == ["double", report.questions[0], "mean_of", report.questions[1]]
    assert report.questions[0].score


def test_wrong_numbers_are_found_and_pictured(place: Workplace, check: SelfCheck) -> None:
    fill(place.folder, "double", "    return torch.cat([x[:1] * 2, x[1:] * 3])")
    fill(place.folder, "mean_of", "    return x.sum() / (len(x) - 1)")
    report = check.check(["double", "mean_of"])
    double, mean = report.questions[:2]
    assert double.checks[0].code is Code.WRONG_VALUE
    assert mean.checks[0].code is Code.WRONG_VALUE
    heat = pictures(double, place, check.seen)["values"]
    assert heat.first == (1, 0)
    assert (heat.actual[1, 0], heat.expected[1, 0]) == (9, 6)
    assert heat.wrong.tolist() == [[False, False], [True, True]]
    assert pictures(mean, place, check.seen)["values"].where == "result"


def test_a_loop_is_found_without_the_reference_at_hand(place: Workplace, check: SelfCheck) -> None:
    body = (
        "    total = 0\n    for item in x:\n        total = total + item\n    return total / len(x)"
    )
    fill(place.folder, "mean_of", body)
    assert codes(check.check(["mean_of"]))["mean_of.no_loops"] is Code.LOOP_FOUND


def test_a_changed_support_file_is_told(place: Workplace, check: SelfCheck) -> None:
    (place.folder / "helper.py").write_text("SIZE = 4\n")
    notes = check.check(["double"]).submission.notes
    assert any("helper.py is not as it was given" in note for note in notes)


def test_watching_checks_again_what_changed(place: Workplace, check: SelfCheck) -> None:
    watch = SaveWatch(check)
    try:
        first = watch.run()
        assert set(first.questions) == {"double", "mean_of", "Counter"}
        assert watch.run().questions == ()
        fill(place.folder, "mean_of", "    return x.mean()")
        check.make_ready()
        second = watch.run()
    finally:
        watch.close()
    assert second.questions == ("mean_of",)
    assert codes(second.report)["mean_of.values"] is Code.OK
    assert codes(second.report)["double.values"] is Code.NOT_IMPLEMENTED
    assert second.report.score == 4


def test_what_named_a_line_is_checked_again_when_lines_move(
    place: Workplace, check: SelfCheck
) -> None:
    fill(place.folder, "mean_of", "    return sum(item for item in x) / len(x)")
    watch = SaveWatch(check)
    try:
        watch.run()
        fill(place.folder, "double", "    twice = 2 * x\n    return twice")
        second = watch.run()
    finally:
        watch.close()
    # Counter stands below as well, but nothing that was said of it names a line.
    assert second.questions == ("double", "mean_of")


@pytest.mark.parametrize("times", [1, 2])
def test_what_a_busy_machine_gave_no_time_is_run_once_more(
    place: Workplace, check: SelfCheck, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    fill(place.folder, "double", "    return 2 * x")
    call, starved = ProcessSession.call_each, [Observation(Outcome.SANDBOX_FAILED)] * times

    def busy(self: ProcessSession, calls: Sequence[Sized], seconds: float) -> list[Observation]:
        seen = call(self, calls, seconds)
        if calls[0][0].entry == "double" and starved:
            return [starved.pop(), *seen[1:]]
        return seen

    monkeypatch.setattr(ProcessSession, "call_each", busy)
    told: list[QuestionResult] = []
    report = check.check(on_result=told.append)
    assert (codes(report)["double.values"] is Code.OK) is (times == 1)
    assert [each.id for each in told].count("double") == 1
    assert report.questions[0].score == (3 if times == 1 else 0)
    assert report.questions[0].pending == (1 if times == 1 else 4)


def test_without_walls_a_machine_checks_all_the_same(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: str) -> None:
        raise InfrastructureError("none here")

    monkeypatch.setattr(warm_sandbox, "open_sandbox", refuse)
    with SelfCheck(place, open_for_check()) as own:
        assert isinstance(own._sandbox, SpareSandbox)
    with pytest.raises(InfrastructureError):
        open_for_check("full")


def test_a_spare_process_is_taken_once_and_only_for_what_it_was_made() -> None:
    sandbox = SpareSandbox()
    # Which file's functions are called is all one: nothing is loaded yet.
    one, same = ProcessSpec("one.py"), ProcessSpec("other.py")
    started: list[str] = []
    sandbox._inner.start = lambda *_, **__: started.append("warm") or _Spare()  # type: ignore[assignment]
    sandbox.make_ready(one)
    sandbox.make_ready(one)
    sandbox.start(same)
    assert started == ["warm"]
    sandbox.start(one)
    assert started == ["warm"] * 2
    sandbox.make_ready(one)
    sandbox.start(ProcessSpec(seconds=1))
    assert started == ["warm"] * 4
    assert _Spare.ended == 1


class _Spare:
    ended = 0

    def end(self) -> None:
        _Spare.ended += 1
