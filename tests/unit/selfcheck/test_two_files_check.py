"""`grader starter`, `check` and `submit-zip` where questions stand in two files."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import toy_starter
import two_files
from two_files import LINEAR, NET, RIGHT

from grader.authoring.starter import build_starter, check_public, make_public, write_starter
from grader.cli import app as cli
from grader.run.materials import load_materials
from grader.selfcheck.files import to_files
from grader.submission import read_submission


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with its starter."""
    root = tmp_path_factory.mktemp("nets")
    materials = two_files.materials(root)
    reference = root / "reference" / "nets"
    files = build_starter(materials.assignment, materials.folder, reference)
    with toy_starter.lent() as sandbox:
        files |= to_files(make_public(materials, sandbox).public)
    write_starter(files, materials.starter)
    return root


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the starter, the working directory."""
    for path in (made / "starter" / "nets").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(folder: Path, **changes: str) -> None:
    for name, text in RIGHT.items():
        (folder / name).write_text(changes.get(name.removesuffix(".py"), text))


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["grader", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return int(end.value.code or 0)


def test_the_starter_has_a_stub_of_each_file(made: Path) -> None:
    starter = made / "starter" / "nets"
    linear, net = ((starter / name).read_text() for name in (LINEAR, NET))
    assert "def scores(W, X)" in linear
    assert "X @ W" not in linear
    assert "def net_scores(W1, W2, X)" in net
    assert "from linear_classifier import scores" in net
    assert "net_cases" not in net
    readme, notebook = ((starter / name).read_text() for name in ("README.md", "nets.ipynb"))
    assert f"in `{LINEAR}`, `{NET}`" in readme
    assert '"import linear_classifier\\n",\n    "import two_layer_net"' in notebook
    assert "%check net_scores" in notebook


def test_the_public_cases_are_earned_by_the_solution(made: Path) -> None:
    assert check_public(load_materials(made / "assignments" / "nets" / "assignment.yml")) == []


def test_both_files_are_checked(folder, monkeypatch, capsys) -> None:
    fill(folder)
    assert run(monkeypatch, "check", "--all") == 0
    said = capsys.readouterr().out
    for mark, name in zip("…✓✓✓", ("scores", "predict", "net_scores", "Net"), strict=True):
        assert f"{mark} {name}" in said


def test_the_next_step_names_the_file(folder, monkeypatch, capsys) -> None:
    fill(folder, two_layer_net=(folder / NET).read_text())
    run(monkeypatch, "check")
    said = " ".join(capsys.readouterr().out.split())
    assert f"Next: net_scores in {NET}, line 8." in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("missing", f"{LINEAR} was not handed in"),
        ("syntax", f"Syntax error in {LINEAR}, line 1"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_named_once(
    folder, monkeypatch, capsys, change: str, said: str
) -> None:
    fill(folder, linear_classifier="def scores(W, X)\n    return X @ W\n")
    if change == "missing":
        (folder / LINEAR).unlink()
    run(monkeypatch, "check", "--all")
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count(said) == 1
    assert "✓ Net" in shown


def test_lines_for_editors_name_the_file(folder, monkeypatch, capsys) -> None:
    fill(
        folder,
        linear_classifier=RIGHT[LINEAR].replace("return X @ W", "return X @ W + 1"),
        two_layer_net=RIGHT[NET].replace("return 2 * self.n", "raise KeyError(self.n)"),
    )
    run(monkeypatch, "check", "--format", "lines")
    lines = capsys.readouterr().out.splitlines()
    of = {line.split(": ")[1]: line.split(":")[0] for line in lines if line.count(": ") > 1}
    assert (of["scores"], of["Net"]) == (LINEAR, NET)
    raised = next(line for line in lines if "KeyError" in line)
    number = RIGHT[NET].splitlines().index("        return 2 * self.n") + 1
    assert raised.startswith(f"{NET}:{number}: Net: ")


def test_the_archive_holds_both(folder, monkeypatch, capsys) -> None:
    fill(folder)
    assert run(monkeypatch, "submit-zip") == 0
    with zipfile.ZipFile(folder / "nets.zip") as archive:
        assert sorted(archive.namelist()) == sorted(RIGHT)
    assert len(read_submission(folder / "nets.zip", [LINEAR, NET]).files) == 2
    (folder / NET).unlink()
    assert run(monkeypatch, "submit-zip") == 0
    assert f"{NET} was not handed in" in " ".join(capsys.readouterr().out.split())


def test_what_is_not_written_is_found_in_each(folder, monkeypatch, capsys) -> None:
    assert run(monkeypatch, "submit-zip") == 0
    shown = " ".join(capsys.readouterr().out.split())
    for name in ("scores", "predict", "net_scores", "Net"):
        assert name in shown
