"""A small class behind a desk, and a browser's requests to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from desk_class import graded_class
from starlette.testclient import TestClient

from grader.desk.graded_class import GradedClass
from grader.desk.guard import CSRF_HEADER, Keys
from grader.desk.server import Desk

NAMES = ["ann", "bob", "cem"]
HOME = "http://127.0.0.1:8000"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return graded_class(tmp_path, NAMES)


@pytest.fixture
def graded(out: Path) -> Iterator[GradedClass]:
    with GradedClass(out) as graded:
        yield graded


@pytest.fixture
def keys() -> Keys:
    return Keys(["ta1", "ta2"])


@pytest.fixture
def desk(graded: GradedClass, keys: Keys) -> Desk:
    return Desk(graded, keys, "desk_1")


def entered(desk: Desk, keys: Keys, who: str) -> TestClient:
    token = keys.links[who]
    client = TestClient(desk.app, base_url=HOME, headers={CSRF_HEADER: keys.csrf(token)})
    assert client.get(f"/enter/{token}").status_code == 200
    return client


@pytest.fixture
def ta1(desk: Desk, keys: Keys) -> TestClient:
    return entered(desk, keys, "ta1")


@pytest.fixture
def ta2(desk: Desk, keys: Keys) -> TestClient:
    return entered(desk, keys, "ta2")
