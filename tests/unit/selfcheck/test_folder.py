from __future__ import annotations

from pathlib import Path

import pytest
import toy_starter

from grader.selfcheck.folder import InTheWay
from grader.selfcheck.warm_sandbox import need_torch
from grader.selfcheck.workplace import open_workplace, read_workplace


def told(path: Path) -> str:
    with pytest.raises(InTheWay) as error:
        read_workplace(open_workplace(path))
    return str(error.value)


def test_the_folder_is_found_from_wherever_one_is(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "work" / "toy")
    (folder / "notes").mkdir()
    for path in (folder, folder / "toy.py", folder / "notes", tmp_path / "work"):
        assert open_workplace(path).folder.resolve() == folder


def test_the_wrong_folder_is_named(tmp_path: Path) -> None:
    assert "is not the folder of an assignment" in told(tmp_path)
    assert "does not exist" in told(tmp_path / "absent")
    assert "That is starter/toy" in told(toy_starter.made()[1].folder)


def test_several_assignments_are_named(tmp_path: Path) -> None:
    toy_starter.starter(tmp_path / "one")
    toy_starter.starter(tmp_path / "two")
    assert f"{tmp_path / 'one'}, {tmp_path / 'two'}" in told(tmp_path)


@pytest.mark.parametrize("notebook", ["toy.ipynb", "toy (1).ipynb", None])
def test_a_renamed_file_is_recognised(notebook: str | None, tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    if notebook:
        (folder / "toy.ipynb").rename(folder / notebook)
    else:
        (folder / "toy.ipynb").unlink()
    (folder / "toy.py").rename(folder / "toy (1).py")
    assert "“toy (1).py” is there: rename it to toy.py." in told(folder)


def test_a_file_that_shares_only_its_ending_is_no_renamed_one(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    (folder / "toy.ipynb").unlink()
    (folder / "toy.py").rename(folder / "tip.py")
    assert "rename it" not in told(folder)


def test_a_file_that_is_gone_is_to_be_fetched(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    (folder / "toy.py").unlink()
    (folder / "toy.ipynb").rename(folder / "toy (1).ipynb")
    (folder / "helper.py").unlink()
    assert "toy.py is not in" in told(folder)
    assert "Get it from the starter's files." in told(folder)


def test_a_named_file_counts_as_the_hand_in(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    (folder / "toy.py").rename(folder / "mine.py")
    (folder / "toy.ipynb").unlink()
    submission = read_workplace(open_workplace(folder / "mine.py"))
    assert submission.files[0].path == "toy.py"
    assert submission.notes[0].id == "taken_as"


def test_the_starters_notebook_alone_is_no_hand_in(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    (folder / "toy.py").unlink()
    assert "toy.ipynb uses toy.py, which is not beside it" in told(folder)


def test_a_notebook_that_defines_a_function_is_a_hand_in(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    (folder / "toy.py").unlink()
    text = (folder / "toy.ipynb").read_text()
    (folder / "toy.ipynb").write_text(text.replace("import toy", "def double(x): return 2 * x"))
    assert b"def double" in read_workplace(open_workplace(folder)).files[0].data


def test_an_unreadable_hand_in_is_told_in_intakes_words(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    (folder / "toy.py").write_bytes(b"\x89PNG....")
    assert "toy.py" in told(folder)


def test_a_missing_support_file_is_named(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    (folder / "helper.py").unlink()
    with pytest.raises(InTheWay, match=r"helper\.py is missing, and the assignment needs it"):
        _ = open_workplace(folder).support


def test_missing_torch_is_told_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    need_torch()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InTheWay, match="-m pip install torch"):
        need_torch()
