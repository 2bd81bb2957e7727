"""What is packed holds all that grading takes, and the same input gives the same bytes."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from grader import cli
from grader.authoring.pack import classroom50_files, gradescope_zip, write_files
from grader.run.materials import load_materials

ROOT = Path(__file__).parents[3]
MATERIALS = load_materials(ROOT / "assignments" / "knn" / "assignment.yml")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay the zip out as Gradescope does."""
    root = tmp_path_factory.mktemp("autograder")
    with zipfile.ZipFile(io.BytesIO(gradescope_zip(MATERIALS, "none"))) as archive:
        archive.extractall(root / "source")
        modes = {item.filename: item.external_attr >> 16 for item in archive.infolist()}
    assert modes["setup.sh"] == modes["run_autograder"] == 0o755
    (root / "submission").mkdir()
    (root / "results").mkdir()
    return root


def test_everything_is_in_it(unpacked: Path) -> None:
    source = unpacked / "source"
    for name in (
        "setup.sh", "run_autograder", "torchgrade/pyproject.toml", "torchgrade/grader/cli.py",
        "torchgrade/grader/py.typed", "assignments/knn/assignment.yml", "reference/knn/knn.py",
    ):  # fmt: skip
        assert (source / name).is_file(), name
    assert not list(source.rglob("__pycache__"))
    assert "--isolation none" in (source / "run_autograder").read_text()


def test_the_same_bytes_twice() -> None:
    assert gradescope_zip(MATERIALS) == gradescope_zip(MATERIALS)
    with zipfile.ZipFile(io.BytesIO(gradescope_zip(MATERIALS))) as archive:
        assert b"--isolation restricted" in archive.read("run_autograder")


def test_scripts_are_sound(unpacked: Path, tmp_path: Path) -> None:
    files = classroom50_files(MATERIALS)
    write_files(files, tmp_path)
    scripts = [unpacked / "source" / name for name in ("setup.sh", "run_autograder")]
    for script in (*scripts, tmp_path / "autograde.sh"):
        subprocess.run(["bash", "-n", str(script)], check=True)
    assert os.access(tmp_path / "autograde.sh", os.X_OK)
    workflow = yaml.safe_load(files[".github/workflows/grade.yml"])
    assert workflow["jobs"]["gpu"]["runs-on"] == ["self-hosted", "gpu"]


def test_no_host_is_named() -> None:
    with zipfile.ZipFile(io.BytesIO(gradescope_zip(MATERIALS))) as archive:
        for name in ("setup.sh", "run_autograder", "torchgrade/pyproject.toml"):
            assert b"://" not in archive.read(name)


def _grade(root: Path, submission: Path) -> dict[str, object]:
    shutil.copy(submission, root / "submission" / "knn.py")
    environment = {
        **os.environ,
        "AUTOGRADER": str(root),
        "GRADER": str(Path(sys.executable).with_name("grader")),
    }
    subprocess.run(["bash", str(root / "source/run_autograder")], env=environment, check=True)
    results: dict[str, object] = json.loads((root / "results/results.json").read_text())
    return results


@pytest.mark.heavy
def test_it_grades_in_gradescopes_layout(unpacked: Path) -> None:
    right = _grade(unpacked, ROOT / "reference/knn/knn.py")
    assert right["score"] == MATERIALS.assignment.points
    started = _grade(unpacked, ROOT / "starter/knn/knn.py")
    assert started["score"] == 0


@pytest.mark.heavy
def test_it_installs_from_what_is_packed(unpacked: Path, tmp_path: Path) -> None:
    project = unpacked / "source/torchgrade"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
    done = subprocess.run(
        [*command, str(tmp_path / "site"), str(project)],
        capture_output=True,
        text=True,
        check=False,
    )
    if "setuptools" in done.stderr and "Could not find" in done.stderr:
        pytest.skip("no setuptools can be had to build with")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site/grader/cli.py").is_file()
    assert not (tmp_path / "site/reference").exists()


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr("sys.argv", ["grader", "pack", *map(str, words)])
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code or 0


def test_the_command_packs_for_both(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "gradescope", "knn", "--out", tmp_path / "new") == 0
    path = tmp_path / "new/knn-gradescope.zip"
    assert path.read_bytes() == gradescope_zip(MATERIALS)
    told = capsys.readouterr().out
    assert str(path) in told
    assert f"worth {MATERIALS.assignment.points:g} points" in told

    home = tmp_path / "repository"
    assert run(monkeypatch, "classroom50", "knn", "--out", home, "--isolation", "full") == 0
    assert "--isolation full" in (home / "autograde.sh").read_text()
    assert (home / ".github/workflows/grade.yml").is_file()
    assert "private" in capsys.readouterr().out


@pytest.mark.parametrize("words", [("github", "knn"), ("gradescope", "kmm")])
def test_the_command_names_what_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *words, "--out", tmp_path) == 2
    assert "knn" in capsys.readouterr().err or words[0] == "github"
