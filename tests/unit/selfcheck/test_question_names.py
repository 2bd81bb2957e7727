"""How a student names a question: its whole name, a number, the beginning of names."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy_starter

from grader.integrations.notebook import NotebookCheck
from grader.report.messages.language import VARIABLE
from grader.selfcheck.folder import InTheWay
from grader.selfcheck.workplace import Workplace, choose_questions, is_question, open_workplace

STARTERS = sorted((Path(__file__).parents[3] / "starter").iterdir())


@pytest.fixture
def minibatch() -> Workplace:
    return open_workplace(next(path for path in STARTERS if path.name == "minibatch"))


@pytest.mark.parametrize("folder", STARTERS, ids=lambda path: path.name)
def test_each_question_is_reached_by_its_own_name_in_any_case(folder: Path) -> None:
    place = open_workplace(folder)
    for number, question in enumerate(place.public.assignment.questions, start=1):
        for word in (question.id, question.id.upper(), f"Q{number}", str(number)):
            assert choose_questions(place, [word]) == (question.id,)


def test_a_beginning_means_all_that_begin_so(minibatch: Workplace) -> None:
    assert choose_questions(minibatch, ["digitd"]) == ("DigitDataset", "DigitDataset_with_workers")
    assert choose_questions(minibatch, ["train_f", "Q1"]) == ("make_loader", "train_full_batch")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_an_unknown_name_is_answered_with_all_names(
    minibatch: Workplace, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, language)
    names = [question.id for question in minibatch.public.assignment.questions]
    assert len(names) > 12
    for word in ("trian_minibatch", "Q17", "0", ""):
        with pytest.raises(InTheWay) as error:
            choose_questions(minibatch, [word])
        assert ", ".join(names) in str(error.value)
    with pytest.raises(InTheWay, match="“train_minibatch”"):
        choose_questions(minibatch, ["trian_minibatch"])


def test_a_question_is_meant_where_a_folder_has_its_name_too(tmp_path: Path) -> None:
    place = open_workplace(toy_starter.starter(tmp_path / "toy"))
    assert is_question(place, "double")
    assert not is_question(place, "doub")


def test_a_notebook_takes_names_as_the_terminal_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lent: None
) -> None:
    monkeypatch.chdir(toy_starter.starter(tmp_path / "toy"))
    notebook = NotebookCheck()
    assert "double: 0" in repr(notebook.check("Q1"))
    assert "Did you mean “double”?" in repr(notebook.check("duoble"))
    notebook.close()
