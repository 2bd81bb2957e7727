"""Labels of wrong and right submissions: what each must get, and whether it does.

``docs/labels.md`` says how a label is written. It is YAML in the comments that a submission begins
with, so that a file says by itself what is wrong with it.

Labels hold where nothing is timed: points that only the clock can settle count as earned. Where it
takes the clock of a real GPU, that goes for the question's status; the score is without them.
They hold on virtual GPUs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from grader.assignment.cells import LabelledSubmission
from grader.assignment.types import Assignment
from grader.checks.by_hand import BY_HAND
from grader.errors import GraderError, nearest
from grader.verdict import Code, Status

OTHERS = "*"
NEUTRAL = frozenset({
    Code.OK.value, Code.REQUIREMENT_NOT_MET.value, Code.NOT_RUN.value, Code.NOT_TIMED.value,
})  # fmt: skip
_CODES = frozenset(code.value for code in Code)
_STATUSES = frozenset(status.value for status in Status)
_ELSEWHERE = (Code.NO_DEVICE, Code.NO_PACKAGE, Code.NO_PERMISSION)


class LabelError(GraderError):
    """A label is missing or cannot be read; says in which file and why."""

    exit_status = 2


class NoLabelError(LabelError):
    """A submission has no label at all."""


@dataclass(frozen=True, slots=True)
class QuestionLabel:
    """What one question must get; None or empty where the label does not say."""

    status: str | None = None
    code: str | None = None
    says: str | None = None
    checks: Mapping[str, str] = field(default_factory=dict)
    points: float | None = None

    @property
    def loses(self) -> bool:
        """Whether something is to be lost; a check without points may fail in a passed question."""
        if self.status is not None:
            return self.status != Status.PASSED.value
        return bool({self.code or Code.OK.value, *self.checks.values()} - NEUTRAL)

    def misses(self, question: Mapping[str, Any]) -> list[str]:
        """Return how a question of ``report.json`` differs from the label; empty if it does not."""
        found = {check["id"]: check["code"] for check in question["checks"]}
        lost = ", ".join(f"{name}: {code}" for name, code in found.items() if code not in NEUTRAL)
        misses = []
        status = _status(question)
        if self.status is not None and status != self.status:
            came = f"{status} ({lost})" if lost else status
            misses.append(f"status is {came}; the label says {self.status}")
        if (
            self.points is not None
            and (points := round(question["score"] + untimed(question), 4)) != self.points
        ):
            misses.append(f"it earns {points:g} points; the label says {self.points:g}")
        for check, code in self.checks.items():
            if check not in found:
                misses.append(f"no check “{check}”{nearest(check, found)}")
            elif found[check] != code:
                misses.append(f"check {check} says {found[check]}; the label says {code}")
        # No other code may stand beside it: a submission is to show one mistake.
        if self.code is not None and set(found.values()) - NEUTRAL != {self.code}:
            misses.append(f"its checks say {lost or 'ok'}; the label says {self.code}")
        if self.says is not None and not any(
            self.says in check["student_message"] for check in question["checks"]
        ):
            misses.append(f"no check says “{self.says}”")
        return [f"{question['id']}: {miss}" for miss in misses]


@dataclass(frozen=True, slots=True)
class Label:
    """What a submission must get.

    Attributes:
        about: What the submission is, in words.
        score: Of the whole submission, or None where the label does not say.
        questions: By id; ``"*"`` stands for all that are not named here, and are in the submission:
            one that deals with some of an assignment's functions need not hold the others.
        source: Text of the submission.
        mistakes: Names of known mistakes whose sentence is true of it, beside its own.
        exploit: What attack it is, as it is written; only tests of the sandbox read it.
        restricted: What it must get on tier restricted, where that differs.
        works: The attack may work all the same. A gap that is known.
    """

    about: str
    score: float | None
    questions: Mapping[str, QuestionLabel]
    source: str = ""
    mistakes: frozenset[str] = frozenset()
    exploit: Mapping[str, Any] | None = None
    restricted: Label | None = None
    works: bool = False

    def on(self, tier: str) -> Label:
        """Return the label that holds on a tier."""
        return self.restricted if self.restricted and tier == "restricted" else self

    def where_graded(self, report: Mapping[str, Any]) -> Label:
        """Return the label without the questions that the machine of a report cannot grade."""
        absent = {item["id"] for item in report["questions"] if waits(item, *_ELSEWHERE)}
        if not absent:
            return self
        left = {name: item for name, item in self.questions.items() if name not in absent}
        return replace(self, questions=left, score=None)

    def misses(self, report: Mapping[str, Any]) -> list[str]:
        """Return how a ``report.json`` differs from the label; empty if it does not."""
        by_id = {question["id"]: question for question in report["questions"]}
        unknown = [name for name in self.questions if name not in {OTHERS, *by_id}]
        misses = [f"no question “{name}”{nearest(name, by_id)}" for name in unknown]
        score = report["score"] + sum(untimed(question) for question in by_id.values())
        if self.score is not None and score != self.score:
            misses.append(f"the score is {score:g}; the label says {self.score:g}")
        for name, question in by_id.items():
            label = self.questions.get(name)
            if label is None and self._holds(name) and not (waits(question) or by_hand(question)):
                label = self.questions.get(OTHERS)
            misses += label.misses(question) if label else []
        return misses

    def judges(self, question: str) -> bool:
        """Tell whether ``misses`` depends on what a question gets, on one tier or another."""
        if self.restricted is not None and self.restricted.judges(question):
            return True
        if self.score is not None or question in self.questions:
            return True
        return OTHERS in self.questions and self._holds(question)

    def judged(self, assignment: Assignment) -> tuple[str, ...]:
        """Return the ids of the questions that ``misses`` depends on, or that ask for the same."""
        names = {
            name
            for each in assignment.questions
            if self.judges(each.id)
            for name in (each.id, *each.names)
        }
        return tuple(
            each.id for each in assignment.questions if names.intersection((each.id, *each.names))
        )

    def _holds(self, function: str) -> bool:
        return re.search(rf"\b{re.escape(function)}\b", self.source) is not None


def read_label(submission: LabelledSubmission, files: Sequence[str]) -> Label:
    """Return a submission's label.

    Args:
        submission: A cell, a file or a folder.
        files: What is handed in; in a folder, the first that is there begins with the label.

    Raises:
        LabelError: It has none, or one with an unknown key, status or code.
    """
    if submission.module is not None:
        return label_of(submission.module, submission.where)
    path = submission.path
    if path.is_dir():
        file = next((name for name in files if (path / name).is_file()), files[0])
        path /= file
    if not path.is_file():
        raise NoLabelError(f"{path}: is missing; a folder's label stands in this file")
    # A submission may be in Latin-1, and say so; its label must be read all the same.
    return label_of(path.read_bytes().decode("utf-8-sig", errors="replace"), f"{path}")


def label_of(source: str, where: str) -> Label:
    """Return the label that a submission's text begins with.

    Args:
        source: Text of a module, or of a notebook.
        where: Path of the file, for messages; its ending tells a notebook.

    Raises:
        LabelError: There is none, or one with an unknown key, status or code.
    """
    about, text = _header(_first_cell(source, where) if where.endswith(".ipynb") else source, where)
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise LabelError(f"{where}: the label is not YAML: {error}") from None
    blocks = read_fields(content, {"expect", "restricted", "exploit"}, where)
    if not isinstance(blocks.get("exploit", {}), dict):
        raise LabelError(f"{where}: exploit is {blocks['exploit']!r}, not a mapping")
    label = _expected(blocks["expect"], f"{where}: expect", {"mistakes"})
    label = replace(label, about=about, source=source, exploit=blocks.get("exploit"))
    if "restricted" not in blocks:
        return label
    there = _expected(blocks["restricted"], f"{where}: restricted", {"works"})
    there = replace(there, about=about, source=source, exploit=label.exploit)
    return replace(label, restricted=there)


def _expected(value: object, where: str, more: set[str]) -> Label:
    fields = read_fields(value, {"score", "questions"} | more, where)
    questions = fields.get("questions")
    if not isinstance(questions, dict) or not questions:
        raise LabelError(f"{where}.questions must map questions to what they get")
    score = fields.get("score")
    if score is not None and not isinstance(score, (int, float)):
        raise LabelError(f"{where}.score is {score!r}, not a number")
    mistakes = fields.get("mistakes", [])
    if not isinstance(mistakes, list):
        raise LabelError(f"{where}.mistakes is {mistakes!r}, not a list of names")
    return Label(
        about="",
        score=None if score is None else float(score),
        questions={
            str(name): _question(item, f"{where}: {name}") for name, item in questions.items()
        },
        mistakes=frozenset(map(str, mistakes)),
        works=fields.get("works") is True,
    )


def _first_cell(notebook: str, where: str) -> str:
    try:
        cells = [cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
        return "".join(cells[0]["source"])
    except (ValueError, LookupError, TypeError):
        raise NoLabelError(f"{where}: is no notebook with a code cell") from None


def _header(source: str, where: str) -> tuple[str, str]:
    comments: list[str] = []
    for line in source.splitlines():
        if not line.startswith("#"):
            break
        comments.append(line[1:].removeprefix(" "))
    if "expect:" not in comments:
        raise NoLabelError(f"{where}: no comment “# expect:” before the first line of code")
    start = min(
        comments.index(key) for key in ("exploit:", "expect:", "restricted:") if key in comments
    )
    return " ".join(comments[:start]), "\n".join(comments[start:])


def read_fields(value: object, known: set[str], where: str) -> dict[str, Any]:
    """Return a block of a label, of which all keys are known.

    Raises:
        LabelError: It is no mapping, or has another key.
    """
    if not isinstance(value, dict):
        raise LabelError(f"{where}: {value!r} where {', '.join(sorted(known))} were expected")
    for key in value:
        if key not in known:
            raise LabelError(f"{where}: “{key}” is no key here{nearest(str(key), known)}")
    return value


def _word(value: object, known: frozenset[str], where: str) -> str:
    if value not in known:
        raise LabelError(f"{where}: “{value}” is unknown{nearest(str(value), known)}")
    return str(value)


def _question(value: object, where: str) -> QuestionLabel:
    fields = read_fields(value, {"status", "code", "checks", "says", "points"}, where)
    checks = fields.get("checks") or {}
    if not isinstance(checks, dict):
        raise LabelError(f"{where}: checks must map a check's id to its code")
    points = fields.get("points")
    if points is not None and type(points) not in (int, float):
        raise LabelError(f"{where}: points is {points!r}, not a number")
    return QuestionLabel(
        status=_word(fields["status"], _STATUSES, where) if "status" in fields else None,
        code=_word(fields["code"], _CODES, where) if "code" in fields else None,
        says=str(fields["says"]) if "says" in fields else None,
        checks={str(check): _word(code, _CODES, where) for check, code in checks.items()},
        points=None if points is None else float(points),
    )


def by_hand(question: Mapping[str, Any]) -> bool:
    """Tell whether a person gives all points of a question.

    Args:
        question: As in ``report.json``.
    """
    return all(check["kind"] == BY_HAND for check in question["checks"])


def untimed(question: Mapping[str, Any]) -> float:
    """Return the points that only the clock of this machine can settle.

    Args:
        question: As in ``report.json``.
    """
    checks = (check for check in question["checks"] if check["code"] == Code.NOT_TIMED.value)
    return float(sum(check["pending"] for check in checks))


def _late(question: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Checks that wait for a clock: this machine's, or a real GPU's for what ran on a virtual."""
    checks = question["checks"]
    late = {Code.NOT_TIMED.value}
    lacking = [check for check in checks if check["code"] == Code.NO_DEVICE.value]
    if all(check["kind"] == "speedup" for check in lacking):
        late.add(Code.NO_DEVICE.value)
    return [check for check in checks if check["code"] in late]


def _status(question: Mapping[str, Any]) -> str:
    """A question's status, had the clocks been on and found nothing."""
    late = float(sum(check["pending"] for check in _late(question)))
    if not late or question["status"] != Status.DEFERRED.value:
        return str(question["status"])
    if question["pending"] != late:
        return Status.DEFERRED.value
    full = question["score"] + late == question["max_score"]
    return Status.PASSED.value if full else Status.PARTIAL.value


def waits(question: Mapping[str, Any], *codes: Code) -> bool:
    """Tell whether a question waits for another machine: one with a GPU, or with a package.

    Args:
        question: As in ``report.json``.
        codes: What to look for; lack of a device and lack of a package where none is given.
    """
    wanted = {code.value for code in codes or (Code.NO_DEVICE, Code.NO_PACKAGE)}
    late = _late(question)
    return any(check["code"] in wanted and check not in late for check in question["checks"])
