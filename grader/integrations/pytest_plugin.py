"""pytest in a starter folder: one item a check, ``question::check``.

Loaded into every pytest session of an environment that has torchgrade, so this module imports
nothing but pytest, and all else only once a folder with public cases is collected.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_CASES = "public_cases.json"  # grader.selfcheck.folder.CASES_FILE, without importing it
_PLUGIN = "grader-self-check"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("torchgrade", "self-checks of assignments")
    group.addoption(
        "--grader-device",
        choices=("auto", "cpu", "virtual", "cuda"),
        default="auto",
        help="where GPU questions of an assignment run",
    )
    group.addoption(
        "--grader-isolation",
        choices=("auto", "full", "restricted", "none"),
        default="auto",
        help="sandbox around the code of an assignment; auto takes the best there is",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the student's file where public cases lie beside it.

    The cases' own file reports what is wrong with the folder, once.
    """
    if parent.session.isinitpath(file_path) and file_path.suffix == ".py":
        return None  # named on the command line: ``pytest_pycollect_makemodule`` is asked for it
    return _collector(file_path, parent)


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Collector | None:
    """Stand in for importing the student's file as a module of tests."""
    return _collector(module_path, parent)


def _collector(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    known = path.suffix in (".py", ".ipynb") or path.name == _CASES
    if not known or not (path.parent / _CASES).is_file():
        return None
    from grader.integrations import pytest_items  # noqa: PLC0415  only where there is something to collect

    plugins = parent.config.pluginmanager
    shared = plugins.get_plugin(_PLUGIN)
    if shared is None:
        shared = pytest_items.SelfCheckSession(parent.config)
        plugins.register(shared, _PLUGIN)
    return pytest_items.collector(path, parent, shared)
