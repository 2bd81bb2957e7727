"""Processes that take nothing from the environment find packages all the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader import interpreter

SHOW = "import numpy, {module}; print({module}.__file__)"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a package that only this process knows of."""
    package = tmp_path / "packages" / "apart"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("import sys; print('ran', sys.argv[1:])")
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setattr(interpreter, "PACKAGES", ("apart", "numpy"))
    interpreter.package_folders.cache_clear()
    yield package
    interpreter.package_folders.cache_clear()


def isolated(program: str, *arguments: str, flags: tuple[str, ...] = ("-I",)) -> str:
    command = [sys.executable, *flags, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env={}).stdout


def test_a_package_that_only_this_process_knows_is_found(elsewhere: Path) -> None:
    program = interpreter.beside_packages(SHOW.format(module="apart"))
    assert isolated(program).strip() == str(elsewhere / "__init__.py")


def test_a_module_is_run_as_with_dash_m(elsewhere: Path) -> None:
    assert isolated(interpreter.running("apart"), "7", "x") == "ran ['7', 'x']\n"


def test_the_copy_that_this_process_has_comes_first(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The child finds one by itself, which is not the host's.
    package = elsewhere.parent / "numpy"
    package.mkdir()
    (package / "__init__.py").write_text("")
    program = interpreter._FIND.format(folders={"numpy": str(elsewhere.parent)})
    shown = isolated(program + "import numpy; print(numpy.__file__)")
    assert shown.strip() == str(package / "__init__.py")


def test_what_is_found_anyway_changes_nothing() -> None:
    interpreter.package_folders.cache_clear()
    show = "import sys; print(sys.path)"
    assert isolated(interpreter.beside_packages(show)) == isolated(show)


def test_the_current_folder_is_not_on_the_path() -> None:
    shown = isolated(
        interpreter.beside_packages("import sys; print('' in sys.path)"), flags=("-s",)
    )
    assert shown == "False\n"


def test_a_module_of_that_name_is_no_package(elsewhere: Path) -> None:
    (elsewhere / "__init__.py").unlink()
    (elsewhere / "__main__.py").unlink()
    elsewhere.rmdir()
    elsewhere.with_suffix(".py").write_text("")
    interpreter.package_folders.cache_clear()
    assert "apart" not in interpreter.package_folders()
