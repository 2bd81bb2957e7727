"""The command as its users meet it: exit status, what is written, what an error says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import toy_starter

from grader.batch.discover import ClassSubmission
from grader.batch.graded import GradedSubmission
from grader.batch.local import LocalWorkers
from grader.batch.schedule import grade_all
from grader.cli import app as cli
from grader.cli import class_run as cli_class
from grader.errors import InfrastructureError
from grader.run.reference import Reference
from grader.sandbox.host.processes import Sandbox

ROOT = Path(__file__).parents[2]
SHOWCASE = ROOT / "tests/submissions/pytorch101/showcase"
HEAVY = ("minibatch", "parallel")
"""Assignments whose reference trains, or has networks of 50 layers."""
ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("assignments/*/assignment.yml"))


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr("sys.argv", ["grader", *map(str, arguments)])
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code or 0


@pytest.fixture
def ok(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("COLUMNS", "100")
    return monkeypatch


@pytest.fixture
def lent(ok: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Let commands grade in a sandbox that is open already: opening one takes seconds."""
    ok.setattr("grader.sandbox.host.open.open_sandbox", lambda *_, **__: toy_starter.lent())
    ok.setattr("grader.selfcheck.warm_sandbox._open", lambda _: toy_starter.lent())
    return ok


def test_grade_writes_both_files_and_exits_0_with_points_pending(
    ok: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "out"
    arguments = ("grade", "pytorch101", SHOWCASE / "right.py", "--out", out, "--device", "cpu")
    assert run(ok, *arguments, "--clock", "off") == 0
    report = json.loads((out / "report.json").read_text())
    assert (report["score"], report["pending"], report["max_score"]) == (59.5, 6.5, 66)
    assert report["status"] == "pending"
    late = [c for q in report["questions"] for c in q["checks"] if c["code"] == "not_timed"]
    assert [(check["kind"], check["pending"]) for check in late] == [("vectorised", 0.5)]
    assert "--clock auto" in late[0]["message"]
    assert json.loads((out / "results.json").read_text())["score"] == 59.5
    printed = capsys.readouterr().out
    assert "59.5 / 66" in printed
    assert "pending" in printed


@pytest.mark.heavy
def test_same_seed_same_report(ok: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reports = []
    for name in ("one", "two"):
        arguments = ("grade", "pytorch101", SHOWCASE / "wrong.py", "--out", tmp_path / name)
        assert run(ok, *arguments, "--seed", 7, "--clock", "off", "--no-cache") == 0
        report = json.loads((tmp_path / name / "report.json").read_text())
        del report["timing"], report["environment"]
        reports.append(report)
    assert reports[0] == reports[1]


def test_a_second_grading_takes_what_the_reference_did_in_the_first(
    lent: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lent.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    runs: list[int] = []
    real = Reference.run

    def counted(self: Reference, *arguments: Any) -> Any:
        runs.append(arguments[-1])
        return real(self, *arguments)

    lent.setattr(Reference, "run", counted)

    def grade(*more: object) -> dict[str, Any]:
        questions = ("--questions", "normalize_columns", "--clock", "off")
        arguments = ("pytorch101", SHOWCASE / "right.py", "--out", tmp_path / "out", *questions)
        assert run(lent, "grade", *arguments, *more) == 0
        report: dict[str, Any] = json.loads((tmp_path / "out/report.json").read_text())
        del report["timing"], report["environment"]["isolation"]
        return report

    first = grade("--seed", 7)
    assert grade("--seed", 7) == first
    assert runs == [7]
    [entry] = (tmp_path / "cache/torchgrade/references").iterdir()
    entry.write_bytes(entry.read_bytes()[:-9])
    assert grade("--seed", 7) == first
    assert grade("--seed", 7, "--no-cache") == first
    assert runs == [7, 7, 7]
    # At a terminal the inputs that were drawn last are used again, in a script they are not.
    lent.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    drawn = grade()["environment"]["seed"]
    assert grade()["environment"]["seed"] == drawn
    assert runs == [7, 7, 7, drawn]
    lent.setattr("sys.stdin", SimpleNamespace(isatty=lambda: False))
    assert grade()["environment"]["seed"] != drawn


def test_processes_try_to_open_what_is_kept_of_references(
    ok: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ok.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked: list[tuple[str, ...]] = []

    def note(_: str, *, hidden: tuple[str, ...], **__: object) -> None:
        asked.append(hidden)
        raise InfrastructureError("enough")

    ok.setattr("grader.sandbox.host.open.open_sandbox", note)
    arguments = ("pytorch101", SHOWCASE / "right.py", "--out", tmp_path / "out")
    assert run(ok, "grade", *arguments) == 1
    assert str(tmp_path / "torchgrade/references") in asked[0]
    assert str(ROOT / "reference/pytorch101") in asked[0]


def test_selected_questions_only(lent: pytest.MonkeyPatch, tmp_path: Path) -> None:
    arguments = ("grade", "pytorch101", SHOWCASE / "right.py", "--out", tmp_path)
    assert run(lent, *arguments, "--questions", "normalize_columns") == 0
    questions = json.loads((tmp_path / "report.json").read_text())["questions"]
    scores = {question["id"]: question["score"] for question in questions}
    assert scores["normalize_columns"] == 5
    assert scores["batched_matrix_multiply_loop"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["grade", "pytorch10l", str(SHOWCASE / "right.py")],
            ["pytorch10l", "did you mean “pytorch101”"],
        ),
        (["grade", "pytorch101", "nowhere.py"], ["nowhere.py", "does not exist"]),
        (
            ["grade", "pytorch101", str(SHOWCASE / "right.py"), "--questions", "normalise_columns"],
            ["normalise_columns", "did you mean “normalize_columns”"],
        ),
        (["batch", "pytorch101", str(SHOWCASE / "right.py")], ["is not a folder"]),
        (["batch", "pytorch101", str(ROOT / "docs" / "adr")], ["holds no submissions"]),
    ],
)
def test_wrong_usage_exits_2_and_says_what_to_do(
    ok: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: list[str],
) -> None:
    ok.setenv("COLUMNS", "1000")
    assert run(ok, *arguments, "--out", tmp_path) == 2
    said = capsys.readouterr().err
    for word in words:
        assert word in said
    assert "Traceback" not in said


def test_cuda_is_refused_where_there_is_none(
    ok: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ok.setattr("grader.run.capabilities.visible_gpus", lambda: ())
    arguments = ("grade", "pytorch101", SHOWCASE / "right.py", "--out", tmp_path)
    assert run(ok, *arguments, "--device", "cuda") == 2
    assert "no GPU" in capsys.readouterr().err


def test_out_that_is_a_file_is_refused(
    ok: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    arguments = ("grade", "pytorch101", SHOWCASE / "right.py", "--out", tmp_path / "file")
    assert run(ok, *arguments) == 2
    assert "file" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.heavy
def test_batch_grades_the_showcase(
    ok: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("batch", "pytorch101", SHOWCASE, "--out", tmp_path, "-j", 2)
    assert run(ok, *arguments, "--clock", "off") == 0
    reports = {
        path.parent.name: json.loads(path.read_text()) for path in tmp_path.glob("*/report.json")
    }
    codes = {
        name: sorted({check["code"] for q in report["questions"] for check in q["checks"]})
        for name, report in reports.items()
    }
    assert codes["right"] == ["no_device", "not_timed", "ok"]
    assert "wrong_value" in codes["notebook"]
    assert "wrong_value" in codes["wrong"]
    assert "crashed" in codes["crash"]
    assert "timed_out" in codes["endless_loop"]
    assert "missing_function" in codes["missing_function"]
    assert len((tmp_path / "gradebook.csv").read_text().splitlines()) == 1 + len(reports)
    assert "right" in capsys.readouterr().out


@pytest.mark.heavy
def test_batch_says_what_it_leaves_out_and_skips_its_own_output(
    ok: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(SHOWCASE / "right.py", tmp_path / "ann.py")
    (tmp_path / "grades.xlsx").write_text("")
    (tmp_path / "out").mkdir()
    arguments = ("batch", "pytorch101", tmp_path, "--out", tmp_path / "out")
    assert run(ok, *arguments, "--questions", "normalize_columns") == 0
    assert "Left out, by their endings no submissions: grades.xlsx" in capsys.readouterr().out
    assert [path.parent.name for path in tmp_path.glob("out/*/report.json")] == ["ann"]


@pytest.mark.heavy
@pytest.mark.alone
def test_a_batch_is_timed_and_only_where_the_rest_passed(
    ok: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("right", "crash"):
        shutil.copy(SHOWCASE / f"{name}.py", tmp_path / f"{name}.py")
    broken = (SHOWCASE / "right.py").read_text() + (
        "\n\ndef batched_matrix_multiply_noloop(x, y):\n    return x @ y + 1\n"
    )
    (tmp_path / "off.py").write_text(broken)
    out = tmp_path / "out"
    arguments = ("batch", "pytorch101", tmp_path, "--out", out, "--seed", 3)
    assert run(ok, *arguments, "--questions", "batched_matrix_multiply_noloop") == 0
    checks = {}
    for name in ("right", "off"):
        report = json.loads((out / name / "report.json").read_text())
        question = next(q for q in report["questions"] if q["id"].endswith("_noloop"))
        checks[name] = {check["id"]: check for check in question["checks"]}["fast"], report
    fast, report = checks["right"]
    # Noise may leave it undecided, and never more than that.
    assert fast["code"] in ("ok", "inconclusive")
    assert fast["basis"] == "fact"
    # In passing, where that was clear; else in three sets of processes at least.
    assert fast["evidence"].get("rounds", 0) >= 4 or fast["evidence"]["sets"] >= 3
    assert "clock" in report["timing"]["phases"]
    fast, _ = checks["off"]
    assert fast["code"] == "requirement_not_met"


@pytest.mark.heavy
def test_an_interrupted_batch_keeps_what_was_graded(
    ok: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ann", "bob", "cem"):
        source = (SHOWCASE / "right.py").read_text()
        (tmp_path / f"{name}.py").write_text(f"{source}# {name}\n")

    def interrupted(results: Iterator[GradedSubmission], *_: object) -> None:
        next(results)
        raise KeyboardInterrupt

    show = cli_class._show
    ok.setattr(cli_class, "_show", interrupted)
    out = tmp_path / "out"
    arguments = ("batch", "pytorch101", tmp_path, "--out", out, "-j", 2)
    assert run(ok, *arguments, "--questions", "normalize_columns") == 130
    printed = capsys.readouterr()
    assert "Stopped early: 1 of 3 graded." in printed.out
    assert "Interrupted." in printed.err
    assert len((out / "gradebook.csv").read_text().splitlines()) == 2
    ok.setattr(cli_class, "_show", show)
    assert run(ok, *arguments, "--questions", "normalize_columns", "--resume") == 0
    assert len((out / "gradebook.csv").read_text().splitlines()) == 4


def test_a_worker_that_cannot_begin_says_why(ok: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuses() -> Sandbox:
        raise InfrastructureError("no walls today")

    hand_ins = [ClassSubmission("ann", SHOWCASE / "right.py")]
    workers = LocalWorkers(None, refuses, tmp_path, 1)
    with pytest.raises(InfrastructureError, match="a worker could not begin: no walls today"):
        list(grade_all(workers, hand_ins, lambda _: False))


def test_batch_names_hand_ins_apart(ok: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    (folder / "ann").mkdir(parents=True)
    shutil.copy(SHOWCASE / "right.py", folder / "ann" / "pytorch101.py")
    shutil.copy(SHOWCASE / "right.py", folder / "ann.py")
    arguments = ("batch", "pytorch101", folder, "--out", tmp_path / "out", "--clock", "off")
    assert run(ok, *arguments, "--questions", "normalize_columns") == 0
    names = {path.parent.name for path in (tmp_path / "out").glob("*/report.json")}
    assert names == {"ann", "ann.py"}


@pytest.mark.parametrize("name", ["assignment", "report"])
def test_schema_prints_json(
    ok: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert run(ok, "schema", name) == 0
    assert json.loads(capsys.readouterr().out)["$schema"].startswith("https://json-schema.org")


@pytest.mark.parametrize(
    "assignment",
    [pytest.param(name, marks=pytest.mark.heavy if name in HEAVY else ()) for name in ASSIGNMENTS],
)
def test_starter_is_up_to_date(
    lent: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], assignment: str
) -> None:
    assert run(lent, "starter", assignment, "--check") == 0
    assert "up to date" in capsys.readouterr().out


def test_version(ok: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ok, "--version") == 0
    assert capsys.readouterr().out.startswith("torchgrade ")
