"""What the text alone shows to be wrong, where a self-check has no case to judge."""

from __future__ import annotations

import pytest

from grader.assignment.types import Case, Question
from grader.checks.base import CaseInputs
from grader.checks.counts import Counts
from grader.checks.loops import Loops
from grader.checks.ops import ForbiddenOps
from grader.observation import Claims, Observation, Outcome
from grader.run.judge_submission import judge_question
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.static_analysis.analyse import analyse
from grader.static_analysis.facts import EntryFacts
from grader.verdict import Code, Status
from grader.wire.messages import Fault

LOOP = "def f(x):\n    total = 0\n    for v in x:\n        total += v\n    return total\n"
UNIQUE = "import torch\n\ndef f(x):\n    return torch.unique(x)\n"
CLEAN = "import torch\n\ndef f(x):\n    return x.sum()\n"
OWN = "import helper\n\ndef unique(x):\n    return x\n\ndef f(x):\n    return unique(x)\n"
NO_LOOPS = Loops(id="no_loops", points=1, mode="none", cases=())
NO_UNIQUE = ForbiddenOps(id="no_unique", points=1, calls=("unique",), cases=())


def facts(text: str) -> EntryFacts:
    return analyse(text.encode()).entries["f"]


def test_a_loop_is_named_where_there_may_be_none() -> None:
    found = NO_LOOPS.read(facts(LOOP))
    assert found is not None
    assert (found.code, found.status) == (Code.LOOP_FOUND, Status.FAILED)
    assert found.message is not None
    assert found.message.params["line"] == 3
    assert NO_LOOPS.read(facts(CLEAN)) is None
    assert Loops(id="l", points=1, mode="required").read(facts(LOOP)) is None


def test_what_is_forbidden_by_its_name_is_named() -> None:
    found = NO_UNIQUE.read(facts(UNIQUE))
    assert found is not None
    assert found.code is Code.FORBIDDEN_CALL
    assert found.message is not None
    assert found.message.params["line"] == 4
    assert NO_UNIQUE.read(facts(CLEAN)) is None
    assert NO_UNIQUE.read(facts(OWN)) is None


def judged(text: str, seen: Observation) -> dict[str, Code]:
    checks = [
        {"id": "value", "kind": "exact", "points": 1},
        {"id": "no_loops", "kind": "loops", "mode": "none", "points": 1, "cases": []},
        {"id": "later", "kind": "exact", "points": 1, "cases": []},
    ]
    question = Question.model_validate(
        {"id": "f", "title": "F", "points": 3, "cases": [{"id": "one"}], "checks": checks}
    )
    case = PlannedCase("one", Case(id="one"), CaseInputs("one", (), ()), {}, "")
    right = QuestionRun("f", None, None, {"one": Observation(Outcome.COMPLETED, claims=Claims(1))})
    own = QuestionRun("f", None, None, {"one": seen})
    verdicts = judge_question(PlannedQuestion(question, (case,)), right, own)
    return {name: verdict.code for name, verdict in verdicts.items()}


@pytest.mark.parametrize(("text", "code"), [(LOOP, Code.LOOP_FOUND), (CLEAN, Code.NOT_RUN)])
def test_a_check_without_a_public_case_is_judged_by_the_text(text: str, code: Code) -> None:
    seen = Observation(Outcome.COMPLETED, claims=Claims(1), source=facts(text))
    assert judged(text, seen) == {"value": Code.OK, "no_loops": code, "later": Code.NOT_RUN}


def test_a_stub_is_promised_nothing() -> None:
    stub = Claims(fault=Fault("NotImplementedError", ""))
    text = "def f(x):\n    raise NotImplementedError\n"
    seen = Observation(Outcome.RAISED, claims=stub, source=facts(text))
    assert judged(text, seen)["later"] is Code.NOT_IMPLEMENTED


def test_a_function_that_returns_nothing_is_promised_nothing() -> None:
    text = "def f(x):\n    print(x)\n"
    seen = Observation(Outcome.COMPLETED, claims=Claims(None), source=facts(text))
    assert judged(text, seen)["later"] is Code.RETURNED_NOTHING


WHOLE = "import torch\n\ndef f(x):\n    return torch.autograd.functional.jacobian(torch.sum, x)\n"
BY_HAND = ForbiddenOps(id="by_hand", points=1, calls=("grad", "jacobian"))
OWN_METHOD = """\
class Own:
    def jacobian(self, x):
        return x

def f(x):
    own = Own()
    return own.jacobian(x)
"""


def counted(calls: dict[str, int], line: int) -> Counts:
    lines = frozenset({("", line)})
    return Counts(1, lines, calls, {}, {}, 0, {}, greatest=0)


def test_what_was_seen_by_a_part_of_it_is_named_by_the_text() -> None:
    found = BY_HAND.heard(counted({"grad": 1}, 4), facts(WHOLE))
    assert (found.code, found.status) == (Code.FORBIDDEN_CALL, Status.FAILED)
    assert found.message is not None
    assert found.message.params["name"] == "torch.autograd.functional.jacobian"
    assert found.message.params["line"] == 4


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (WHOLE, 3),  # that line was not run
        (OWN_METHOD, 7),
        (CLEAN, 4),
    ],
)
def test_what_no_line_explains_is_for_a_person(text: str, line: int) -> None:
    assert BY_HAND.heard(counted({"grad": 1}, line), facts(text)).code is Code.NEEDS_REVIEW
