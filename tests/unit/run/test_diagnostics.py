"""A diagnostic check earns nothing and has no row; where others fail, one of them says it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import toy_starter

from grader.assignment.load import load_assignment
from grader.authoring.lint import new_assignment
from grader.checks.judge import with_diagnoses
from grader.checks.values import Exact
from grader.errors import AssignmentError
from grader.grading import Grader, Options
from grader.report.gradescope import write_results
from grader.report.messages.catalogue import ENGLISH
from grader.report.model import Report, in_language
from grader.run.materials import load_materials
from grader.student_process.api import OldGradients
from grader.verdict import Code, Message, Verdict, Visibility, failed, passed

SAID = "The result is the argument."
DIAGNOSTIC = f"""\
      - id: same_object
        kind: not_view_of
        points: 0
        diagnostic: true
        argument: x
        message: {{en: {SAID}, ko: 결과가 인자 자체입니다.}}
"""


def assignment(root: Path, more: str = DIAGNOSTIC) -> Path:
    new_assignment("toy_two", root)
    file = root / "assignments" / "toy_two" / "assignment.yml"
    file.write_text(file.read_text().rstrip("\n") + "\n" + more)
    return file


@pytest.fixture(scope="module")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    with toy_starter.lent() as sandbox:
        materials = load_materials(assignment(tmp_path_factory.mktemp("diagnosed")))
        made = Grader(materials, sandbox, Options(seed=5, device="virtual"))
        made.prepare()
        yield made


def graded(grader: Grader, folder: Path, body: str) -> Report:
    path = folder / "toy_two.py"
    path.write_text(f"import torch\n\n\ndef double(x):\n    {body}\n")
    return grader.grade(path, "toy_two")


def texts(report: Report) -> list[str]:
    return [check.student_message for check in report.questions[0].checks]


def test_the_first_failure_says_it_in_both_languages(grader: Grader, tmp_path: Path) -> None:
    report = graded(grader, tmp_path, "return x")
    first, *others = texts(report)
    assert first.endswith(SAID)
    assert not any(SAID in text for text in others)
    assert texts(in_language(report, "ko"))[0].endswith("결과가 인자 자체입니다.")
    assert report.questions[0].checks[0].params["diagnostics"] == ["same_object"]


def test_it_has_no_row_and_changes_no_points(grader: Grader, tmp_path: Path) -> None:
    report = graded(grader, tmp_path, "return x")
    assert "same_object" not in {check.id for check in report.questions[0].checks}
    assert report.max_score == grader.assignment.points
    write_results(report, tmp_path)
    assert SAID in (tmp_path / "results.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "body",
    [
        # Wrong, and the diagnostic found nothing; right but for the diagnostic; nothing to judge.
        "return x + 1",
        "return x.mul_(2)[:]",
        "raise ValueError('no')",
        "return",
    ],
)
def test_it_is_silent_where_it_found_nothing_of_its_own(
    grader: Grader, tmp_path: Path, body: str
) -> None:
    spoken = [text for text in texts(graded(grader, tmp_path, body)) if SAID in text]
    assert bool(spoken) is (body == "return x.mul_(2)[:]")


CHECKS = [
    Exact(id="hidden", points=1, visibility=Visibility.AFTER_DUE_DATE),
    Exact(id="seen", points=1),
    Exact(id="sign", points=0, diagnostic=True, message={"en": "The sign is wrong."}),
    Exact(id="scale", points=0, diagnostic=True, message={"en": "The scale is wrong."}),
]
WRONG = failed(Code.WRONG_VALUE, Message("shape_and_dtype_differ", {}))


def judged(**verdicts: Verdict) -> dict[str, Verdict]:
    return with_diagnoses(CHECKS, {check.id: verdicts.get(check.id, passed()) for check in CHECKS})


def said_at(verdicts: dict[str, Verdict], name: str) -> object:
    message = verdicts[name].message
    return message and message.params.get("diagnosis_en")


def test_all_that_failed_are_said_where_every_student_reads_it() -> None:
    told = judged(hidden=WRONG, seen=WRONG, sign=WRONG, scale=WRONG)
    assert said_at(told, "seen") == "The sign is wrong. The scale is wrong."
    assert said_at(told, "hidden") is None
    assert said_at(judged(hidden=WRONG, scale=WRONG), "hidden") == "The scale is wrong."


def test_a_right_question_is_not_told_what_its_diagnostics_found() -> None:
    assert judged(sign=WRONG) == {"hidden": passed(), "seen": passed()}


def test_a_hidden_case_tells_the_sentence_and_no_number() -> None:
    message = Message("wrong_value_at", {"index": 7, "diagnosis_en": "The sign is wrong."})
    verdict = Verdict(**{**_fields(WRONG), "message": message, "hidden": True, "case": "c"})
    assert ENGLISH.for_student(verdict).endswith("The sign is wrong.")
    assert "7" not in ENGLISH.for_student(verdict)


def _fields(verdict: Verdict) -> dict[str, object]:
    return {name: getattr(verdict, name) for name in Verdict.__dataclass_fields__}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("points: 0", "points: 1", "points: 0"),
        ("points: 0", "points: 0\n        hint: Look again.", "remove “hint”"),
        ("points: 0", "points: 0\n        bonus: true", "remove “bonus”"),
        ("points: 0", "points: 0\n        visibility: hidden", "remove “visibility”"),
        ("        message:", "        # message:", "needs a “message”"),
    ],
)
def test_what_a_diagnostic_cannot_have_is_told(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    with pytest.raises(AssignmentError) as caught:
        load_assignment(assignment(tmp_path, DIAGNOSTIC.replace(old, new)))
    assert said in str(caught.value)


def test_no_clock_decides_a_diagnostic(tmp_path: Path) -> None:
    rule = DIAGNOSTIC.replace("not_view_of", "loops").replace("argument: x", "mode: none")
    with pytest.raises(AssignmentError, match="kind loops is judged by a person or a clock"):
        load_assignment(assignment(tmp_path, rule))


def test_a_known_mistake_says_it_alone(tmp_path: Path) -> None:
    file = assignment(tmp_path)
    known = "# %% not_doubled\n# says: You forgot to double.\n\ndef double(x):\n    return x\n"
    (tmp_path / "reference" / "toy_two" / "mistakes.py").write_text(known)
    with toy_starter.lent() as sandbox:
        grader = Grader(load_materials(file), sandbox, Options(seed=5, device="virtual"))
        grader.prepare()
        first, *_ = texts(graded(grader, tmp_path, "return x"))
    assert first.endswith("You forgot to double.")
    assert SAID not in first


def test_nothing_may_depend_on_a_diagnostic(tmp_path: Path) -> None:
    more = "      - {id: other, kind: shape, points: 0, requires: [same_object]}\n"
    with pytest.raises(AssignmentError, match="“same_object” is diagnostic"):
        load_assignment(assignment(tmp_path, DIAGNOSTIC + more))


@pytest.mark.parametrize(
    ("forgotten", "passes", "met"), [(False, 1, False), (False, 3, False), (True, 1, True)]
)
def test_old_gradients_are_those_that_a_step_has_used(
    forgotten: bool, passes: int, met: bool
) -> None:
    model = torch.nn.Linear(3, 1)
    optimizer, noticed = torch.optim.SGD(model.parameters(), lr=0.1), OldGradients(model)
    for _ in range(3):
        for _ in range(passes):
            model(torch.ones(2, 3)).sum().backward()
        optimizer.step()
        if not forgotten:
            optimizer.zero_grad()
    assert noticed.met is met


def test_gradients_that_are_asked_for_add_to_nothing() -> None:
    model = torch.nn.Linear(3, 1)
    optimizer, noticed = torch.optim.SGD(model.parameters(), lr=0.1), OldGradients(model)
    for _ in range(3):
        loss = model(torch.ones(2, 3)).sum()
        for weight, found in zip(
            model.parameters(), torch.autograd.grad(loss, list(model.parameters())), strict=True
        ):
            weight.grad = found
        optimizer.step()
    assert not noticed.met
