"""Checking again what changed, as often as the student saves."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.report.model import QuestionResult, Report, ReportStatus
from grader.selfcheck.changes import Print, prints, touched
from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.hand_in import read_workplace
from grader.static_analysis.reader import SourceReader
from grader.verdict import Status

_LOOK = 0.1
"""Seconds between two looks at the files."""

Sleep = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Rerun:
    """What came of one change.

    Attributes:
        report: All questions, those that were not run again as they were.
        questions: Ids of those that were; empty where nothing that is checked had changed.
        seconds: From the change's being seen to its result.
    """

    report: Report
    questions: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class _State:
    """What every question rests on, and every other file."""

    prints: dict[str, Print]
    others: tuple[str, ...]


class Watch:
    """Knows what was checked, and checks what a change can have touched.

    Args:
        check: The workplace, warm.
        questions: Ids that are watched; all where empty.
    """

    def __init__(self, check: SelfCheck, questions: tuple[str, ...] = ()) -> None:
        self._check = check
        self._questions = questions
        self._reader = SourceReader()
        self._known = _State({}, ())
        self._report: Report | None = None

    def run(self) -> Rerun:
        """Check what is not as it was when it was checked last.

        Raises:
            InTheWay: The hand-in cannot be read as it is now.
        """
        start = time.monotonic()
        new = self._state()
        changed = self._touched(new)
        if self._report is None:
            self._report = self._check.check(self._questions)
        elif changed:
            self._report = merged(self._report, self._check.check(changed), frozenset(changed))
        # Only now: where a check was broken off, what it was to check is still to be checked.
        self._known = new
        return Rerun(self._report, tuple(changed), time.monotonic() - start)

    def changes(self, sleep: Sleep = time.sleep) -> Iterator[None]:
        """Yield whenever a file was written. Endless."""
        seen = self._stamps()
        while True:
            sleep(_LOOK)
            now = self._stamps()
            if now != seen:
                seen = now
                yield None

    def close(self) -> None:
        """End the process that reads the source."""
        self._reader.close()

    def _state(self) -> _State:
        submission = read_workplace(self._check.workplace)
        own, *rest = submission.files
        found = prints(own.data, self._check.workplace.public.assignment, self._reader)
        support = self._check.workplace.support
        others = (file.sha256 for file in rest)
        return _State(found, (*others, *(str(hash(data)) for data in support.values())))

    def _touched(self, new: _State) -> list[str]:
        right = frozenset(
            question.id
            for question in (self._report.questions if self._report else ())
            if not any("line" in check.params for check in question.checks)
        )
        old = self._known.prints if self._known.others == new.others else {}
        wanted = self._questions or tuple(new.prints)
        return [name for name in touched(old, new.prints, right) if name in wanted]

    def _stamps(self) -> list[tuple[str, int, int]]:
        place = self._check.workplace
        names = [*place.public.assignment.hand_in, *place.public.support]
        files = {place.hand_in, *(place.folder / name for name in names)}
        return sorted(_stamp(path) for path in files)


def _stamp(path: Path) -> tuple[str, int, int]:
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, -1
    return str(path), found.st_mtime_ns, found.st_size


def merged(old: Report, new: Report, questions: frozenset[str]) -> Report:
    """Return the new report with the old one's results where nothing was run again.

    Args:
        old: Of everything.
        new: Of some questions.
        questions: Ids of these.
    """
    before = {question.id: question for question in old.questions}
    results = tuple(
        item if item.id in questions else before.get(item.id, item) for item in new.questions
    )
    pending = math.fsum(item.pending for item in results)
    return new.model_copy(
        update={
            "questions": results,
            "score": round(math.fsum(item.score for item in results), 4),
            "pending": round(pending, 4),
            "status": _status(results, pending),
        }
    )


def _status(results: tuple[QuestionResult, ...], pending: float) -> ReportStatus:
    if any(item.status is Status.ERROR for item in results):
        return ReportStatus.INCOMPLETE
    return ReportStatus.PENDING if pending else ReportStatus.GRADED
