"""A question about a timeline runs on virtual GPUs, whatever the machine has."""

from __future__ import annotations

import pytest
from test_devices import PLAIN

from grader.assignment.rules import question_findings
from grader.assignment.types import Question
from grader.run.capabilities import resolve
from grader.sandbox.host.processes import ProcessSpec
from grader.verdict import Code


def question(**needs: object) -> Question:
    return Question.model_validate(
        {
            "id": "f",
            "title": "F",
            "points": 2,
            "needs": needs,
            "cases": [{"id": "one", "scenario": "in_time"}],
            "checks": [
                {"id": "value", "kind": "exact", "item": "value", "points": 1},
                {"id": "side_by_side", "kind": "overlap", "item": "lap", "points": 1},
            ],
        }
    )


@pytest.mark.parametrize("choice", ["auto", "virtual", "cuda"])
def test_its_gpus_are_virtual(choice) -> None:
    spec = resolve(PLAIN, question(cuda=2, timeline=True), choice, 2, lambda _: True)
    assert spec == ProcessSpec(virtual_gpus=2)


def test_without_any_gpu_it_is_deferred() -> None:
    verdict = resolve(PLAIN, question(cuda=2, timeline=True), "cpu", 2, lambda _: True)
    assert verdict.code is Code.NO_DEVICE


def test_the_check_needs_the_timeline() -> None:
    assert [text for _, text in question_findings(question(cuda=2), ())] == [
        "judges a timeline; say so: needs: {cuda: 2, timeline: true}"
    ]
    assert list(question_findings(question(cuda=2, timeline=True), ())) == []
