"""The wrong answers of `tests/priced`: complete, as they were priced, and put into right files."""

from __future__ import annotations

import ast
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from faults import no_faults


@pytest.fixture
def priced(bench: Callable[[str], ModuleType]) -> Iterator[ModuleType]:
    module = bench("priced")
    module.PLACE.take("first")
    yield module
    module.PLACE.take("first")


def test_each_assignment_has_twenty_or_more(priced: ModuleType) -> None:
    found = Counter(each.assignment for name in priced.ASSIGNMENTS for each in priced.answers(name))
    assert found.total() >= 260
    assert min(found.values()) >= 20
    assert len(found) == 7


@pytest.mark.parametrize("which", ["first", "second", "third"])
def test_each_answer_is_a_file_that_compiles_and_differs(priced: ModuleType, which: str) -> None:
    priced.PLACE.take(which)
    right = {name: ast.dump(ast.parse(priced.right_answers(name))) for name in priced.ASSIGNMENTS}

    def faults_of(answer: Any) -> Iterator[str]:
        if ast.dump(ast.parse(answer.source())) == right[answer.assignment]:
            yield "changes nothing"
        if not 0 <= answer.price < 1:
            yield f"a price of {answer.price}"

    names = priced.PLACE.assignments()
    found = {each.id: each for name in names for each in priced.answers(name)}
    assert found
    no_faults(found, faults_of, "write it anew in a file of its own")


def test_a_method_takes_the_place_of_its_own_alone(priced: ModuleType) -> None:
    (answer,) = (each for each in priced.answers("knn") if each.name == "classifier_k_fixed")
    tree = ast.parse(answer.source())
    (found,) = (e for e in tree.body if isinstance(e, ast.ClassDef) and e.name == "KnnClassifier")
    methods = [each.name for each in found.body if isinstance(each, ast.FunctionDef)]
    assert methods == ["__init__", "predict", "check_accuracy"]
    assert "return predict_labels(dists, self.y_train)" in ast.unparse(found)


def test_what_changed_after_it_was_priced_is_refused(
    priced: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(priced.PLACE.cells, tmp_path / "priced")
    monkeypatch.setattr(priced.PLACE, "cells", tmp_path / "priced")
    priced.answers.cache_clear()
    file = tmp_path / "priced/knn.py"
    file.write_text(file.read_text().replace("# price: 0.7", "# price: 0.1", 1))
    with pytest.raises(SystemExit, match="has changed since it was priced"):
        priced.answers("knn")
    priced.answers.cache_clear()


def test_another_sentence_is_unjudged(
    priced: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(priced.PLACE, "kept", tmp_path)
    one, other = priced.answers("knn")[:2]
    row = {"of": priced._code("knn"), "given": 0.5, "waits": 0, "plain": 0.0, "checks": {}}
    rows = [row | {"id": one.id, "said": "It takes the root."}, row | {"id": other.id, "said": "?"}]
    monkeypatch.setattr(priced.PLACE, "cells", tmp_path)
    (tmp_path / "knn.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    text = f"{one.id} {priced.sentence(rows[0])} named\n{other.id} 0 false\n"
    (tmp_path / "judged.txt").write_text(text)
    lines = list(priced.tables(["knn"]))
    assert "| all | 2 | 1 | 0 | 0 | 0 | 1 |" in lines
    assert priced.sentence(rows[0] | {"said": "1.5 of 2"}) == priced.sentence({"said": "7 of 20"})
    assert "| all | 2 | 0.20 | 2 | 0 | 0 | 0 | 0.70 | 0.70 |" in lines
