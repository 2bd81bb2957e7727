"""The starter in another language: the same code, the author's words, and what is missing."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest
from faults import no_faults

from grader.assignment.translation import docstrings
from grader.authoring.starter import build_starter
from grader.authoring.translated import (
    documented,
    unknown_docstrings,
    untranslated,
    with_docstrings,
    with_examples,
)
from grader.cli.support import read_materials
from grader.errors import AssignmentError
from grader.run.materials import Materials
from grader.text import inert

ROOT = Path(__file__).parents[3]
EVERY = sorted(path.parent.name for path in ROOT.glob("assignments/*/assignment.yml"))
SOURCE = '''\
"""A module."""


class Layer:
    """A layer."""

    def forward(self, x):
        """Go on.

        Args:
            x: ``(N,)``.
        """
        return x


def plain(x):
    return "text"
'''


def materials(name: str) -> Materials:
    return read_materials(str(ROOT / "assignments" / name))


def without_words(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            node.body[0] = ast.Pass()
    return ast.dump(tree)


def test_docstrings_are_exchanged_by_name_and_nothing_else() -> None:
    words = {"toy.py": "모듈.", "Layer.forward": "계속.\n\nArgs:\n    x: ``(N,)``."}
    made = with_docstrings(SOURCE, "toy.py", words)
    assert documented(made, "toy.py") == {**words, "Layer": "A layer."}
    assert without_words(made) == without_words(SOURCE)
    assert '        """계속.\n\n        Args:\n            x: ``(N,)``.\n        """\n' in made


@pytest.mark.parametrize("text", ['끝 """ + 1', "끝\\"])
def test_a_docstring_that_would_become_code_is_refused(text: str) -> None:
    with pytest.raises(AssignmentError, match="ends too early"):
        with_docstrings(SOURCE, "toy.py", {"Layer": text})


def test_examples_and_pictures_come_below_the_translated_prose() -> None:
    handout = "# A\n\nText.\n\n```python\n# no heading\nf()\n```\n\nMore.\n\n## B\n\n![x](b.svg)\n"
    made = with_examples(handout, "# 가\n\n글.\n\n## 나\n\n끝.\n", "handout.ko.md")
    assert made == (
        "# 가\n\n글.\n\n```python\n# no heading\nf()\n```\n\n## 나\n\n끝.\n\n![x](b.svg)"
    )
    with pytest.raises(AssignmentError, match="other headings"):
        with_examples(handout, "# 가\n\n글.\n", "handout.ko.md")


@pytest.mark.parametrize("name", EVERY)
def test_a_korean_starter_has_the_code_and_the_examples_of_the_english_one(name: str) -> None:
    own = materials(name)
    asked = own.assignment
    english, korean = (
        build_starter(asked, own.folder, own.reference_folder, language)
        for language in ("en", "ko")
    )
    for file in asked.hand_in:
        assert without_words(korean[file].decode()) == without_words(english[file].decode())
    cells = [
        [
            "".join(cell["source"])
            for cell in json.loads(files[f"{name}.ipynb"])["cells"]
            if cell["cell_type"] == "code"
        ]
        for files in (english, korean)
    ]
    # The first one also says in which language to check.
    cells[1][0] = cells[1][0].removeprefix("%env TORCHGRADE_LANG=ko\n")
    assert cells[0] == cells[1]
    assert "%env TORCHGRADE_LANG=ko" in korean[f"{name}.ipynb"].decode()
    assert "README.ko.md" not in korean
    assert "점검하세요" in korean["README.md"].decode()


def test_our_assignments_are_translated_whole() -> None:
    def faults(own: Materials) -> list[str]:
        return [*untranslated(own), *(text for _, text in unknown_docstrings(own))]

    no_faults(
        {name: materials(name) for name in EVERY}, faults, "see assignments/ID/docstrings.ko.toml"
    )


def test_lint_says_what_is_missing_and_what_was_changed(tmp_path: Path) -> None:
    own = materials("knn")
    copy = replace(own, folder=tmp_path)
    (tmp_path / "ko.toml").write_text("")
    assert "has no docstring of knn.py, compute_distances_two_loops" in next(untranslated(copy))

    words = docstrings(own.folder, "ko")
    words["predict_labels"] = words["predict_labels"].replace("``argmax``", "argmax")
    words["predict"] = words.pop("KnnClassifier.predict")
    lines = (f"{json.dumps(name)} = {json.dumps(text)}\n" for name, text in words.items())
    (tmp_path / "docstrings.ko.toml").write_text("".join(lines))
    assert [*untranslated(copy)] == [
        "docstrings.ko.toml has no docstring of KnnClassifier.predict",
        "docstrings.ko.toml has other names in double backticks than the docstrings of "
        "predict_labels",
    ]
    assert [text.partition(":")[0] for _, text in unknown_docstrings(copy)] == ["predict"]


def test_a_starter_in_a_language_without_docstrings_is_refused(tmp_path: Path) -> None:
    own = materials("knn")
    with pytest.raises(AssignmentError, match="needs its docstrings"):
        build_starter(own.assignment, tmp_path, own.reference_folder, "ko")
    (tmp_path / "docstrings.ko.toml").write_text("knn = 3\n")
    with pytest.raises(AssignmentError, match="is no text"):
        build_starter(own.assignment, tmp_path, own.reference_folder, "ko")


def test_korean_docstrings_are_plainly_visible() -> None:
    def faults(own: Materials) -> list[str]:
        return [
            name
            for name, text in docstrings(own.folder, "ko").items()
            if inert(text, len(text), "\n") != text
        ]

    no_faults({name: materials(name) for name in EVERY}, faults, "take out what cannot be seen")
