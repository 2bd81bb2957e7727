"""``grader merge`` on folders: single reports, classes, and those that do not belong together."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from grader.batch.merge import merge_folders
from grader.cli import app as cli
from grader.errors import UsageError
from grader.report.gradebook import write_gradebook
from grader.report.gradescope import write_results
from grader.report.model import Report, read_report, write_report

GOLDEN = Path(__file__).parents[2] / "golden" / "toy.report.json"
RIGHT = {"status": "passed", "code": "ok", "owner": None, "score": 5.0, "pending": 0.0}


def made(folder: Path, name: str, **checks: Any) -> Path:
    """A report that waits for a GPU, or of a GPU worker with ``checks`` decided."""
    document = json.loads(GOLDEN.read_text())
    document["submission"] |= {"id": name or "alone", "digest": (name or "alone").ljust(64, "0")}
    document["questions"][2]["checks"][0] |= checks
    report = Report.model_validate(document)
    write_report(report, folder / name)
    write_results(report, folder / name)
    return folder


def run(monkeypatch: pytest.MonkeyPatch, *folders: object) -> int:
    monkeypatch.setattr("sys.argv", ["grader", "merge", *map(str, folders)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code or 0


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*.*"))}


def test_a_single_report_is_completed_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cpu, gpu = made(tmp_path / "cpu", ""), made(tmp_path / "gpu", "", **RIGHT)
    before = contents(gpu)
    assert run(monkeypatch, cpu, gpu) == 0
    report = read_report(cpu / "report.json")
    assert (report.score, report.pending, report.status.value) == (11, 0, "graded")
    assert json.loads((cpu / "results.json").read_text())["score"] == 11
    assert not (cpu / "gradebook.csv").exists()
    assert contents(gpu) == before
    assert "Completed: 5 points of 1 submission." in capsys.readouterr().out
    after = contents(cpu)
    assert run(monkeypatch, cpu, gpu) == 0
    assert contents(cpu) == after


def test_a_class_is_completed_with_those_that_the_gpu_worker_took(tmp_path: Path) -> None:
    cpu = tmp_path / "cpu"
    for name in ("ann", "bob", "cyd"):
        made(cpu, name)
    write_gradebook([read_report(cpu / name / "report.json") for name in ("ann", "bob")], cpu)
    gpu = made(tmp_path / "gpu", "bob", **RIGHT)
    wrong = {"status": "failed", "code": "wrong_value", "owner": "student", "pending": 0.0}
    late = made(tmp_path / "late", "cyd", **wrong)
    merged = merge_folders([cpu, gpu, late])
    assert merged.changed == ("bob", "cyd")
    rows = list(csv.DictReader((cpu / "gradebook.csv").open()))
    assert [(row["submission"], row["score"], row["pending"]) for row in rows] == [
        ("ann", "6", "5"),
        ("bob", "11", "0"),
        ("cyd", "6", "0"),
    ]
    after = contents(cpu)
    assert merge_folders([cpu, gpu, late]).changed == ()
    assert contents(cpu) == after


OPEN = {"status": "deferred", "code": "inconclusive", "owner": "infrastructure", "pending": 5.0}


def test_what_was_completed_and_what_still_waits_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cpu, gpu = tmp_path / "cpu", made(tmp_path / "gpu", "ann", **RIGHT)
    for name in ("ann", "bob"):
        made(cpu, name)
    made(gpu, "bob", **OPEN)
    assert run(monkeypatch, cpu, gpu) == 0
    told = capsys.readouterr().out
    assert "Completed: 5 points of 2 submissions." in told
    assert "Still pending (inconclusive): 5 points, of bob" in told


@pytest.mark.parametrize("single", [True, False])
def test_a_merge_that_completes_nothing_that_waited_ends_with_1(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    single: bool,
) -> None:
    name = "" if single else "ann"
    cpu, gpu = made(tmp_path / "cpu", name), made(tmp_path / "gpu", name, **OPEN)
    assert run(monkeypatch, cpu, gpu) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "Completed: 0 points" in told
    assert f"none of their points was completed: {name or 'alone'}." in told


def test_a_worker_that_left_nothing_is_no_error_only_where_nothing_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gpu").mkdir()
    waits = made(tmp_path / "waits", "ann")
    settled = made(tmp_path / "settled", "ann", **RIGHT)
    wrong = {"status": "failed", "code": "wrong_value", "owner": "student", "pending": 0.0}
    failed = made(tmp_path / "failed", "ann", **wrong)
    assert run(monkeypatch, waits, tmp_path / "gpu") == 1
    assert run(monkeypatch, settled, tmp_path / "gpu") == 0
    assert run(monkeypatch, failed, tmp_path / "gpu") == 0
    assert run(monkeypatch, waits, tmp_path / "not there") == 2


def test_nothing_is_written_where_one_of_a_class_does_not_fit(tmp_path: Path) -> None:
    cpu, gpu = tmp_path / "cpu", tmp_path / "gpu"
    for name in ("ann", "bob"):
        made(cpu, name)
        made(gpu, name, **RIGHT)
    document = json.loads((gpu / "bob" / "report.json").read_text())
    document["assignment"]["version"] = "2027"
    (gpu / "bob" / "report.json").write_text(json.dumps(document))
    before = contents(cpu)
    with pytest.raises(UsageError, match=r"version 2026.1 .*version 2027"):
        merge_folders([cpu, gpu])
    assert contents(cpu) == before


def test_all_that_was_decided_in_two_ways_is_told_at_once_and_may_be_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cpu, gpu = tmp_path / "cpu", tmp_path / "gpu"
    wrong = {"status": "failed", "code": "wrong_value", "owner": "student", "pending": 0.0}
    for name in ("ann", "bob"):
        made(cpu, name, **wrong)
        made(gpu, name, **RIGHT)
    made(cpu, "cyd")
    made(gpu, "cyd", **RIGHT)
    before = contents(cpu)
    assert run(monkeypatch, cpu, gpu) == 2
    told = capsys.readouterr().err
    assert "“ann”" in told
    assert "“bob”" in told
    assert "“cyd”" not in told
    assert "--leave-conflicts" in told
    assert contents(cpu) == before
    assert run(monkeypatch, "--leave-conflicts", cpu, gpu) == 0
    assert {name: read_report(cpu / name / "report.json").score for name in ("ann", "bob")} == {
        "ann": 6,
        "bob": 6,
    }
    assert read_report(cpu / "cyd" / "report.json").score == 11


def test_folders_that_do_not_go_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    single, group = made(tmp_path / "one", ""), made(tmp_path / "class", "ann")
    stranger, empty = made(tmp_path / "more", "zoe"), tmp_path / "empty"
    empty.mkdir()
    for folders, words in (
        ((single,), "two folders or more"),
        ((group, group), "is named twice"),
        ((group, stranger.parent / "class"), "is named twice"),
        ((single, group), "holds one submission"),
        ((group, stranger), "holds submissions that"),
        ((empty, group), "holds neither"),
        ((group, tmp_path / "nowhere"), "holds neither"),
    ):
        assert run(monkeypatch, *folders) == 2
        assert words in capsys.readouterr().err


def test_a_class_that_stays_incomplete_exits_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = {"status": "error", "code": "sandbox_failed", "owner": "infrastructure"}
    cpu, gpu = made(tmp_path / "cpu", "", **broken), made(tmp_path / "gpu", "", **broken)
    document = json.loads((cpu / "report.json").read_text())
    document["status"] = "incomplete"
    (cpu / "report.json").write_text(json.dumps(document))
    assert run(monkeypatch, cpu, gpu) == 1
    good = made(tmp_path / "good", "", **RIGHT)
    assert run(monkeypatch, cpu, gpu, good) == 0
