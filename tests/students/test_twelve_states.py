"""What a student sees in twelve states of the file, from empty to right, in two languages.

Each is a golden of at most 25 lines, 80 columns wide. Read them as somebody who is tired.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import toy_starter

from grader.cli import app as cli
from grader.report.messages.language import VARIABLE
from grader.selfcheck import warm_sandbox

ROOT = Path(__file__).parents[2]
STARTER = (ROOT / "starter/pytorch101/pytorch101.py").read_text(encoding="utf-8")
RIGHT = (ROOT / "reference/pytorch101/pytorch101.py").read_text(encoding="utf-8")
IMPORTS = "import torch\nfrom torch import Tensor\n"
MOST_LINES = 25
Golden = Callable[[str, str], None]
pytestmark = pytest.mark.xdist_group("toy")


def with_top(code: str) -> str:
    assert IMPORTS in STARTER
    return STARTER.replace(IMPORTS, f"{IMPORTS}\n{code}\n", 1)


def filled(**bodies: str) -> str:
    text = STARTER
    for name, body in bodies.items():
        stub = f'    raise NotImplementedError("{name} is not written yet")\n'
        assert stub in text
        text = text.replace(stub, "".join(f"    {line}\n" for line in body.splitlines()))
    return text


SAMPLE = "x = torch.zeros(3, 2)\nx[0, 1] = 10\nx[1, 0] = 100\nreturn x"
LOOP = "total = 0.0\nfor v in x.flatten():\n    if v > 0:\n        total += v.item()\n"
STATES = {
    "empty": "",
    "unwritten": STARTER,
    "syntax_error": with_top("sizes = (1, 2"),
    "wrong_name": RIGHT.replace("reverse_rows", "reverse_row"),
    "endless_loop": with_top("while True:\n    print('working')"),
    "exception": with_top("assert torch.zeros(2).sum() == 1, 'my own test'"),
    "missing_package": with_top("import sklearn_of_nobody"),
    "input": with_top('size = int(input("How large? "))'),
    "half_done": filled(
        create_sample_tensor=SAMPLE,
        take_one_elem_per_col="print(tuple(x.shape))\nreturn x[0]",
    ),
    "forbidden_loop": filled(sum_positive_entries=f"{LOOP}return int(total)"),
    "wrong_values": filled(reverse_rows="return x.flip(1)"),
    "right": RIGHT,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "pytorch101"
    shutil.copytree(ROOT / "starter/pytorch101", place)
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(warm_sandbox, "_open", lambda _: toy_starter.lent())
    monkeypatch.setattr("sys.argv", ["grader", "check"])
    return place


@pytest.mark.parametrize("language", ["en", pytest.param("ko", marks=pytest.mark.heavy)])
@pytest.mark.parametrize("state", STATES)
def test_a_student_sees(
    state: str,
    language: str,
    folder: Path,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    golden: Golden = request.getfixturevalue("golden")
    request.getfixturevalue("monkeypatch").setenv(VARIABLE, language)
    (folder / "pytorch101.py").write_text(STATES[state], encoding="utf-8")
    with pytest.raises(SystemExit):
        cli.main()
    said = capsys.readouterr()
    lines = [line.rstrip() for line in f"{said.err}{said.out}".splitlines()]
    golden(f"students/{state}.{language}.txt", "".join(f"{line}\n" for line in lines))
    assert len(lines) <= MOST_LINES
