"""Whatever a function of any assignment returns that is wrong, the student sees it.

Each public case of each starter is judged as if a function had returned something wrong there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from grader.checks.arrays import to_numpy
from grader.checks.judge import judge_case
from grader.report.messages.language import VARIABLE
from grader.report.model import QuestionResult
from grader.run.observe import QuestionRun
from grader.selfcheck.values import value_lines
from grader.selfcheck.workplace import Workplace, open_workplace
from grader.verdict import Code, Status
from grader.wire.values import Tensor, Value

STARTERS = sorted((Path(__file__).parents[2] / "starter").iterdir())
COMPARED = {Code.WRONG_VALUE, Code.NOT_FINITE, Code.WRONG_SHAPE, Code.WRONG_TYPE}


def tensors_changed(value: Value, change: Callable[[Tensor], Value]) -> Value:
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, (tuple, list)):
        return type(value)(tensors_changed(item, change) for item in value)
    if isinstance(value, dict):
        return {key: tensors_changed(item, change) for key, item in value.items()}
    return not value if isinstance(value, bool) else 77 if isinstance(value, int) else value


def other_numbers(value: Tensor) -> Value:
    array = to_numpy(value)
    changed = ~array if array.dtype == np.bool_ else array + 1
    return replace(value, data=np.ascontiguousarray(changed.astype(array.dtype)).tobytes())


def other_shape(value: Tensor) -> Value:
    width = len(value.data) // max(1, int(np.prod(value.shape)))
    return replace(value, shape=(1, 1, 1, 1), data=bytes(width))


WRONG: dict[str, Callable[[Value], Value]] = {
    "numbers": lambda value: tensors_changed(value, other_numbers),
    "shapes": lambda value: tensors_changed(value, other_shape),
    "text": lambda _: "no tensor",
    "a_list": lambda value: [value, value],
}


def shown(place: Workplace, wrong: Callable[[Value], Value]) -> Iterator[tuple[str, list[str]]]:
    """Yield case and check → lines, where a check compares what was returned."""
    for planned in place.public.plan:
        run = place.public.reference[planned.question.id]
        for case in planned.cases:
            reference = run.observations[case.key]
            claims = replace(reference.claims, value=wrong(reference.claims.value))
            own = replace(reference, claims=claims, companions=None)
            seen = {
                planned.question.id: cast(
                    "QuestionRun", SimpleNamespace(observations={case.key: own})
                )
            }
            for check in planned.question.checks:
                if check.cases is not None and case.case.id not in check.cases:
                    continue
                verdict = judge_case(check, case.inputs, reference, own)
                if verdict.status is not Status.FAILED or verdict.code not in COMPARED:
                    continue
                result = SimpleNamespace(
                    id=check.id, status=verdict.status, code=verdict.code, case=case.case.id,
                    params=dict(verdict.message.params) if verdict.message else {},
                )  # fmt: skip
                question = SimpleNamespace(id=planned.question.id, checks=[result])
                told = value_lines(cast("QuestionResult", question), place, seen)
                yield f"{planned.question.id}.{case.key}.{check.id}", list(told.get(check.id, ()))


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("how", WRONG)
@pytest.mark.parametrize("folder", STARTERS, ids=lambda path: path.name)
def test_what_was_returned_is_shown(
    folder: Path, how: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, language)
    returned = {"en": "returned", "ko": "반환값"}[language]
    found: list[Any] = list(shown(open_workplace(folder), WRONG[how]))
    assert found
    for where, lines in found:
        assert any(returned in line for line in lines), where
        # By its name in the file, never by its number.
        assert not any("argument" in line or "번째 인자" in line for line in lines), where
        assert len(lines) <= 30, where
