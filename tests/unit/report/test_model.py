from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from grader.errors import UsageError
from grader.report.model import (
    Report,
    json_bytes,
    read_report,
    report_bytes,
    report_schema,
    write_report,
)


def _document(report: Report) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(report_bytes(report))
    return document


def test_the_schema_is_a_schema_and_takes_reports(report: Report, broken: Report) -> None:
    schema = report_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for one in (report, broken):
        jsonschema.validate(_document(one), schema)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema_version",), 2),
        (("score",), "6"),
        (("score",), -1),
        (("status",), "done"),
        (("questions", 0, "status"), "ok"),
        (("questions", 0, "checks", 0, "owner"), "nobody"),
        (("environment", "isolation", "tier"), "good"),
    ],
)
def test_the_schema_refuses(report: Report, path: tuple[Any, ...], value: object) -> None:
    document = _document(report)
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, report_schema())


def test_every_name_of_the_contract_is_there(report: Report) -> None:
    document = _document(report)
    assert document.keys() >= {
        "schema_version", "assignment", "submission", "score", "max_score", "pending", "status",
        "questions", "environment", "timing",
    }  # fmt: skip
    assert document["assignment"].keys() >= {"id", "version"}
    assert document["submission"].keys() >= {"id", "files"}
    assert document["submission"]["files"][0].keys() >= {"path", "sha256"}
    question = document["questions"][0]
    assert question.keys() >= {
        "id", "title", "score", "max_score", "pending", "status", "visibility", "checks",
    }  # fmt: skip
    assert question["checks"][0].keys() >= {
        "id", "kind", "status", "code", "owner", "basis", "score", "max_score", "pending",
        "message", "evidence", "witnesses",
    }  # fmt: skip
    environment = document["environment"]
    assert environment.keys() >= {
        "torch", "python", "platform", "device", "isolation", "seed", "grader_version",
    }  # fmt: skip
    assert environment["isolation"].keys() >= {"tier", "mechanisms", "proved"}


def test_more_points_than_there_are_is_no_report(report: Report) -> None:
    document = _document(report) | {"score": 14.0}
    with pytest.raises(ValidationError, match="exceed max_score"):
        Report.model_validate(document)


def test_a_report_is_immutable(report: Report) -> None:
    with pytest.raises(ValidationError):
        report.score = 15.0  # type: ignore[misc]


def test_written_and_read_back(report: Report, broken: Report, tmp_path: Path) -> None:
    for one in (report, broken):
        path = write_report(one, tmp_path)
        assert path == tmp_path / "report.json"
        assert read_report(path) == one


def test_fields_of_a_later_grader_are_no_obstacle(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(json_bytes(_document(report) | {"later": 1}))
    assert read_report(path) == report


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        (b"{", "is no report: Invalid JSON"),
        (b'{"schema_version": 2}', "is no report: schema_version: "),
    ],
)
def test_what_is_no_report_is_named(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "report.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=rf"report\.json: {words}"):
        read_report(path)


def test_nan_is_never_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        json_bytes({"score": float("nan")})
