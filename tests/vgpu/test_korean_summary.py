"""What virtual GPUs say in Korean: all of it, and the same numbers."""

from __future__ import annotations

import ast
import json
import re
import string
import subprocess
import sys
from pathlib import Path

import pytest

import grader.vgpu
from grader.report.messages.language import VARIABLE, current_language
from grader.vgpu import words
from grader.vgpu.words import columns, said, wrapped

PACKAGE = Path(grader.vgpu.__file__).parent
TEXTS: dict[str, str] = json.loads(words.KOREAN.read_text(encoding="utf-8"))
SPOKEN = ("show", "advice", "magics", "__main__")
SAME = {"device"}
"""Words that Korean readers use as they are."""
PROGRAM = """\
import torch
model = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.ones(4, 8, device="cuda:0")).sum()
    loss.backward()
    optimizer.step()
    loss.item()
"""


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("chosen", [None, "", "ko", "KO", "en", "fr"])
@pytest.mark.parametrize("locale", [None, "", "C", "ko_KR.UTF-8", "en_US", "fr_FR"])
def test_the_language_is_that_of_the_graders_messages(
    chosen: str | None, locale: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        VARIABLE: chosen,
        "LC_ALL": None,
        "LC_MESSAGES": None,
        "LANG": locale,
    }.items():
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert words.in_korean() == (current_language() == "ko")


def test_every_text_has_its_translation_and_every_translation_its_text() -> None:
    trees = [ast.parse((PACKAGE / f"{name}.py").read_text()) for name in SPOKEN]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    written = {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    asked = {
        argument.value
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("said", "_head")
        for argument in node.args
        if isinstance(argument, ast.Constant)
    }
    assert asked - SAME <= TEXTS.keys()
    # “host” and “copies” come with the numbers.
    assert TEXTS.keys() - {"host", "copies"} <= written
    assert {text for text, korean in TEXTS.items() if blanks(text) != blanks(korean)} == set()


@pytest.mark.parametrize("timed", [(), ("--timeline", "v100")])
def test_the_summary_is_the_same_in_korean(timed: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "grader.vgpu", "--gpus", "2", *timed, "program.py"]

    def told(language: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env={"TORCHGRADE_LANG": language}, text=True, check=True,
            capture_output=True,
        )  # fmt: skip
        return done.stderr

    english, korean = told("en"), told("ko")
    assert sorted(re.findall(r"\d+", english)) == sorted(re.findall(r"\d+", korean))
    # On a timeline with what it costs: “(142.7 µs 중 11.4 µs)”.
    line = r"program\.py 8번째 줄, 단계마다 1번( \(.+ 중 .+\))?: GPU에서 수를 읽느라 기다립니다\."
    assert re.search(line, korean)
    assert not re.search(r"(?:[a-z]+,? ){3}[a-z]+", korean)
    # Columns of one table begin at the same place, though characters are wide.
    table = next(part for part in korean.split("\n\n") if part.startswith("device  커널"))
    assert len({columns(line) for line in table.splitlines()}) == 1


def test_a_korean_locale_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TORCHGRADE_LANG", raising=False)
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    assert said("Nothing ran.") == "아무것도 실행되지 않았습니다."
    monkeypatch.setenv("TORCHGRADE_LANG", "en")
    assert said("Nothing ran.") == "Nothing ran."


def test_lines_are_broken_by_columns() -> None:
    assert list(wrapped("가나 다라 마바", 9)) == ["가나 다라", "마바"]
