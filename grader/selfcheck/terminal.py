"""A self-check at a terminal: what to do next, and checking again what changed at each save.

A question is touched if the text of its function changed, or of anything in the file that the
function can come to, or anything at the module level. What a function can come to is read in a
process of its own (``grader.static_analysis``); where that fails, everything is touched.
"""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.assignment.types import Assignment
from grader.checks.by_hand import DOCUMENT
from grader.errors import UsageError
from grader.report.model import QuestionResult, Report, ReportStatus
from grader.report.student import (
    StudentView,
    asked_for,
    next_question,
    none_found,
    not_loaded,
    not_written,
    nothing_like_it,
    of_the_file,
)
from grader.report.summary import amount
from grader.report.sums import with_results
from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.folder import Unreadable
from grader.selfcheck.workplace import (
    Workplace,
    archive_name,
    command,
    from_text,
    line_of,
    read_workplace,
    unreadable_whole,
)
from grader.selfcheck.written_stubs import elsewhere, inside
from grader.static_analysis.reader import SourceReader
from grader.submission import Submission
from grader.verdict import Message, Param

_DEFINED = re.compile(r"(?:async\s+def|def|class)\s+(\w+)")
_MODULE = ""


@dataclass(frozen=True, slots=True)
class QuestionFingerprint:
    """What a question rests on.

    Attributes:
        text: Digest of all of it.
        lines: Where its function and what that comes to begin; messages name such lines.
    """

    text: str
    lines: tuple[int, ...] = ()


def prints(
    data: bytes, assignment: Assignment, reader: SourceReader
) -> dict[str, QuestionFingerprint]:
    """Return question → its print.

    Args:
        data: The bytes of the file that holds the questions.
        assignment: Names the questions.
        reader: Tells what each function can come to.
    """
    blocks = _blocks(data.decode("utf-8", "replace"))
    facts = reader.read(data)
    whole = QuestionFingerprint(hashlib.sha256(data).hexdigest())
    result = {}
    for question in assignment.questions:
        name = next((name for name in question.names if name in blocks), None)
        entry = facts.entries.get(name or "")
        if name is None or entry is None:
            result[question.id] = whole
            continue
        reached = [part for part in (_MODULE, *sorted(entry.functions)) if part in blocks]
        text = "\0".join(f"{part}\0{blocks[part].text}" for part in reached)
        digest = hashlib.sha256(text.encode()).hexdigest()
        lines = tuple(blocks[part].line for part in reached if part)
        result[question.id] = QuestionFingerprint(digest, lines)
    return result


def touched(
    old: Mapping[str, QuestionFingerprint],
    new: Mapping[str, QuestionFingerprint],
    right: frozenset[str],
) -> list[str]:
    """Return the questions to check again, in order.

    Args:
        old: Prints before the change.
        new: Prints after it.
        right: Questions of which nothing was said that names a line; they may move.
    """
    return [
        name
        for name, found in new.items()
        if name not in old
        or found.text != old[name].text
        or (name not in right and found.lines != old[name].lines)
    ]


@dataclass(frozen=True, slots=True)
class _SourceBlock:
    text: str
    line: int


def _blocks(text: str) -> dict[str, _SourceBlock]:
    """Cut a file where a line begins in the first column; all but definitions is module level.

    Text in the first column inside a string is taken for module level: a change of it touches
    more than it need, never less.
    """
    found: dict[str, _SourceBlock] = {}
    name, first, lines = _MODULE, 1, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if line[:1].strip() and not line.startswith(("#", ")", "]", "}")):
            _add(found, name, first, lines)
            match = _DEFINED.match(line)
            name, first, lines = match[1] if match else _MODULE, number, []
        lines.append(line)
    _add(found, name, first, lines)
    return found


def _add(found: dict[str, _SourceBlock], name: str, line: int, lines: list[str]) -> None:
    # Comments in the first column belong to nothing, and blank lines say nothing.
    text = "\n".join(part.rstrip() for part in lines if part.strip() and not part.startswith("#"))
    if name in found:
        text = f"{found[name].text}\n{text}"
    if text:
        found[name] = _SourceBlock(text, line)


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
class _FolderState:
    """What every question rests on, and every other file."""

    prints: dict[str, QuestionFingerprint]
    others: tuple[str, ...]


def _unheard(_: QuestionResult) -> None:
    """Listen to results for what is printed; they are shown together, at the end."""


class SaveWatch:
    """Knows what was checked, and checks what a change can have touched.

    Args:
        check: The workplace, warm.
        questions: Ids that are watched; all where empty.
    """

    def __init__(self, check: SelfCheck, questions: tuple[str, ...] = ()) -> None:
        self._check = check
        self._questions = questions
        self._reader = SourceReader()
        self._known = _FolderState({}, ())
        self._report: Report | None = None

    def unreadable(self) -> Unreadable | None:
        """Return what keeps Python from loading the file; then nothing in it can be checked.

        Raises:
            InTheWay: The submission cannot be read as it is now.
        """
        place = self._check.workplace
        return unreadable_whole(place, read_workplace(place))

    def run(self) -> Rerun:
        """Check what is not as it was when it was checked last.

        Raises:
            InTheWay: The submission cannot be read as it is now.
        """
        start = time.monotonic()
        new = self._state()
        changed = self._touched(new)
        if self._report is None:
            self._report = self._check.check(self._questions, on_result=_unheard)
        elif changed:
            again = self._check.check(changed, on_result=_unheard)
            now = {item.id: item for item in again.questions if item.id in changed}
            results = [now.get(item.id, item) for item in self._report.questions]
            self._report = with_results(again, results)
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

    def _state(self) -> _FolderState:
        submission = read_workplace(self._check.workplace)
        own, *rest = submission.files
        found = prints(own.data, self._check.workplace.public.assignment, self._reader)
        support = self._check.workplace.support
        others = (file.sha256 for file in rest)
        return _FolderState(found, (*others, *(str(hash(data)) for data in support.values())))

    def _touched(self, new: _FolderState) -> list[str]:
        right = frozenset(
            question.id
            for question in (self._report.questions if self._report else ())
            if not any("line" in check.params for check in question.checks)
        )
        # Any question may read a file beside the student's: after a change there, all are checked
        # again.
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


def watch_folder(own: SelfCheck, ids: tuple[str, ...], view: StudentView) -> None:
    """Check the whole file, then again what changes, until it is interrupted."""
    watching = SaveWatch(own, ids)
    place = own.workplace
    try:
        if not _stopped(watching, view):
            report = watching.run().report
            _tell(own, view)
            view.report(report, ids)
            conclude(report, place, view)
        own.make_ready()
        view.say("watching", "bold", file=place.name)
        for _ in watching.changes():
            _again(own, watching, view)
            own.make_ready()
    finally:
        watching.close()


def _tell(own: SelfCheck, view: StudentView) -> None:
    for message in own.noticed_while_loading():
        view.tell(message, "red")


def _stopped(watching: SaveWatch, view: StudentView) -> bool:
    """Say what keeps the file from being loaded; return whether something does."""
    broken = watching.unreadable()
    if broken is not None:
        view.mark(broken.message, broken.line, broken.column)
        view.say("waits_for_save", "bold")
    return broken is not None


def _again(own: SelfCheck, watching: SaveWatch, view: StudentView) -> None:
    try:
        if _stopped(watching, view):
            return
        rerun = watching.run()
    except UsageError as error:
        view.print(str(error), "red")
        return
    if not rerun.questions:
        view.say("unchanged", "dim")
        return
    view.print("")
    _tell(own, view)
    view.report(rerun.report, rerun.questions)
    names: list[Param] = [*rerun.questions]
    view.say("rechecked", "dim", names=names, seconds=round(rerun.seconds, 2))


def conclude(report: Report, place: Workplace, view: StudentView) -> None:
    """Say what to do next, and what would be handed in."""
    if not_loaded(report):
        view.say("nothing_loaded", "bold")
        return
    if none_found(report):
        names: list[Param] = [item.id for item in asked_for(report)]
        view.say("none_found", "bold red", file=place.name, names=names)
        return
    step = next_question(report)
    if step is not None and of_the_file(step):
        view.say("load_first", "bold")
    elif step is not None:
        line, file = line_of(place, step.id), place.name_of(step.id)
        view.say("next_step", "bold", question=step.id, file=file, line=line)
        if not_written(step):
            view.say("next_first")
    elif report.status is not ReportStatus.INCOMPLETE:
        view.say("all_done", "bold green")
    if pending := math.fsum(item.pending for item in asked_for(report)):
        view.say("rest_pending", "cyan", points=amount(pending))
    _hand_in(report, place, view)


def tell_elsewhere(place: Workplace, view: StudentView, among: Collection[str] = ()) -> bool:
    """Say which other file of the folder has functions that are not written in this one.

    Args:
        place: The folder.
        view: Says it.
        among: Ids of the questions that count; all where empty.

    Returns:
        Whether there is one.
    """
    # What is in the way was said before.
    found = from_text(place, lambda own: elsewhere(place, own)) or {}
    for name, names_there in found.items():
        lacking = [each for each in names_there if not among or each in among]
        if not lacking:
            continue
        # With questions in several files each stands where it stands: none is chosen.
        single = len(place.public.assignment.asked) == 1
        commands = {
            word: command(place, of, name) if single else None
            for word, of in (("check", "check"), ("command", "submit-zip"))
        }
        names: list[Param] = [*lacking]
        view.say(
            "written_elsewhere", "yellow",
            found=name, file=place.name, count=len(names), names=names, **commands,
        )  # fmt: skip
    return bool(found)


def tell_inside(place: Workplace, submission: Submission, view: StudentView) -> bool:
    """Say which functions stand inside a class or another function.

    Returns:
        Whether there is one.
    """
    found = [
        Message("stands_inside", where.params(place.function(item.id)))
        for item in place.public.assignment.coded
        if (where := inside(place, submission, item)) is not None
    ]
    for message in found:
        view.tell(message, "red")
    return bool(found)


def _received(report: Report) -> dict[str, Param]:
    """Return file → size for what is there for a person to read."""
    checks = (check for question in report.questions for check in question.checks)
    found = (check.params for check in checks if check.message_id == DOCUMENT)
    return {str(params["file"]): str(params["size"]) for params in found}


def _hand_in(report: Report, place: Workplace, view: StudentView) -> None:
    open_ones: list[Param] = [item.id for item in report.questions if not_written(item)]
    assignment = place.public.assignment
    code = assignment.hand_in if len(assignment.hand_in) > 1 else [place.hand_in.name]
    files: list[Param] = [*code, *assignment.documents]
    if open_ones:
        view.say("not_written", "yellow", count=len(open_ones), names=open_ones)
    lacking: list[Param] = [item.id for item in asked_for(report) if nothing_like_it(item)]
    if lacking:
        view.say("not_in_file", "red", file=place.name, count=len(lacking), names=lacking)
    tell_elsewhere(place, view, [item.id for item in asked_for(report)])
    for name, size in _received(report).items():
        view.say("document_there", file=name, size=size)
    packing = command(place, "submit-zip")
    view.say("handed_in", files=files, command=packing, archive=archive_name(place))
    for note in report.submission.notes:
        view.print(note, "yellow")
