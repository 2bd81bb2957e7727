"""Disguises are caught, no legal form is taken for a loop, and each says why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import toy_starter

from grader.grading import Grader
from grader.verdict import Basis
from loops.lab import CORPUS, FILES, grade, grader, label, timed_label


@pytest.fixture(scope="module")
def ready() -> Iterator[Grader]:
    with toy_starter.lent() as sandbox:
        yield grader(sandbox)


# NumPy's product, and what the builtin ``sum`` asks of a tensor.
NOT_IN_A_LOG = {"numpy_matmul", "sum_of_rows"}
# Does the work by the rules wherever it is counted: the clock alone tells.
BY_TIME_ALONE = {"shows_one_thing_when_watched"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_file_of_the_corpus_gets_the_code_of_its_label(path: Path, ready: Grader) -> None:
    graded = grade(ready, path)
    assert graded.product.code.value == "ok", graded.product.message
    assert graded.loops.code.value == label(path)[1], graded.loops.message
    kept = path.parent.name == "legal" or path.stem in BY_TIME_ALONE
    shown = kept and path.stem not in NOT_IN_A_LOG
    assert graded.loops.basis is (Basis.FACT if shown else Basis.CLAIM)
    replay = {"replay"} if shown else set()
    assert {item["name"] for item in graded.loops.witnesses} == {"source", "behaviour"} | replay
    if graded.loops.code.value == "loop_found":
        line = graded.loops.params["line"]
        assert isinstance(line, int)
        assert 0 < line <= len(path.read_text().splitlines())
        assert f"Line {line}" in graded.loops.student_message
    elif graded.loops.code.value == "needs_review":
        assert graded.loops.pending == graded.loops.max_score
        assert "pending" in graded.loops.student_message


def test_the_corpus_is_as_large_as_it_has_to_be() -> None:
    disguises = [path for path in FILES if path.parent == CORPUS / "disguises"]
    legal = [path for path in FILES if path.parent == CORPUS / "legal"]
    assert len(disguises) >= 40
    assert len(legal) >= 25
    assert {path.stem for path in disguises if label(path)[1] == "ok"} == BY_TIME_ALONE
    assert {timed_label(path) for path in disguises if path.stem in BY_TIME_ALONE} == {
        "needs_review"
    }
    assert {path.stem for path in legal if label(path)[1] != "ok"} == {"numpy_matmul"}
