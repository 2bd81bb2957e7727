"""``grader lint`` says where a labelled submission of any course gets something else."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy_starter

from grader.assignment.find import find_assignment, locate
from grader.assignment.load import load_assignment
from grader.authoring.lint import lint_assignment, new_assignment
from grader.authoring.starter import build_starter, write_starter
from grader.run.materials import Materials, load_materials

LABEL = "# Adds two.\n# expect:\n#   questions:\n#     double: {}\n"
ADDS = "\n\ndef double(x):\n    return x + 2\n"
RIGHT = "\n\ndef double(x):\n    return x + x\n"


def course(root: Path) -> Materials:
    new_assignment("first", root)
    file = find_assignment("first", root)
    located = locate(file, load_assignment(file))
    write_starter(build_starter(load_assignment(file), located.folder, located.reference),
                  located.starter)  # fmt: skip
    return load_materials(file)


def label(text: str) -> str:
    return LABEL.format(text)


FILES = {
    "wrong/as_labelled.py": label("{status: failed, checks: {values: wrong_value}}") + ADDS,
    "wrong/other_status.py": label("{status: partial}") + ADDS,
    "wrong/other_code.py": label("{checks: {values: wrong_dtype}}") + ADDS,
    "wrong/no_label.py": f"# Adds two.{ADDS}",
    "wrong/typo.py": label("{status: faild}") + ADDS,
    "wrong/no_loss.py": label("{status: passed}") + RIGHT,
    "accepted/gone_wrong.py": label("{status: passed}") + ADDS,
    "faults/cells.py": f"# Cells.\n\n\n# %% adds\n{label('{code: raised}')}{ADDS}\n\n"
    f"# %% right\n{label('{status: passed}')}{RIGHT}",
    "exploits/limited.py": "# An attack.\n# exploit:\n#   limits: {seconds: 1}\n"
    + label("{status: passed}").partition("\n")[2] + ADDS,
}  # fmt: skip
FOUND = {
    "wrong/other_status.py": "double: status is failed (values: wrong_value); the label says "
    "partial",
    "wrong/other_code.py": "double: check values says wrong_value; the label says wrong_dtype",
    "wrong/no_label.py": "no comment “# expect:” before the first line of code; write the label. "
    "It got\n# expect:\n#   questions:\n#     double: {status: failed, checks: {values: "
    "wrong_value}}",
    "wrong/typo.py": "expect: double: “faild” is unknown; did you mean “failed”?",
    "wrong/no_loss.py": "lies in “wrong”, but its label expects no lost points; say what it must "
    "lose",
    "accepted/gone_wrong.py": "double: status is failed (values: wrong_value); the label says "
    "passed",
    "faults/cells.py, cell “adds”": "double: its checks say values: wrong_value; the label says "
    "raised",
}


@pytest.mark.parametrize("compared", [True, False])
def test_each_label_is_compared_with_what_came(compared: bool, tmp_path: Path) -> None:
    materials = course(tmp_path)
    folder = tmp_path / "tests/submissions/first"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with toy_starter.lent() as sandbox:
        found = lint_assignment(materials, sandbox, labels=compared)
    expected = {f"{folder}/{name}": text for name, text in FOUND.items()} if compared else {}
    assert {finding.where: finding.text for finding in found} == expected
