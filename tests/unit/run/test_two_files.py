"""Questions in two files: each is graded in its own, with the other one beside it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
import toy_starter
import two_files
from two_files import LINEAR, NET, NET_ALONE, RIGHT

from grader.errors import AssignmentError
from grader.grading import Examined, Grader, Options
from grader.report.model import CheckResult, Report
from grader.run.materials import load_materials
from grader.run.timing.quick_screen import Screener
from grader.run.timing.stopwatch import NotTimedError, Subject
from grader.sandbox.host.processes import Sandbox
from grader.speed_statistics.sampling import readable
from grader.verdict import Code, Status

LOOPED = """\
import torch


def scores(W, X):
    rows = []
    for row in X:
        rows.append(row @ W)
    return torch.stack(rows)


def predict(W, X):
    return scores(W, X).argmax(1)
"""


@pytest.fixture(scope="module")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    with toy_starter.lent() as sandbox:
        grader = Grader(
            two_files.materials(tmp_path_factory.mktemp("nets")), sandbox, Options(5, "virtual")
        )
        grader.prepare()
        yield grader


@pytest.fixture
def examine(grader: Grader, tmp_path: Path):
    def examined(files: Mapping[str, str | bytes]) -> Examined:
        for name, text in files.items():
            (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return grader.examine(tmp_path, "jane", clock=False)

    return examined


def points(report: Report) -> dict[str, float]:
    return {question.id: question.score for question in report.questions}


def check(report: Report, where: str) -> CheckResult:
    question, name = where.split(".")
    (found,) = (each for each in report.questions if each.id == question)
    return next(each for each in found.checks if each.id == name)


def test_both_files_earn_everything(examine) -> None:
    report = examine(RIGHT).report
    assert points(report) == {"scores": 3, "predict": 2, "net_scores": 3, "Net": 2}
    assert [file.path for file in report.submission.files] == [LINEAR, NET]


def test_one_file_alone_costs_the_others_questions_in_plain_words(examine) -> None:
    report = examine({LINEAR: RIGHT[LINEAR]}).report
    assert points(report) == {"scores": 3, "predict": 2, "net_scores": 0, "Net": 0}
    said = {check.message for question in report.questions[2:] for check in question.checks}
    assert said == {
        f"{NET} was not handed in, so what is asked for in it earns nothing. "
        "Hand it in beside the others."
    }
    assert report.pending == 0


def test_a_file_alone_is_graded_as_a_file(grader: Grader, tmp_path: Path) -> None:
    path = tmp_path / NET
    path.write_text(RIGHT[NET])
    report = grader.grade(path, "jane", clock=False)
    # Its import of the other file has nothing to find; what does without it is graded.
    assert points(report) == {"scores": 0, "predict": 0, "net_scores": 0, "Net": 2}
    assert "linear_classifier.scores" in check(report, "net_scores.values").message


@pytest.mark.parametrize(("file", "where"), [(LINEAR, "scores.values"), (NET, "Net.values")])
def test_a_function_that_is_missing_is_told_with_its_file(examine, file: str, where: str) -> None:
    name = where.partition(".")[0]
    text = re.sub(rf"^(def|class) {name}\b", r"\1 Other", RIGHT[file], flags=re.MULTILINE)
    report = examine(RIGHT | {file: text}).report
    assert check(report, where).message.startswith(f"{file} has no {name}.")


def test_a_misnamed_file_is_named(examine) -> None:
    report = examine({LINEAR: RIGHT[LINEAR], "two_layer_net (1).py": RIGHT[NET]}).report
    assert (
        "“two_layer_net (1).py” was: rename it to two_layer_net.py"
        in check(report, "Net.values").message
    )


def test_an_archive_holds_both(grader: Grader, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "jane.zip", "w") as archive:
        for name, text in RIGHT.items():
            archive.writestr(f"work/{name}", text)
    assert grader.grade(tmp_path / "jane.zip", "jane", clock=False).score == 10


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("def scores(W, X)\n    return X @ W\n", Code.SYNTAX_ERROR, f"{LINEAR}, line 1"),
        (b"caf\xe9 = 1\n", Code.BAD_SUBMISSION, f"{LINEAR}, line 1"),
        ("import os\nos._exit(3)\n", Code.CRASHED, ""),
    ],
)
def test_a_file_that_cannot_be_read_fails_its_own_questions(examine, text, code, said) -> None:
    report = examine({LINEAR: text, NET: RIGHT[NET].replace("from linear", "# from linear")}).report
    own = check(report, "scores.values")
    assert own.code is code
    assert said in own.message
    assert points(report)["Net"] == 2


def test_what_python_cannot_run_leaves_the_other_file_alone(examine) -> None:
    broken = "def scores(W, X)\n    return X @ W\n"
    report = examine({LINEAR: broken, NET: NET_ALONE}).report
    assert points(report) == {"scores": 0, "predict": 0, "net_scores": 3, "Net": 2}
    assert report.pending == 0


def test_a_file_that_cannot_be_read_takes_no_points_of_another(examine) -> None:
    deep = f"{RIGHT[LINEAR]}\nX = {'-' * 5000}1\n"
    assert check(examine({LINEAR: deep, NET: NET_ALONE}).report, "net_scores.no_loops").score == 1


def test_a_number_that_is_too_long_hides_nothing(examine) -> None:
    # Python calls it a syntax error, unless the other file lifts the limit first.
    hidden = f"{LOOPED}\nX = {'1' * 5000}\n"
    lifted = f"import sys\nsys.set_int_max_str_digits(0)\n{RIGHT[NET]}"
    found = check(examine({LINEAR: hidden, NET: lifted}).report, "net_scores.no_loops")
    assert (found.code, found.params["file"]) == (Code.LOOP_FOUND, LINEAR)


@pytest.mark.parametrize("empty", [LINEAR, NET])
def test_an_empty_file_alone_is_called_empty_at_its_own_questions(examine, empty: str) -> None:
    report = examine({empty: ""}).report
    (other,) = {LINEAR, NET} - {empty}
    for file, where in ((LINEAR, "scores.values"), (NET, "net_scores.values")):
        found = check(report, where)
        assert found.code is (Code.BAD_SUBMISSION if file == empty else Code.MISSING_FILE)
        said = f"{empty} is empty." if file == empty else f"{other} was not handed in"
        assert found.message.startswith(said)


def test_what_is_imported_is_the_students_own(examine) -> None:
    wrong = RIGHT[LINEAR].replace("X @ W", "X @ W + 1")
    report = examine({**RIGHT, LINEAR: wrong}).report
    assert check(report, "net_scores.values").status is Status.FAILED
    assert points(report)["Net"] == 2


def test_a_line_that_fails_in_the_imported_file_costs_what_depends_on_it(examine) -> None:
    broken = f"import not_there\n{RIGHT[LINEAR]}\nplot(1)\n"
    assert examine({**RIGHT, LINEAR: broken}).report.score == 10
    early = f"plot(1)\n{RIGHT[LINEAR]}\n"
    report = examine({**RIGHT, LINEAR: early}).report
    assert points(report) == {"scores": 0, "predict": 0, "net_scores": 0, "Net": 2}
    assert f"{LINEAR}, line 1: NameError" in check(report, "net_scores.values").message


def test_a_loop_in_the_imported_file_is_found_there(examine) -> None:
    report = examine({**RIGHT, LINEAR: LOOPED}).report
    for where in ("scores.no_loops", "net_scores.no_loops"):
        found = check(report, where)
        assert found.code is Code.LOOP_FOUND
        assert (found.params["file"], found.params["line"]) == (LINEAR, 6)
        assert f"{LINEAR}: Line 6: " in found.message


def test_what_a_text_mentions_takes_no_points(examine) -> None:
    beside = f"{RIGHT[NET]}\nimport sys, inspect\nsys.modules, inspect.currentframe, exec\n"
    report = examine({LINEAR: RIGHT[LINEAR], NET: beside}).report
    assert (report.score, report.pending) == (10, 0)
    words = {item["name"]: item["says"] for item in check(report, "scores.no_loops").witnesses}
    assert words["replay"] == "kept"


def test_a_known_mistake_is_recognised_in_its_file(examine) -> None:
    without = RIGHT[NET].replace(".clamp(min=0)", "")
    assert (
        "left out the ReLU"
        in check(examine({**RIGHT, NET: without}).report, "net_scores.values").message
    )


def test_judging_again_keeps_what_was_not_handed_in(grader: Grader, examine) -> None:
    done = examine({LINEAR: RIGHT[LINEAR]})
    again = grader.judge_again(done.runs, done.report)
    assert points(again) == points(done.report)
    assert check(again, "Net.values").message == check(done.report, "Net.values").message


def test_submissions_that_lack_different_files_differ(examine) -> None:
    alone = examine({LINEAR: RIGHT[LINEAR]}).report.submission.digest
    damaged = examine({LINEAR: RIGHT[LINEAR], NET: b"\0"}).report.submission.digest
    assert alone != damaged


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("file: two_layer_net.py", "file: two_layers.py", "is not under hand_in"),
        ("two_layer_net.py", "two-layer-net.py", "cannot be imported by its name"),
        ("two_layer_net.py", "part/two_layer_net.py", "in no folder"),
    ],
)
def test_a_file_that_cannot_be_handed_in_or_imported_is_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    file = two_files.course(tmp_path)
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(AssignmentError, match=said):
        load_materials(file)


def test_a_fault_of_the_reference_names_its_file(tmp_path: Path, sandbox: Sandbox) -> None:
    file = two_files.course(tmp_path)
    path = tmp_path / "reference" / "nets" / NET
    path.write_text(path.read_text().replace("def net_scores", "def net_score"))
    with pytest.raises(AssignmentError) as error:
        Grader(load_materials(file), sandbox, Options(5, "virtual")).prepare()
    assert [Path(problem.file).name for problem in error.value.problems] == [NET]


def test_one_file_cannot_change_what_the_others_questions_run(examine) -> None:
    hostile = f"""\
{RIGHT[NET]}
import linear_classifier
linear_classifier.scores = linear_classifier.predict = lambda *_: 0
with open("linear_classifier.py", "w") as file:
    file.write("def scores(W, X): return 0")
"""
    report = examine({**RIGHT, NET: hostile}).report
    assert check(report, "scores.values").status is Status.PASSED
    assert points(report)["predict"] == 2
    assert check(report, "net_scores.values").status is Status.PASSED


@pytest.mark.skipif(not readable(), reason="no clock to read a process by")
def test_a_question_of_the_second_file_is_timed_there(tmp_path: Path, sandbox: Sandbox) -> None:
    file = two_files.course(tmp_path)
    timed = "    timed: {case: made, loop: by_rows, dims: {N: 64}, rtol: 1e-4, atol: 1e-5}\n"
    file.write_text(file.read_text().replace(f"{NET}\n    cases", f"{NET}\n{timed}    cases", 1))
    path = tmp_path / "reference" / "nets" / NET
    loop = "    return torch.stack([net_scores(*args[:2], row) for row in args[2]])"
    path.write_text(f"{path.read_text()}\n\ndef by_rows(*args):\n{loop}\n")
    materials = load_materials(file)
    grader = Grader(materials, sandbox, Options(5, "virtual"))
    grader.prepare()
    planned = next(item for item in grader.plan if item.question.id == "net_scores")
    screener = Screener(materials, sandbox, 1)
    with suppress(NotTimedError):
        trial = screener.trial(planned, materials.assignment.limits)
        assert (trial.outcome.failed, trial.outcome.wrong) == (None, None)
    files = {name: text.encode() for name, text in RIGHT.items()}
    subject = Subject(planned, "net_scores", "net_scores", files, materials.assignment.limits)
    screener.screen(subject)
    screener.close()
