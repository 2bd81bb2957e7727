"""``report.json``: written in one step, read back with its schema checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from grader.errors import UsageError
from grader.report.model import Report
from grader.store.files import write_atomic

REPORT_FILE = "report.json"


def json_bytes(document: Mapping[str, Any]) -> bytes:
    """Return a document as UTF-8 JSON; a NaN in it is refused, as other readers would choke."""
    # For what it refuses. It could write the file too, but indents ten times as slowly: a tenth of
    # a hand-in's time on the host. The other one would write a NaN.
    json.dumps(document, allow_nan=False)
    return to_json(document, indent=2) + b"\n"


def report_bytes(report: Report) -> bytes:
    """Return the content of ``report.json``."""
    return json_bytes(report.model_dump(mode="json"))


def write_report(report: Report, folder: Path) -> Path:
    """Write ``report.json`` into a folder, made if absent, and return its path.

    Raises:
        UsageError: The folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    path = folder / REPORT_FILE
    write_atomic(path, report_bytes(report))
    return path


def read_report(path: Path) -> Report:
    """Return the report in a file.

    Raises:
        UsageError: There is none, or it is no report of a version that is known here.
    """
    try:
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; grade first") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{path}: is no report: {where}: {first['msg']}") from error
