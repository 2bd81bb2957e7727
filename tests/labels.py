"""Labelled submissions: what each file under ``tests/submissions`` says about its own grade.

A file begins with comments: what it is, in words, and the verdicts that it must get, in YAML::

    # Divides by M where M - 1 is asked for.
    # expect:
    #   score: 12                # of the whole hand-in; may be left out
    #   questions:
    #     normalize_columns: {status: failed, checks: {values: wrong_value, shape: ok}}
    #     batched_matrix_multiply_loop: {status: failed, code: raised}
    #     "*": {status: passed}  # every question that is not named and whose function is here

``status`` is the question's. Under ``expect``, ``mistakes`` lists the known mistakes of other names
whose sentence is true of this one; that of its own name always is. ``checks`` maps a check's id to
its code. ``code`` is what every check of the question says that does not say ``ok``,
``requirement_not_met`` or ``not_run``; one at least must say it. In a notebook, the comments are
the beginning of its first code cell. Small submissions for one question share a file of cells, each
with its label; ``grader.assignment.cells`` reads it.

Tier restricted starts no processes and has no mount of its own. Where that changes what a file
gets, a block ``restricted:`` of the same form says what it gets there; ``works: true`` in it says
that the tier need not stop the attack.

A hand-in that attacks says so before that, in a block ``exploit:``; see ``Exploit`` and, for the
demonstrations, ``tests/exploits/__init__.py``.

Labels hold where nothing is timed: points that only the clock can settle count as earned. Where it
takes the clock of a real GPU, that goes for the question's status; the score is without them.
They hold on virtual GPUs: ``"*"`` does not cover a question that was deferred for the lack of a
device, where none of any sort was to be used, or of a package, nor one whose function the hand-in
does not hold; ``status: deferred`` can be asked for by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from grader.assignment.cells import LABELLED, LabelledSubmission, labelled_submissions
from grader.errors import nearest
from grader.verdict import Code, Status

ROOT = Path(__file__).parents[1]
SUBMISSIONS = ROOT / LABELLED
OTHERS = "*"
NEUTRAL = frozenset({
    Code.OK.value, Code.REQUIREMENT_NOT_MET.value, Code.NOT_RUN.value, Code.NOT_TIMED.value,
})  # fmt: skip
_CODES = frozenset(code.value for code in Code)
_STATUSES = frozenset(status.value for status in Status)


class LabelError(Exception):
    """A label cannot be read; says in which file and why."""


@dataclass(frozen=True, slots=True)
class QuestionLabel:
    """What one question must get; None or empty where the label does not say."""

    status: str | None = None
    code: str | None = None
    checks: Mapping[str, str] = field(default_factory=dict)

    def misses(self, question: Mapping[str, Any]) -> list[str]:
        """Return how a question of ``report.json`` differs from the label; empty if it does not."""
        found = {check["id"]: check["code"] for check in question["checks"]}
        misses = []
        status = _status(question)
        if self.status is not None and status != self.status:
            misses.append(f"status {status}, not {self.status}")
        for check, code in self.checks.items():
            if found.get(check) != code:
                misses.append(f"check {check}: {found.get(check, 'no such check')}, not {code}")
        if self.code is not None and set(found.values()) - NEUTRAL != {self.code}:
            misses.append(f"codes {sorted(set(found.values()))}, not {self.code}")
        return [f"{question['id']}: {miss}" for miss in misses]


@dataclass(frozen=True, slots=True)
class Exploit:
    """What an attack is about.

    Attributes:
        group: Letter of the group it belongs to.
        tries: What it tries, in a line.
        stopped_by: What stops it: walls, or properties of the design.
        typical: What comes of it in a grader that shares its interpreter with hand-ins.
        works_without: Kind of demonstration → its arguments. Empty for the controls of a group.
        limits: Fields of the assignment's limits, replaced while this hand-in is graded.
        clock: It is graded with the clock on.
        claim: What its verdict rests on, where that is something a guest says of itself: what
            forging it takes, and what is gained by that.
    """

    group: str
    tries: str
    stopped_by: str = ""
    typical: str = ""
    works_without: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    claim: str = ""
    clock: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """What a submission must get.

    Attributes:
        about: What the submission is, in words.
        score: Of the whole hand-in, or None where the label does not say.
        questions: By id; ``"*"`` stands for all that are not named here, and are in the hand-in:
            one that deals with some of an assignment's functions need not hold the others.
        exploit: What attack it is, if it is one.
        source: Text of the hand-in.
        mistakes: Names of known mistakes whose sentence is true of it, beside its own.
        restricted: What it must get on tier restricted, where that differs.
        works: The attack may work all the same. A gap that is known.
    """

    about: str
    score: float | None
    questions: Mapping[str, QuestionLabel]
    exploit: Exploit | None = None
    source: str = ""
    mistakes: frozenset[str] = frozenset()
    restricted: Label | None = None
    works: bool = False

    def on(self, tier: str) -> Label:
        """Return the label that holds on a tier."""
        return self.restricted if self.restricted and tier == "restricted" else self

    def misses(self, report: Mapping[str, Any]) -> list[str]:
        """Return how a ``report.json`` differs from the label; empty if it does not."""
        by_id = {question["id"]: question for question in report["questions"]}
        misses = [f"no question {name}" for name in {*self.questions} - {OTHERS, *by_id}]
        score = report["score"] + sum(untimed(question) for question in by_id.values())
        if self.score is not None and score != self.score:
            misses.append(f"score {score}, not {self.score}")
        for name, question in by_id.items():
            label = self.questions.get(name)
            if label is None and self._holds(name) and not waits(question):
                label = self.questions.get(OTHERS)
            misses += label.misses(question) if label else []
        return misses

    def judges(self, question: str) -> bool:
        """Tell whether ``misses`` depends on what a question of the assignment gets."""
        if self.score is not None or question in self.questions:
            return True
        return OTHERS in self.questions and self._holds(question)

    def _holds(self, function: str) -> bool:
        return re.search(rf"\b{re.escape(function)}\b", self.source) is not None


def submissions_of(assignment: str, *groups: str) -> Iterator[LabelledSubmission]:
    """Yield the labelled submissions of an assignment, group by group, sorted by name."""
    reference = (ROOT / "reference" / assignment / f"{assignment}.py").read_text(encoding="utf-8")
    for group in groups:
        folder = SUBMISSIONS / assignment / group
        yield from labelled_submissions(folder, reference) if folder.is_dir() else ()


def read_label(submission: Path | LabelledSubmission) -> Label:
    """Return a submission's label.

    Raises:
        LabelError: It has none, or one with an unknown key, status or code.
    """
    if isinstance(submission, LabelledSubmission):
        if submission.module is not None:
            return label_of(submission.module, f"{submission.path}, {submission.name}")
        submission = submission.path
    if submission.is_dir():
        submission /= f"{submission.parents[1].name}.py"
    source = submission.read_bytes().decode("utf-8-sig", errors="replace")
    return label_of(source, f"{submission}")


def label_of(source: str, where: str) -> Label:
    """Return the label that a submission's text begins with.

    Args:
        source: Text of a module, or of a notebook.
        where: Path of the file, for messages; its ending tells a notebook.

    Raises:
        LabelError: There is none, or one with an unknown key, status or code.
    """
    about, text = _header(_first_cell(source) if where.endswith(".ipynb") else source, where)
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise LabelError(f"{where}: the label is not YAML: {error}") from None
    blocks = _fields(content, {"expect", "restricted", "exploit"}, where)
    exploit = _exploit(blocks["exploit"], f"{where}: exploit") if "exploit" in blocks else None
    there = None
    if "restricted" in blocks:
        score, questions, works = _expected(blocks["restricted"], f"{where}: restricted", {"works"})
        there = Label(about, score, questions, exploit, source, works=works)
    score, questions, _ = _expected(blocks["expect"], f"{where}: expect", {"mistakes"})
    mistakes = frozenset(blocks["expect"].get("mistakes", ()))
    return Label(about, score, questions, exploit, source, mistakes, there)


def _expected(
    value: object, where: str, more: set[str]
) -> tuple[float | None, dict[str, QuestionLabel], bool]:
    fields = _fields(value, {"score", "questions"} | more, where)
    questions = fields.get("questions")
    if not isinstance(questions, dict) or not questions:
        raise LabelError(f"{where}.questions must map questions to what they get")
    score = fields.get("score")
    if score is not None and not isinstance(score, (int, float)):
        raise LabelError(f"{where}.score is {score!r}, not a number")
    read = {str(name): _question(item, f"{where}: {name}") for name, item in questions.items()}
    return None if score is None else float(score), read, fields.get("works") is True


def _first_cell(notebook: str) -> str:
    cells = [cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
    return "".join(cells[0]["source"])


def _header(source: str, where: str) -> tuple[str, str]:
    comments: list[str] = []
    for line in source.splitlines():
        if not line.startswith("#"):
            break
        comments.append(line[1:].removeprefix(" "))
    if "expect:" not in comments:
        raise LabelError(f"{where}: no comment “# expect:” before the first line of code")
    start = min(
        comments.index(key) for key in ("exploit:", "expect:", "restricted:") if key in comments
    )
    return " ".join(comments[:start]), "\n".join(comments[start:])


def _fields(value: object, known: set[str], where: str) -> dict[str, Any]:
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
    fields = _fields(value, {"status", "code", "checks"}, where)
    checks = fields.get("checks") or {}
    if not isinstance(checks, dict):
        raise LabelError(f"{where}: checks must map a check's id to its code")
    return QuestionLabel(
        status=_word(fields["status"], _STATUSES, where) if "status" in fields else None,
        code=_word(fields["code"], _CODES, where) if "code" in fields else None,
        checks={str(check): _word(code, _CODES, where) for check, code in checks.items()},
    )


def _exploit(value: object, where: str) -> Exploit:
    texts = {"group", "tries", "stopped_by", "typical", "works_without", "claim"}
    fields = _fields(value, texts | {"limits", "clock"}, where)
    for name in texts & set(fields):
        if not isinstance(fields[name], str):
            raise LabelError(f"{where}.{name} is {fields[name]!r}, not a text")
    if missing := {"group", "tries"} - set(fields):
        raise LabelError(f"{where}: {', '.join(sorted(missing))} missing")
    shown = _demonstrations(fields.pop("works_without", ""))
    if shown and (missing := {"stopped_by", "typical"} - set(fields)):
        raise LabelError(f"{where}: {', '.join(sorted(missing))} missing")
    return Exploit(**fields, works_without=shown)


def _demonstrations(text: str) -> dict[str, tuple[str, ...]]:
    """Read ``kind: argument, argument; kind``."""
    shown = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        kind, _, rest = part.partition(":")
        if kind == "exempt":
            return {kind: (text.partition(":")[2].strip(),)}
        shown[kind] = tuple(item.strip() for item in rest.split(",") if item.strip())
    return shown


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
    if not any(_lacks_device(check) and check["kind"] != "speedup" for check in checks):
        late.add(Code.NO_DEVICE.value)
    return [check for check in checks if check["code"] in late]


def _lacks_device(check: Mapping[str, Any]) -> bool:
    return bool(check["code"] == Code.NO_DEVICE.value)


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
