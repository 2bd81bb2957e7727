"""What is said of one submission, layer over layer, and the one report that this comes to. Pure.

From the lowest to the highest; each lies over those above it in this table.

==========  =========================  ============================================================
layer       from                       counts
==========  =========================  ============================================================
run         ``batch``, ``regrade``,    where nothing else does. The clock of the same machine is
            ``rejudge``                part of it
machine     ``merge``, in their order  where what is below leaves the check open, or the machine has
                                       more to say than that nobody looked at it
course      ``gpu: none``              of checks that need a GPU: they leave the maximum
person      ``review``, ``decide``,    always
            ``desk``
comments    ``desk``, ``comment``      beside the others: they change no points
==========  =========================  ============================================================

What a machine or a person said of a check counts while the check is worth the same: out of another
maximum the same number would be another grade. It comes back when the worth does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from pydantic import AwareDatetime

from grader.report.messages.catalogue import ENGLISH
from grader.report.messages.words import Words
from grader.report.model import (
    CheckResult,
    LineComment,
    MergedInfo,
    Place,
    QuestionResult,
    Report,
    ReportPart,
)
from grader.report.summary import counted
from grader.report.sums import with_checks, with_results
from grader.report.without_gpu import without_gpu
from grader.verdict import Basis, Code, Message, Owner, Param, Status

_UNTOUCHED = frozenset({Code.NOT_RUN, Code.NO_DEVICE, Code.NO_PERMISSION})
"""Codes of a check that nobody has looked at yet; any other pending verdict says more."""


class MachineLayer(ReportPart):
    """What a run on another machine said of checks that were open.

    Attributes:
        info: Where that was; ``checks`` are those that it filled when it was merged.
        results: Question → check → its result there.
    """

    info: MergedInfo
    results: dict[str, dict[str, CheckResult]]

    def without(self, questions: Iterable[str]) -> MachineLayer | None:
        """Return it without some questions; None where nothing is left."""
        gone = set(questions)
        left = {name: checks for name, checks in self.results.items() if name not in gone}
        return self.model_copy(update={"results": left}) if left else None


class PersonDecision(ReportPart):
    """What a person gives for a check.

    Attributes:
        question: Id.
        check: Id.
        points: Given, up to the check's.
        why: The reason, which the student reads.
        who: Decided.
        at: When.
        said: What the grader had said: its code.
        said_points: … and its points, of …
        worth: … so many.
    """

    question: str
    check: str
    points: float
    why: str
    who: str
    at: AwareDatetime
    said: Code
    said_points: float
    worth: float

    @property
    def place(self) -> str:
        """``question.check``."""
        return f"{self.question}.{self.check}"


def fold(
    run: Report,
    machines: Iterable[MachineLayer] = (),
    decisions: Iterable[PersonDecision] = (),
    no_gpu: bool = False,
    words: Words = ENGLISH,
) -> Report:
    """Return the report that layers come to.

    Args:
        run: What the grader said on this machine.
        machines: What others said, in the order in which they were merged.
        decisions: Of people, one for a check.
        no_gpu: The course has no GPU.
        words: Of the sentences on decisions that the student reads.
    """
    report = reduce(_with_machine, machines, run)
    return _with_decisions(without_gpu(report) if no_gpu else report, decisions, words)


def with_comments(report: Report, comments: Iterable[LineComment]) -> Report:
    """Return a report with what people say of lines, in the order of the files.

    A comment stays when its file changes. It then says that it is about an earlier version.
    """
    order = {file.path: number for number, file in enumerate(report.submission.files)}
    now = {(file.path, file.sha256) for file in report.submission.files}
    found = [
        each.model_copy(update={"earlier": (each.file, each.sha256) not in now})
        for each in comments
    ]
    found.sort(key=lambda each: (each.earlier, order.get(each.file, len(order)), each.line))
    return report.model_copy(update={"comments": tuple(found)}) if found else report


def undecided(check: CheckResult) -> bool:
    """Tell whether a check still waits for a run, a machine or a person."""
    if check.pending or check.status.open:
        return True
    return check.status is Status.SKIPPED and check.code is Code.NOT_RUN


def fills(check: CheckResult, theirs: CheckResult) -> bool:
    """Tell whether what a machine said of a check counts in the place of what was said before."""
    if check.max_score != theirs.max_score or not undecided(check):
        return False
    untouched = check.code in _UNTOUCHED and theirs.code not in _UNTOUCHED
    return untouched or not undecided(theirs)


def outdated(report: Report, decision: PersonDecision) -> bool:
    """Tell whether a decision cannot count: its check is gone, or worth something else."""
    check = report.by_place().get((decision.question, decision.check))
    return check is None or check.max_score != decision.worth


def layers_within(report: Report) -> tuple[Report, tuple[MachineLayer, ...]]:
    """Return a report that an earlier version had merged, and what other machines said in it.

    What the run itself had said of these checks is not known any more: only that it was open.
    """
    by_place = report.by_place()
    machines = []
    for info in report.merged:
        results: dict[str, dict[str, CheckResult]] = {}
        for place, check in by_place.items():
            if ".".join(place) in info.checks:
                results.setdefault(place[0], {})[place[1]] = check
        machines.append(MachineLayer(info=info, results=results))
    return report.model_copy(update={"merged": ()}), tuple(machines)


def _with_machine(report: Report, layer: MachineLayer) -> Report:
    filled: list[str] = []
    questions = [
        _filled(question, layer.results.get(question.id, {}), filled)
        for question in report.questions
    ]
    if not filled:
        return report
    info = layer.info.model_copy(update={"checks": tuple(filled)})
    return with_results(report, questions, merged=(*report.merged, info))


def _filled(
    question: QuestionResult, theirs: Mapping[str, CheckResult], filled: list[str]
) -> QuestionResult:
    checks: list[CheckResult] = []
    for check in question.checks:
        other = theirs.get(check.id)
        # The same, where an earlier version has merged it already.
        if other is not None and (fills(check, other) or check == other):
            filled.append(f"{question.id}.{check.id}")
            checks.append(other)
        else:
            checks.append(check)
    return with_checks(question, checks)


def _with_decisions(report: Report, decisions: Iterable[PersonDecision], words: Words) -> Report:
    by_place: dict[Place, PersonDecision] = {
        (item.question, item.check): item for item in decisions if not outdated(report, item)
    }
    if not by_place:
        return report
    questions = [
        with_checks(
            question,
            [
                _decided(check, decision, words)
                if (decision := by_place.get((question.id, check.id)))
                else check
                for check in question.checks
            ],
        )
        for question in report.questions
    ]
    return with_results(report, questions)


def _decided(check: CheckResult, decision: PersonDecision, words: Words) -> CheckResult:
    whole = decision.points >= check.max_score
    params: dict[str, Param] = {
        "points": decision.points,
        "worth": decision.worth,
        "why": decision.why,
    }
    message = Message("decided", params)
    said = words.render(message)
    return check.model_copy(
        update={
            "status": Status.PASSED
            if whole
            else Status.PARTIAL
            if decision.points
            else Status.FAILED,
            "code": Code.DECIDED,
            "owner": None if whole else Owner.STUDENT,
            # A person's word: nothing in it rests on what the student process claimed any more.
            "basis": Basis.FACT,
            "score": decision.points,
            "pending": 0.0,
            "message": f"{said} ({decision.who}, {decision.at:%Y-%m-%d %H:%M %Z}; the grader had "
            f"said: {check.code.value}, {counted(check.score, 'point')}. {check.message})",
            # Without what the grader had said: its message for staff may hold inputs of hidden
            # cases.
            "student_message": said,
            "message_id": message.id,
            "params": params,
        }
    )
