from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from toy_starter import fill

import grader
from grader.integrations.notebook import NotebookAnswer, NotebookCheck, _happened


@pytest.fixture
def notebook() -> Iterator[NotebookCheck]:
    found = NotebookCheck()
    yield found
    found.close()


def html_of(shown: NotebookAnswer) -> str:
    """Return the page; every element in it is closed, and none can run anything."""
    page = shown._repr_html_()
    opened: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            assert tag in {"div", "b", "span", "table", "tbody", "tr", "td", "code", "br"}
            assert {name for name, _ in attrs} <= {"style", "title"}
            if tag != "br":
                opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Reader().feed(page)
    assert opened == []
    return page


def test_one_question_at_a_time_and_all_of_them(folder: Path, notebook: NotebookCheck) -> None:
    fresh = notebook.check("double")
    assert "not implemented yet" in html_of(fresh)
    assert "mean_of" not in html_of(fresh)
    fill(folder, "double", "    return 2 * x")
    assert "… double" in html_of(notebook.check("double"))
    every = html_of(notebook.check(""))
    assert all(name in every for name in ("double", "mean_of", "Counter"))
    assert "3 + 1? / 4" in every


def test_wrong_numbers_are_a_picture(folder: Path, notebook: NotebookCheck) -> None:
    fill(folder, "double", "    return torch.cat([x[:1] * 2, x[1:] * 3])")
    shown = notebook.check("double")
    page = html_of(shown)
    assert "first wrong at result[1, 0], returned 9, expected 6" in page
    assert page.count('title="returned') == 4
    assert "Hint: Add it to itself." in page
    # As in a terminal: input, what is right, what was returned, side by side.
    lines = [unescape(line) for line in re.findall(r"white-space:pre[^>]*>([^<]*)<", page)]
    assert [line.split() for line in lines] == [
        ["x", "expected", "returned", "(*", "=", "wrong)"],
        ["float32", "(2,", "2)"] * 3,
        ["1", "2", "2", "4", "2", "4"],
        ["3", "4", "6", "8", "9*", "12*"],
    ]
    assert repr(shown).startswith("double: 0 / 4\nCase example: Mismatched elements: 2 / 4")


@pytest.mark.parametrize("matplotlib", [True, False])
def test_what_a_check_has_measured_is_a_picture(
    matplotlib: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = {"overlaps": ("cuda:0  █·",)}
    check: Any = SimpleNamespace(devices=lambda _: lines, details=lambda _: lines)
    timed = SimpleNamespace(
        id="overlaps", kind="overlap",
        evidence={
            "elapsed": 2.0, "serial": 2.0, "ideal": 1.0, "timeline": [["cuda:0", 0, 1, "forward"]],
        },
    )  # fmt: skip
    plain = SimpleNamespace(id="outputs", kind="close", evidence={})
    question: Any = SimpleNamespace(checks=(timed, plain))
    if not matplotlib:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False)
    details, drawn = _happened(question, check)
    assert set(drawn) == ({"overlaps"} if matplotlib else set())
    assert ("pip install matplotlib" in str(details)) is not matplotlib


def test_virtual_gpus_come_with_the_extension(capsys: pytest.CaptureFixture[str]) -> None:
    magics: dict[str, Any] = {}

    class Shell:
        def register_magic_function(self, function: Any, kind: str, name: str) -> None:
            magics[name] = function

    grader.load_ipython_extension(Shell())
    magics["vgpu"]("two")
    assert "%vgpu: “two” is no number of GPUs" in capsys.readouterr().err
    magics["vgpu_trace"]("")
    assert "There are no virtual GPUs" in capsys.readouterr().out


def test_text_of_a_hand_in_is_no_markup(folder: Path, notebook: NotebookCheck) -> None:
    fill(folder, "double", "    raise ValueError('<script>alert(1)</script>')")
    page = html_of(notebook.check("double"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


@pytest.mark.parametrize(
    ("line", "break_it", "said"),
    [
        (
            "duoble",
            lambda _: None,
            "Nothing here is called “duoble”: no question and no file. Did you mean “double”?",
        ),
        ("", lambda f: (f / "helper.py").unlink(), "helper.py is missing"),
        ("", lambda f: (f / "public_cases.json").unlink(), "is not the folder of an assignment"),
    ],
)
def test_what_is_in_the_way_is_told_in_the_cell(
    line: str,
    break_it: Callable[[Path], None],
    said: str,
    folder: Path,
    notebook: NotebookCheck,
) -> None:
    break_it(folder)
    shown = notebook.check(line)
    assert said in repr(shown)
    assert "<table" not in html_of(shown)


def test_the_extension_registers_the_magic() -> None:
    found: list[tuple[str, str]] = []

    class Shell:
        def register_magic_function(self, function: Any, kind: str, name: str) -> None:
            assert callable(function)
            found.append((kind, name))

    grader.load_ipython_extension(Shell())
    # Those of virtual GPUs load torch when they are used, not now.
    assert found == [("line", "check"), ("line_cell", "vgpu"), ("line", "vgpu_trace")]
