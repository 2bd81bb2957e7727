"""What would change if a class were judged under edited files: as JSON, and on the desk's page."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from grader.desk.graded_class import GradedClass
from grader.desk.guard import CSRF_HEADER, Keys
from grader.desk.server import Desk

LATE = "due: 2026-10-01T23:59:00Z\nper_day: 0.5\nreceived:\n"
LATE += "".join(f"  {name}: 2026-10-02T12:00:00Z\n" for name in ("ann", "bob", "cem", "dua", "eli"))


@pytest.fixture
def batch(course: Path, command: Any) -> Path:
    assert command("batch", "tiny", "class", "--out", "out", "--clock", "off") == 0
    return course / "out"


def edit(course: Path, old: str, new: str) -> None:
    path = course / "assignments/tiny/assignment.yml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def judged(batch: Path, command: Any, *more: object) -> Any:
    before = {path: path.read_bytes() for path in batch.rglob("*.json")}
    into = batch.parent / "changes.json"
    assert command("rejudge", "out", "--dry-run", "--json", into, *more) == 0
    assert {path: path.read_bytes() for path in batch.rglob("*.json")} == before
    return json.loads(into.read_text())


def test_every_other_total_before_and_after(course: Path, batch: Path, command: Any) -> None:
    edit(course, "kind: unmodified, points: 1", "kind: unmodified, points: 2")
    edit(course, "points: 4\n    cases", "points: 5\n    cases")
    found = judged(batch, command)
    assert found["everybody"] == 5
    assert [each["name"] for each in found["totals"]] == ["cem", "eli", "ann", "bob", "dua"]
    ann = found["totals"][2]
    assert (ann["before"], ann["after"], ann["difference"]) == ([6, 0, 6], [7, 0, 7], 1)
    assert ann["finals"] == [6, 7]
    assert {each["check"] for each in found["checks"]} == {"double.inputs"}
    assert sum(each["count"] for each in found["checks"]) == 5
    assert found["commands"] == ["grader rejudge out"]


def test_what_lateness_would_cost(course: Path, batch: Path, command: Any) -> None:
    (course / "late.yml").write_text(LATE)
    found = judged(batch, command, "--late", "late.yml")
    grades = {each["name"]: each["finals"] for each in found["totals"]}
    assert grades["ann"] == [6, 3]
    assert not found["checks"]


def test_nothing_changes_where_nothing_was_edited(batch: Path, command: Any) -> None:
    found = judged(batch, command)
    assert (found["totals"], found["checks"], found["commands"]) == ([], [], [])


def test_the_file_goes_with_a_dry_run_alone(batch: Path, command: Any, capsys: Any) -> None:
    assert command("rejudge", "out", "--json", "changes.json") == 2
    assert "--dry-run" in capsys.readouterr().err


def ended(client: TestClient) -> Any:
    while (found := client.get("/whatif.json").json())["running"]:
        time.sleep(0.2)
    return found


def test_the_desk_shows_it(course: Path, batch: Path) -> None:
    keys = Keys(["ta1"])
    with GradedClass(batch) as graded:
        desk = Desk(graded, keys, "desk_1")
        token = keys.links["ta1"]
        client = TestClient(desk.app, base_url="http://127.0.0.1:8000")
        client.get(f"/enter/{token}")
        assert client.post("/whatif", json={}).status_code == 403
        client.headers[CSRF_HEADER] = keys.csrf(token)
        assert "whatif.js" in client.get("/whatif").text
        assert client.get("/whatif.json").json() == {"running": False, "seconds": 0}
        edit(course, "kind: unmodified, points: 1", "kind: unmodified, points: 1, when: never")
        assert client.post("/whatif", json={}).status_code == 200
        assert client.post("/whatif", json={}).status_code == 422
        assert "when" in ended(client)["error"]
        edit(course, ", when: never", "")
        edit(course, "rtol: 1.0e-4, atol: 1.0e-4, points: 3", "rtol: 1.0e-6, atol: 0, points: 3")
        client.post("/whatif", json={})
        found = ended(client)
        assert found["error"] == ""
        assert [each["name"] for each in found["totals"]] == ["bob"]
        desk.close()
