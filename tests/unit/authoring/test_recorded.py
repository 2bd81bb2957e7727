"""What a GPU worker found comes back to Gradescope: merged, exported, and run again there."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import toy_starter
from fake_device import FakeDevice, FakeWorker, honest

from grader.authoring.pack import FOLDER, Pack, gradescope_zip, recorded_report, with_reports
from grader.authoring.platform_dry_run import required_by
from grader.batch.merge import merge_folders
from grader.cli import app as cli
from grader.cli.pack import _doubts
from grader.errors import UsageError
from grader.grading import Grader, Options
from grader.report.gradescope import write_results
from grader.report.model import Report, read_report, write_report
from grader.run.gpu_state import Leases
from grader.run.gpus import OpenRack, Rack, no_rack
from grader.run.materials import Materials
from grader.sandbox.host.processes import Sandbox

CAPTURE = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return toy_starter.lent()


def grade(materials: Materials, sandbox: Sandbox, racks: OpenRack) -> Report:
    grader = Grader(materials, sandbox, Options(5, "auto", (), True), racks)
    grader.prepare()
    return grader.grade(materials.reference_folder, "Ann Example")


@pytest.fixture(scope="module")
def report(one_toy: Materials, sandbox: Sandbox) -> Report:
    return grade(one_toy, sandbox, no_rack)


@pytest.fixture
def archive(toy: Materials, tmp_path: Path) -> Path:
    content = (toy.folder / "assignment.yml").read_bytes()
    path = tmp_path / "toy-gradescope.zip"
    pack = Pack(toy, required_by(toy.assignment.questions), "none", content, "")
    path.write_bytes(gradescope_zip(pack))
    return path


def run(monkeypatch: pytest.MonkeyPatch, home: Path, *words: object) -> int:
    monkeypatch.setattr("sys.argv", ["grader", *map(str, words)])
    monkeypatch.chdir(home)
    try:
        cli.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def on_gradescope(
    monkeypatch: pytest.MonkeyPatch, archive: Path, metadata: str, submission: bytes
) -> dict[str, Any]:
    """Lay an archive out as Gradescope does, and run what its ``run_autograder`` runs."""
    root = archive.parent / "autograder"
    shutil.rmtree(root, ignore_errors=True)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(root / "source")
    (root / "submission").mkdir()
    (root / "submission" / "toy.py").write_bytes(submission)
    (root / "submission_metadata.json").write_text(metadata)
    words = ("on-gradescope", "toy", root, "--isolation", "auto")
    assert run(monkeypatch, root / "source", *words) == 0
    document: dict[str, Any] = json.loads((root / "results/results.json").read_text())
    return document


def speed(results: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(test for test in results["tests"] if "speed (" in test["output"])
    return found


def metadata(points: str = "9.0") -> str:
    return json.dumps({"id": 1, "assignment": {"total_points": points}})


def test_a_gpu_workers_points_are_shown_by_gradescope(
    toy: Materials,
    sandbox: Sandbox,
    report: Report,
    archive: Path,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch = request.getfixturevalue("monkeypatch")
    capsys: CAPTURE = request.getfixturevalue("capsys")
    submission, home = toy.reference["toy.py"], archive.parent
    first = on_gradescope(monkeypatch, archive, metadata(), submission)
    assert speed(first)["extra_data"] == {"status": "deferred", "pending": 1.0}
    # The first one has opened a sandbox of its own, as it does there: that takes seconds.
    monkeypatch.setattr("grader.sandbox.host.open.open_sandbox", lambda *_, **__: sandbox)

    device, leases = FakeDevice(), Leases(home / "leases")
    rack = Rack([device.name], lambda _: FakeWorker(device, honest()), leases, 5.0)
    from_gpu = grade(toy, sandbox, lambda *_: rack)
    assert device.events[-1] == "close"
    for name, each in (("class", report), ("gpu", from_gpu)):
        write_report(each, home / name / "ann")
        write_results(each, home / name / "ann")
    merge_folders([home / "class", home / "gpu"])

    capsys.readouterr()
    words = ("export", "gradescope", home / "class", "--into", archive)
    assert run(monkeypatch, toy.root, *words) == 0
    told = capsys.readouterr().out
    assert "with the scores of 1 submission" in told
    sent = home / "class" / archive.name
    with zipfile.ZipFile(sent) as packed:
        assert not any(b"Ann Example" in packed.read(name) for name in packed.namelist())
        assert packed.getinfo("setup.sh").external_attr >> 16 == 0o755

    shutil.copy(sent, home / "sent.zip")
    again = on_gradescope(monkeypatch, home / "sent.zip", metadata(), submission)
    assert "✓ speed (1/1)" in speed(again)["output"]
    merged = read_report(home / "class/ann/report.json")
    assert again["score"] == merged.score == first["score"] + 1
    assert "graded elsewhere" in capsys.readouterr().out

    other = on_gradescope(monkeypatch, home / "sent.zip", metadata(), submission + b"\n")
    assert other["score"] == first["score"]
    assert "graded elsewhere" not in capsys.readouterr().out


def test_a_report_serves_its_own_files_and_state_alone(
    toy: Materials, report: Report, tmp_path: Path
) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir()
    (folder / f"{report.submission.digest}.json").write_text(report.model_dump_json())
    found = recorded_report(folder, toy, toy.reference_folder)
    assert found is not None
    assert found.score == report.score
    assert recorded_report(folder, replace(toy, digest="f" * 64), toy.reference_folder) is None
    assert recorded_report(tmp_path / "none", toy, toy.reference_folder) is None
    (tmp_path / "empty").mkdir()
    assert recorded_report(folder, toy, tmp_path / "empty") is None


def test_reports_on_another_state_are_refused(report: Report, archive: Path) -> None:
    other = report.assignment.model_copy(update={"digest": "f" * 64})
    with pytest.raises(UsageError, match="another state of “toy”"):
        with_reports(archive, [report.model_copy(update={"assignment": other})])


def test_what_was_not_run_is_left_to_gradescope_and_twins_share_the_better(
    report: Report, archive: Path
) -> None:
    nothing = report.model_copy(
        update={"submission": report.submission.model_copy(update={"id": "eli", "digest": ""})}
    )
    done = with_reports(archive, [report, nothing, report])
    assert (done.reports, done.left_out) == (1, ("eli",))
    archive.write_bytes(done.archive)
    again = with_reports(archive, [])
    with zipfile.ZipFile(io.BytesIO(again.archive)) as packed:
        assert not [name for name in packed.namelist() if name.startswith(FOLDER)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "needs --into ZIP"),
        (("--into", "notes.zip"), "grader pack gradescope"),
        (("--into", "absent.zip"), "cannot be read"),
        (("--into", "notes.zip", "--out", "notes.zip"), "is the archive itself"),
        (("--into", "notes.zip", "--late", "late.yml"), "leave --late out"),
    ],
)
def test_the_command_says_what_it_needs(
    words: tuple[str, ...], said: str, report: Report, request: pytest.FixtureRequest
) -> None:
    home: Path = request.getfixturevalue("tmp_path")
    (home / "notes.zip").write_bytes(b"no archive")
    write_report(report, home / "graded")
    monkeypatch = request.getfixturevalue("monkeypatch")
    capsys: CAPTURE = request.getfixturevalue("capsys")
    assert run(monkeypatch, home, "export", "gradescope", "graded", *words) == 2
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (metadata("100.0"), "is worth 100 points on Gradescope, and this autograder gives up to 9"),
        (metadata("9.0"), ""),
        ("{", "is not what Gradescope writes (JSONDecodeError"),
        ("[]", "is not what Gradescope writes (TypeError"),
        ('{"assignment": {}}', "is not what Gradescope writes (KeyError: 'total_points')"),
    ],
)
def test_what_gradescope_says_of_the_assignment_is_compared(
    text: str, said: str, toy: Materials, tmp_path: Path
) -> None:
    path = tmp_path / "submission_metadata.json"
    path.write_text(text)
    assert said in " ".join(_doubts(path, toy.assignment.points))
    assert bool(said) == bool(list(_doubts(path, toy.assignment.points)))
    path.unlink()
    assert "cannot be read" in " ".join(_doubts(path, toy.assignment.points))
