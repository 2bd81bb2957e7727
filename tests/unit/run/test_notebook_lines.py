"""Lines of a graded notebook are told as its student sees them: by code cell, and line in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import toy_starter

from grader.authoring.lint import new_assignment
from grader.grading import Grader, Options
from grader.report.gradescope import write_results
from grader.report.html.render import Labels
from grader.report.html.submission_page import SubmissionFiles, staff_page, student_page
from grader.report.model import Report, in_language, read_report, write_report
from grader.run.materials import load_materials
from grader.submission import read_for

RAISES = "def double(x):\n    y = x + x\n    return nothing_like_it"
OPEN = "values = [1,\n          2,\n          (3, 4]"


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    root = tmp_path_factory.mktemp("notebooks")
    new_assignment("toy_two", root)
    with toy_starter.lent() as sandbox:
        materials = load_materials(root / "assignments" / "toy_two" / "assignment.yml")
        grader = Grader(materials, sandbox, Options(seed=5, device="virtual"))
        grader.prepare()
        yield grader


def notebook(folder: Path, *cells: str) -> Path:
    content = [{"cell_type": "code", "metadata": {}, "source": text} for text in cells]
    path = folder / "own.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": content}))
    return path


def told(report: Report) -> list[str]:
    return [check.student_message for check in report.questions[0].checks]


def test_a_message_names_the_cell_in_both_languages(toy: Grader, tmp_path: Path) -> None:
    report = toy.grade(notebook(tmp_path, "%pip install torch", "import torch", RAISES), "me")
    said = "NameError in own.ipynb, line 3 of code cell 3: name 'nothing_like_it' is not defined"
    assert said in told(report)[0]
    # A report that was written and read again can still be told in another language.
    again = read_report(write_report(report, tmp_path / "out"))
    assert "own.ipynb 3번째 코드 셀 3번째 줄" in told(in_language(again, "ko"))[0]
    results = json.loads(write_results(report, tmp_path / "out").read_text())
    assert said in results["tests"][0]["output"]


def test_a_line_in_pythons_own_words_is_told_by_its_cell(toy: Grader, tmp_path: Path) -> None:
    report = toy.grade(notebook(tmp_path, "import torch", "x = 1\n\n" + OPEN), "me")
    text = told(report)[0]
    assert text.startswith("Syntax error in own.ipynb, line 5 of code cell 2, column ")
    bare = "x = 1\n\nif x:\ny = 2"
    report = toy.grade(notebook(tmp_path, "import torch", bare), "me")
    assert (
        "expected an indented block after 'if' statement on line 3 of code cell 2"
        in (told(report)[0])
    )


def test_an_excerpt_is_of_one_cell_and_numbered_as_that(toy: Grader, tmp_path: Path) -> None:
    path = notebook(tmp_path, "import torch", RAISES, "later = 1")
    report = toy.grade(path, "me")
    files = SubmissionFiles(read_for(toy.assignment, path, "me").files)
    for page in (student_page, staff_page):
        html = page(report, Labels(), files)
        start = html.index('<figure class="excerpt">')
        excerpt = html[start : html.index("</figure>", start)]
        assert "own.ipynb, line 3 of code cell 2</figcaption>" in excerpt
        assert 'start="1"' in excerpt
        assert '<li class="here"><span class="no">3</span>' in excerpt
        # Neither the comment that announces the next cell, nor what stands in it.
        assert "# cell" not in excerpt
        assert "later" not in excerpt
