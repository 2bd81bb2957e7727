from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from containers import table
from containers.engine import CACHE, Engine, UnavailableError, opened

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:  # of all folders
        if str(item.path).startswith(f"{HERE}/"):
            item.add_marker(pytest.mark.heavy)


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    try:
        with opened() as engine:
            yield engine
    except UnavailableError as reason:
        pytest.skip(f"no containers: {reason}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if lines := table.rows():
        path = CACHE / "table.md"
        table.write(path)
        terminalreporter.section(f"what held in which container; {path}")
        for line in lines:
            terminalreporter.write_line(line)
