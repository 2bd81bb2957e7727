"""Whole outputs of the toy assignment; refresh with ``make golden``."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from rich.console import Console

from grader.report.gradebook import gradebook
from grader.report.gradescope import gradescope_results
from grader.report.model import Report, json_bytes, report_bytes, report_schema
from grader.report.terminal import print_class, print_report

Golden = Callable[[str, str], None]


def _on_terminal(width: int, show: Callable[[Console], None]) -> str:
    out = io.StringIO()
    show(Console(file=out, width=width, force_terminal=False, legacy_windows=False))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def test_report_json(golden: Golden, report: Report) -> None:
    golden("toy.report.json", report_bytes(report).decode())


def test_report_json_of_a_broken_run(golden: Golden, broken: Report) -> None:
    golden("toy.broken.report.json", report_bytes(broken).decode())


def test_results_json(golden: Golden, report: Report) -> None:
    golden("toy.results.json", json_bytes(gradescope_results(report)).decode())


def test_results_json_of_a_broken_run(golden: Golden, broken: Report) -> None:
    golden("toy.broken.results.json", json_bytes(gradescope_results(broken)).decode())


def test_gradebook(golden: Golden, report: Report, broken: Report) -> None:
    golden("toy.gradebook.csv", gradebook([report, broken]))


@pytest.mark.parametrize("width", [80, 120])
def test_terminal(golden: Golden, report: Report, width: int) -> None:
    text = _on_terminal(width, lambda console: print_report(report, console))
    golden(f"toy.report.{width}.txt", text)


@pytest.mark.parametrize("width", [80, 120])
def test_terminal_of_a_class(golden: Golden, report: Report, broken: Report, width: int) -> None:
    text = _on_terminal(width, lambda console: print_class([report, broken], console))
    golden(f"toy.class.{width}.txt", text)


def test_schema(golden: Golden) -> None:
    golden("report.schema.json", json.dumps(report_schema(), indent=2) + "\n")
