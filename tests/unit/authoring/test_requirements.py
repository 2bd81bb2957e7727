"""The versions that are packed are those that are installed here."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from grader.assignment.types import Needs, Question
from grader.authoring.platform_dry_run import required_by
from grader.errors import UsageError
from grader.run.materials import load_materials

ASSIGNMENTS = Path(__file__).parents[3] / "assignments"


def questions(name: str) -> tuple[Question, ...]:
    return load_materials(ASSIGNMENTS / name / "assignment.yml").assignment.questions


def test_pins_are_what_is_installed_with_all_that_it_needs() -> None:
    needs = required_by(questions("knn"))
    pins = dict(pin.split("==") for pin in needs.pins)
    assert pins["numpy"] == importlib.metadata.version("numpy")
    assert pins["torch"] == needs.torch == importlib.metadata.version("torch").partition("+")[0]
    # Only torch needs it.
    assert pins["sympy"] == importlib.metadata.version("sympy")
    assert "hypothesis" not in pins
    assert needs.python == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert needs.extras == ()


@pytest.mark.parametrize(("name", "extra"), [("tensors", "h5py"), ("minibatch", "tensorboard")])
def test_what_questions_declare_comes_along(name: str, extra: str) -> None:
    needs = required_by(questions(name))
    assert extra in needs.extras
    assert f"{extra}=={importlib.metadata.version(extra)}" in needs.pins


def test_a_package_that_is_not_here_is_refused_only_where_points_need_it() -> None:
    question = questions("knn")[0]
    absent = question.model_copy(update={"needs": Needs(packages=("no_such_module.part",))})
    with pytest.raises(UsageError, match="pip install no-such-module, and pack again"):
        required_by([absent])
    needs = required_by([absent.model_copy(update={"points": 0.0})])
    assert needs.extras == ()


def test_a_program_that_is_not_installed_cannot_be_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", nothing)
    with pytest.raises(UsageError, match="install it with pip"):
        required_by([])
