"""What ``grader.integrations.pytest_plugin`` collects, runs and reports where public cases lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.assignment.types import Question
from grader.errors import GraderError
from grader.report.messages.catalogue import current
from grader.report.model import CheckResult, Report
from grader.report.student import asked_for, next_question, not_written, points_of, points_of_all
from grader.report.summary import amount
from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.folder import CASES_FILE, unreadable
from grader.selfcheck.warm_sandbox import open_for_check
from grader.selfcheck.workplace import (
    Workplace,
    line_of,
    open_workplace,
    read_workplace,
    words_for,
)
from grader.verdict import Code, Message, Param, Status


class CheckError(Exception):
    """A check did not pass; carries what the student reads."""


class SelfCheckSession:
    """One session's self-checks: runs, results and the summary. A pytest plugin."""

    def __init__(self, config: pytest.Config) -> None:
        self._device = config.getoption("--grader-device")
        self._isolation = config.getoption("--grader-isolation")
        self._places: dict[Path, Workplace] = {}
        self._checks: dict[Path, SelfCheck] = {}
        self._reports: dict[Path, Report] = {}
        self._failed: dict[Path, GraderError] = {}

    def place(self, folder: Path) -> Workplace:
        """Return a folder's workplace, read once.

        Raises:
            GraderError: Something is wrong with the folder.
        """
        if folder not in self._places:
            self._places[folder] = open_workplace(folder)
        return self._places[folder]

    def report(self, item: CheckItem) -> Report:
        """Return the report that tells of an item; runs all selected questions on first use.

        Raises:
            GraderError: Nothing could be run.
        """
        folder = item.place.folder
        if folder in self._failed:
            raise self._failed[folder]
        if folder not in self._reports:
            try:
                self._reports[folder] = self._run(item)
            except GraderError as error:
                self._failed[folder] = error
                raise
        return self._reports[folder]

    def details(self, item: CheckItem) -> dict[str, tuple[str, ...]]:
        """Return check → lines on what the devices did, for the item's question."""
        report = self.report(item)
        question = next(one for one in report.questions if one.id == item.question.id)
        return self._checks[item.place.folder].details(question)

    def _run(self, item: CheckItem) -> Report:
        place = item.place
        selected = {
            other.question.id
            for other in item.session.items
            if isinstance(other, CheckItem) and other.place.folder == place.folder
        }
        own = SelfCheck(place, open_for_check(self._isolation), self._device)
        self._checks[place.folder] = own
        ids = [question.id for question in place.public.assignment.questions]
        return own.check([name for name in ids if name in selected])

    def pytest_sessionfinish(self) -> None:
        """End every student process."""
        for own in self._checks.values():
            own.close()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the points, and what to do next."""
        for folder, report in self._reports.items():
            place = self._checks[folder].workplace
            terminalreporter.section(place.public.assignment.title)
            for line in summary(report, place):
                terminalreporter.write_line(line)


def summary(report: Report, place: Workplace) -> Iterator[str]:
    """Yield the lines after a session."""
    shown = asked_for(report)
    width = max((len(item.id) for item in shown), default=0)
    for item in shown:
        note = f"  {current().codes['not_implemented']}" if not_written(item) else ""
        yield f"{item.id:<{width}}  {points_of(item)}{note}"
    yield f"{'':<{width}}  {points_of_all(shown)}"
    step = next_question(report)
    if step is not None:
        params: dict[str, Param] = {
            "question": step.id, "file": place.name_of(step.id), "line": line_of(place, step.id),
        }  # fmt: skip
        yield current().render(Message("next_step", params))
    yield from report.submission.notes


class WorkplaceFile(pytest.File):
    """The student's file: a collector a question."""

    shared: SelfCheckSession

    def collect(self) -> Iterator[pytest.Collector]:
        """Yield the questions, in order; given code is none.

        Raises:
            CollectError: Something is wrong with the folder, or Python cannot load the file.
        """
        try:
            place = self.shared.place(self.path.parent)
            submission = read_workplace(place)
        except GraderError as error:
            raise self.CollectError(str(error)) from None
        broken = unreadable(submission)
        # Once, not at each check. One of several files costs its own questions alone.
        if broken is not None and len(place.public.assignment.asked) == 1:
            raise self.CollectError(words_for(submission).render(broken.message))
        for question in place.questions_in(self.path):
            node = QuestionNode.from_parent(self, name=question.id)
            node.obj = type(question.id, (), {"__doc__": question.title})
            node.place, node.question, node.shared = place, question, self.shared
            yield node


class QuestionNode(pytest.Class):
    """A question: an item a check.

    A ``pytest.Class``, because editors show those, and no other collectors, as groups of tests.
    """

    place: Workplace
    question: Question
    shared: SelfCheckSession

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the checks."""
        for check in self.question.listed:
            item = CheckItem.from_parent(self, name=check.id)
            item.place, item.question, item.shared = self.place, self.question, self.shared
            yield item


class CheckItem(pytest.Item):
    """One check of one question."""

    place: Workplace
    question: Question
    shared: SelfCheckSession

    def setup(self) -> None:
        """Have the result; what keeps it from being there is an error, no failure."""
        # By pytest.fail: what else is raised here is shown with a traceback of ours.
        try:
            result = self._result(self.shared.report(self))
        except GraderError as error:
            pytest.fail(str(error), pytrace=False)
        if result.status is Status.ERROR:
            pytest.fail(result.student_message, pytrace=False)

    def runtest(self) -> None:
        """Pass, fail or skip as the check did.

        Raises:
            CheckError: It did not pass.
        """
        result = self._result(self.shared.report(self))
        self.user_properties += [
            ("points", amount(result.score)),
            ("max_points", amount(result.max_score)),
            ("pending_points", amount(result.pending)),
            ("code", result.code.value),
        ]
        # What only follows from another check is no further failure to read about.
        if result.status is Status.DEFERRED or result.code is Code.REQUIREMENT_NOT_MET:
            pytest.skip(result.student_message)
        if result.status is not Status.PASSED:
            lines = self.shared.details(self).get(self.name, ())
            raise CheckError("\n  ".join((result.student_message, *lines)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> Any:
        """Return the sentence for the student instead of a traceback of ours."""
        if isinstance(excinfo.value, CheckError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the line of the student's function, from 0, and the check's name."""
        line = line_of(self.place, self.question.id)
        return self.path, None if line is None else line - 1, f"{self.question.id}::{self.name}"

    def _result(self, report: Report) -> CheckResult:
        question = next(item for item in report.questions if item.id == self.question.id)
        return next(item for item in question.checks if item.id == self.name)


def collector(
    path: Path, parent: pytest.Collector, shared: SelfCheckSession
) -> pytest.Collector | None:
    """Return the collector of a file: of the one that would be handed in, or of what is wrong."""
    try:
        place = shared.place(path.parent)
    except GraderError:
        if path.name != CASES_FILE:
            return None
    else:
        if path.resolve() not in (file.resolve() for file in place.files):
            return None
    node = WorkplaceFile.from_parent(parent, path=path)
    node.shared = shared
    return node
