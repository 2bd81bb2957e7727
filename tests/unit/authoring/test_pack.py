"""What is packed holds all that grading takes, and the same input gives the same bytes."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from grader.authoring.pack import (
    Pack,
    classroom50_files,
    gradescope_zip,
    packed_materials,
    write_files,
)
from grader.authoring.platform_dry_run import Reach, Unearned, Why, required_by
from grader.batch.course import gpu_in_course
from grader.cli import app as cli
from grader.cli import pack as cli_pack
from grader.errors import UsageError
from grader.run.materials import Materials, load_materials

ROOT = Path(__file__).parents[3]
MATERIALS = load_materials(ROOT / "assignments" / "knn" / "assignment.yml")
INDEX = b"https://download.pytorch.org/whl/cpu"


def packed(materials: Materials, tier: str = "restricted") -> Pack:
    requirements = required_by(materials.assignment.questions)
    content = (materials.folder / "assignment.yml").read_bytes()
    return Pack(materials, requirements, tier, content, "All of them.\n")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay the zip out as Gradescope does."""
    root = tmp_path_factory.mktemp("autograder")
    with zipfile.ZipFile(io.BytesIO(gradescope_zip(packed(MATERIALS, "none")))) as archive:
        archive.extractall(root / "source")
        modes = {item.filename: item.external_attr >> 16 for item in archive.infolist()}
    assert modes["setup.sh"] == modes["run_autograder"] == 0o755
    (root / "submission").mkdir()
    (root / "results").mkdir()
    return root


def test_everything_is_in_it(unpacked: Path) -> None:
    source = unpacked / "source"
    for name in (
        "setup.sh", "run_autograder", "torchgrade/pyproject.toml", "torchgrade/grader/cli/app.py",
        "torchgrade/grader/py.typed", "assignments/knn/assignment.yml", "reference/knn/knn.py",
        "constraints.txt",
    ):  # fmt: skip
        assert (source / name).is_file(), name
    assert not list(source.rglob("__pycache__"))
    assert "export TORCHGRADE_LANG=en\n" in (source / "run_autograder").read_text()
    assert "--isolation none" in (source / "run_autograder").read_text()
    assert (source / "points.txt").read_text() == "All of them.\n"


def test_the_same_bytes_twice() -> None:
    assert gradescope_zip(packed(MATERIALS)) == gradescope_zip(packed(MATERIALS))
    with zipfile.ZipFile(io.BytesIO(gradescope_zip(packed(MATERIALS)))) as archive:
        assert b"--isolation restricted" in archive.read("run_autograder")


def test_what_is_packed_is_the_same_assignment(toy: Materials) -> None:
    assert packed_materials(packed(toy).files).digest == toy.digest
    with pytest.raises(UsageError, match="no pack"):
        packed_materials({"notes.txt": b""})


def test_scripts_are_sound(unpacked: Path, tmp_path: Path) -> None:
    files = classroom50_files(packed(MATERIALS, "auto"))
    write_files(files, tmp_path)
    scripts = [unpacked / "source" / name for name in ("setup.sh", "run_autograder")]
    for script in (*scripts, tmp_path / "autograde.sh"):
        subprocess.run(["bash", "-n", str(script)], check=True)
    assert os.access(tmp_path / "autograde.sh", os.X_OK)
    workflow = yaml.safe_load(files[".github/workflows/grade.yml"])
    assert workflow["jobs"]["gpu"]["runs-on"] == ["self-hosted", "gpu"]


def test_the_only_host_that_is_named_is_pytorchs_documented_index() -> None:
    with zipfile.ZipFile(io.BytesIO(gradescope_zip(packed(MATERIALS)))) as archive:
        for name in ("setup.sh", "run_autograder", "torchgrade/pyproject.toml", "constraints.txt"):
            assert b"://" not in archive.read(name).replace(INDEX, b"")
        assert INDEX in archive.read("setup.sh")


def _stub(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)


# Notes what it is called with; as an environment's maker it puts itself into the environment.
_PYTHON = """\
echo "$(basename "$0") $*" >> "$LOG"
if [ "$1 $2" = "-m venv" ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; fi
if [ "$3 $5" = "install uv" ]; then cp "$0" .uv/bin/uv; fi
if [ "$1" = venv ]; then mkdir -p .venv/bin; cp "$0" .venv/bin/python; fi
"""


def _set_up(materials: Materials, tmp_path: Path, *pythons: str) -> list[str]:
    """Run ``setup.sh`` on a machine with some Pythons; return what they were called with."""
    requirements = required_by(materials.assignment.questions)
    source, tools = tmp_path / "source", tmp_path / "tools"
    source.mkdir()
    with zipfile.ZipFile(io.BytesIO(gradescope_zip(packed(materials)))) as archive:
        (source / "setup.sh").write_bytes(archive.read("setup.sh"))
    for name in pythons:
        _stub(tools, name.format(requirements.python), _PYTHON)
    for name in ("mkdir", "cp", "basename", "bash"):
        (tools / name).symlink_to(shutil.which(name) or name)
    log = tmp_path / "log"
    environment = {"PATH": str(tools), "AUTOGRADER": str(tmp_path), "LOG": str(log)}
    subprocess.run([tools / "bash", source / "setup.sh"], env=environment, check=True)
    return log.read_text().splitlines()


def test_setup_installs_the_cpu_build_first_and_then_the_rest_as_pinned(tmp_path: Path) -> None:
    tensors = load_materials(ROOT / "assignments" / "tensors" / "assignment.yml")
    needs = required_by(tensors.assignment.questions)
    made, torch, rest = _set_up(tensors, tmp_path, "python{}")
    assert made == f"python{needs.python} -m venv .venv"
    cpu = f"--no-deps --index-url {INDEX.decode()} torch=={needs.torch}"
    assert torch == f"python -m pip install --no-cache-dir {cpu}"
    assert rest.endswith("--constraint constraints.txt ./torchgrade h5py")


def test_an_image_with_another_python_is_given_the_one_that_was_tried(tmp_path: Path) -> None:
    needs = required_by(MATERIALS.assignment.questions)
    calls = _set_up(MATERIALS, tmp_path, "python3")
    assert calls[0] == "python3 -m venv .uv"
    assert calls[1].endswith("install --no-cache-dir uv")
    assert calls[2] == f"uv venv --seed --python {needs.python} .venv"
    assert calls[-1].endswith("./torchgrade")


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
    assert (tmp_path / "site/grader/cli/app.py").is_file()
    assert not (tmp_path / "site/reference").exists()


def run(monkeypatch: pytest.MonkeyPatch, home: Path, *words: object) -> int:
    monkeypatch.setattr("sys.argv", ["grader", "pack", *map(str, words)])
    monkeypatch.chdir(home)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code or 0


FOUND = Reach(
    9,
    (
        Unearned("mm_on_gpu", "speed", 1, Why.OUT_OF_REACH, "is timed on a real GPU"),
        Unearned("in_processes", "values", 4, Why.OUT_OF_REACH, "needs other processes"),
    ),
    seconds=20,
    hanging=700,
)


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have the reference's run over in no time; returns the tiers that it was asked for."""
    tiers: list[str] = []
    monkeypatch.setattr(cli_pack, "try_reference", lambda _, tier, *__: tiers.append(tier) or FOUND)
    return tiers


def test_the_command_says_what_can_be_earned_and_writes_it_down(
    toy: Materials,
    tried: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, toy.root, "gradescope", "toy", "--out", tmp_path / "new") == 0
    told = capsys.readouterr().out
    for line in (
        f"Written: {tmp_path / 'new/toy-gradescope.zip'}",
        "Upload the zip as an autograder worth 9 points",
        "On Gradescope students can earn 4 of 9 points.",
        "mm_on_gpu (speed)      1 point: is timed on a real GPU",
        "  in_processes          4 points: needs other processes",
        "A submission that hangs in every question may take 12 min.",
        "set its time limit to 15 min.",
    ):
        assert line in told
    beside = (tmp_path / "new/toy-gradescope-points.txt").read_text()
    assert beside in told
    with zipfile.ZipFile(tmp_path / "new/toy-gradescope.zip") as archive:
        assert beside.startswith(archive.read("points.txt").decode())
    assert tried == ["restricted"]


@pytest.mark.parametrize(
    ("choice", "worth", "double"), [("keep", 9, 2), ("leave-out", 4, 2), ("scale", 9, 4.5)]
)
def test_the_total_there_is_what_was_printed(
    choice: str,
    worth: float,
    double: float,
    toy: Materials,
    request: pytest.FixtureRequest,
) -> None:
    request.getfixturevalue("tried")
    capsys: pytest.CaptureFixture[str] = request.getfixturevalue("capsys")
    out = toy.root / "out"
    words = ("gradescope", "toy", "--out", out, "--unreachable", choice)
    assert run(request.getfixturevalue("monkeypatch"), toy.root, *words) == 0
    with zipfile.ZipFile(out / "toy-gradescope.zip") as archive:
        there = packed_materials({name: archive.read(name) for name in archive.namelist()})
    assert there.assignment.points == worth
    assert there.assignment.questions[-1].points == double
    told = capsys.readouterr().out
    assert f"an autograder worth {worth} points" in told


def test_the_command_packs_a_repository(
    toy: Materials,
    tried: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    home = tmp_path / "repository"
    assert run(monkeypatch, toy.root, "classroom50", "toy", "--out", home, "--lang", "ko") == 0
    assert "export TORCHGRADE_LANG=ko\n" in (home / "autograde.sh").read_text()
    assert "--isolation auto" in (home / "autograde.sh").read_text()
    assert (home / ".github/workflows/grade.yml").is_file()
    told = capsys.readouterr().out
    assert "private" in told
    assert "On GitHub's runners students can earn 4 of 9 points." in told
    assert "4 of 9" in (home / "points.txt").read_text()
    assert tried == ["auto"]


@pytest.mark.parametrize("without", [True, False])
def test_a_pack_says_that_the_course_has_no_gpu(
    toy: Materials, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without: bool, tried: list[str]
) -> None:
    words = ("--without", "gpu") if without else ()
    home = tmp_path / "repository"
    assert run(monkeypatch, toy.root, "classroom50", "toy", "--out", home, *words) == 0
    file = next(home.glob("assignments/*/assignment.yml"))
    assert gpu_in_course(file) == ("none" if without else None)


@pytest.mark.parametrize("words", [("github", "knn"), ("gradescope", "kmm")])
def test_the_command_names_what_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, ROOT, *words, "--out", tmp_path) == 2
    assert "knn" in capsys.readouterr().err or words[0] == "github"


def test_nothing_is_tried_where_a_package_is_missing(
    toy: Materials,
    tried: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = toy.folder / "assignment.yml"
    text = file.read_text()
    head, _, tail = text.rpartition("    cases:")
    file.write_text(f"{head}    needs: {{packages: [no_such_module]}}\n    cases:{tail}")
    assert run(monkeypatch, toy.root, "gradescope", "toy", "--out", toy.root / "out") == 2
    assert "pip install no-such-module" in " ".join(capsys.readouterr().err.split())
    assert not tried
