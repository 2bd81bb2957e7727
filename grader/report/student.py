"""A self-check's result on a terminal: what is right, what is not, why, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import cast

from rich.console import Console
from rich.text import Text

from grader.report.messages.catalogue import current
from grader.report.messages.words import Words
from grader.report.model import CheckResult, QuestionResult, Report
from grader.report.summary import MARKS, amount, worth
from grader.report.terminal import STYLE
from grader.text import inert, print_marked, print_wrapped
from grader.verdict import Code, Message, Param, Status

_MAX_LINE = 1200
_BAR = 30
Details = Callable[[QuestionResult], Mapping[str, Sequence[str]]]
Printed = Callable[[str], Sequence[str]]
_NOT_LOADED = frozenset({"syntax_error", "import_failed", "input_at_import", "died_at_import"})
"""Messages on a file that could not be loaded; they are the same for all its questions."""
_NOT_READ = (Code.MISSING_FILE, Code.BAD_SUBMISSION)


class StudentView:
    """Prints reports of one assignment.

    Attributes:
        everything: Print what is right, too, and what is not written yet, where something is wrong.

    Args:
        console: Where to.
        hints: Question → hint.
        details: Tells what there is to say on a question's checks beside their messages: check →
            lines.
        printed: Tells what a question printed, as lines.
        words: Tells the words to speak in.
    """

    def __init__(
        self,
        console: Console,
        hints: Mapping[str, str],
        details: Details = lambda _: {},
        printed: Printed = lambda _: (),
        words: Callable[[], Words] = current,
    ) -> None:
        self._console = console
        self._hints = hints
        self._details = details
        self._printed = printed
        self.everything = True
        self._words_now = words
        self._waiting: dict[str, QuestionResult] = {}
        self._shown: dict[str, QuestionResult] = {}
        self._held: set[str] = set()
        self._unread = ""

    @property
    def _words(self) -> Words:
        return self._words_now()

    def result(self, result: QuestionResult, order: Sequence[str]) -> None:
        """Print a question, and those that waited for it; ``report`` leaves them out then.

        Args:
            result: What came of it.
            order: Ids of all questions that will be shown, as the report has them.
        """
        self._waiting[result.id] = result
        for name in order:
            if name not in self._shown and name not in self._held:
                if name not in self._waiting:
                    return
                question = self._waiting.pop(name)
                # Where nothing is there, one sentence in the end says so.
                told = self.everything or not quiet(question)
                if told and not nothing_like_it(question):
                    self._shown[name] = question
                    self._question(question)
                else:
                    self._held.add(name)

    def report(self, report: Report, only: Iterable[str] = ()) -> None:
        """Print questions, then the points.

        Args:
            report: Of a self-check.
            only: Ids of the questions to show; all where empty.
        """
        chosen = frozenset(only)
        elsewhere = none_found(report)
        asked = [
            item
            for item in report.questions
            if (not chosen or item.id in chosen) and not (elsewhere and nothing_like_it(item))
        ]
        brief = not self.everything and any(_to_mend(item) for item in asked)
        for question in asked:
            # One that came out otherwise in the end is shown again.
            if question != self._shown.get(question.id) and not (brief and quiet(question)):
                self._question(question)
        kinds = (Status.PASSED, "right_ones", "green"), (Status.DEFERRED, "right_so_far", "cyan")
        for status, sentence, style in kinds if brief else ():
            right: list[Param] = [
                item.id for item in asked if right_here(item) and shown_status(item) is status
            ]
            if right:
                self.say(sentence, style, count=len(right), names=right)
        self._waiting, self._shown, self._held, self._unread = {}, {}, set(), ""
        self._console.print(points_line(asked_for(report)))

    def say(self, message: str, style: str = "", **params: Param) -> None:
        """Print one sentence."""
        self.tell(Message(message, params), style)

    def tell(self, message: Message, style: str = "") -> None:
        """Print the sentence of a message."""
        self.print(self._words.render(message), style)

    def mark(self, message: Message, line: str, column: int | None) -> None:
        """Print what is wrong in a file, and its line with a mark below it."""
        print_marked(self._console, self._words.render(message), line, column)

    def print(self, text: str, style: str = "") -> None:
        """Print a line of harmless text as it is."""
        self._print(Text(inert(text, _MAX_LINE), style))

    def _print(self, text: Text, indent: int = 0) -> None:
        print_wrapped(self._console, text, indent)

    def _question(self, question: QuestionResult) -> None:
        if whole := of_the_file(question):
            if whole != self._unread:
                self.print(whole, "red")
                for text in next(iter(self._details(question).values()), ()):
                    self._print(Text(inert(text, _MAX_LINE)), 4)
            self._unread = whole
            return
        status = shown_status(question)
        style = STYLE[status]
        line = Text.assemble(
            (f"{MARKS[status]} {question.id}", f"bold {style}"),
            ("  " + points_of(question), style),
            ("  " + question.title, "dim"),
            ("  " + self._words.codes[code.value], style) if (code := _bare(question)) else "",
        )
        self._console.print(line, no_wrap=True, overflow="ellipsis")
        for text, colour in self._lines(question):
            self._print(Text(inert(text, _MAX_LINE), colour), 4)

    def _lines(self, question: QuestionResult) -> Iterable[tuple[str, str]]:
        """Yield what there is to say on a question, with the colour of each line."""
        if _bare(question):
            return
        # What waits for grading is summed up at the end; each check of it is told with --all.
        left = None if self.everything else Status.DEFERRED
        shown_checks = [check for check in _told(question) if check.status is not left]
        details, printed = self._details(question), set[Sequence[str]]()
        for (message, _), group in groupby(shown_checks, _told_with):
            checks = list(group)
            names, status = ", ".join(check.id for check in checks), checks[0].status
            yield f"{MARKS[status]} {names}: {message}", STYLE[status]
            # Checks that look at the same run have the same to tell: once is enough.
            for lines in (details.get(check.id, ()) for check in checks):
                yield from (("  " + line, "dim") for line in lines if lines not in printed)
                printed.add(lines)
        if _to_mend(question):
            yield from ((line, "dim") for line in self._printed(question.id))
        yield from self._resting(question)
        if hint := hint_of(question, self._hints, self._words):
            yield hint, "yellow"

    def _resting(self, question: QuestionResult) -> Iterable[tuple[str, str]]:
        """Yield lines on the checks that rest on others: what each earned, or what must pass."""
        resting = [check for check in question.checks if check.code is Code.REQUIREMENT_NOT_MET]
        for (earned, requires), group in groupby(resting, _rests_on):
            checks, status = list(group), Status.PARTIAL if earned else Status.SKIPPED
            names: list[Param] = [_with_points(check) if earned else check.id for check in checks]
            params = {"checks": names, "requires": cast("Param", requires)}
            sentence = Message("counts_fully_after" if earned else "counts_after", params)
            yield f"{MARKS[status]} {self._words.render(sentence)}", STYLE[status]


def hint_of(question: QuestionResult, hints: Mapping[str, str], words: Words) -> str:
    """Return the hint on a question that is wrong, as a sentence; empty if there is none."""
    hint = hints.get(question.id)
    if not hint or not _wrong(question) or not_found(question):
        return ""
    return words.render(Message("hint", {"hint": hint}))


def of_the_file(question: QuestionResult) -> str:
    """Return what is said of the file as a whole at every check of a question; empty if nothing."""
    found = _told(question)
    texts = {check.student_message for check in found}
    whole = all(each.message_id in _NOT_LOADED or each.code in _NOT_READ for each in found)
    return texts.pop() if len(texts) == 1 and whole else ""


def _told(question: QuestionResult) -> list[CheckResult]:
    """Return the checks of which there is something to say."""
    return [check for check in question.checks if check.to_mend or check.status.open]


def _told_with(check: CheckResult) -> tuple[str, str]:
    """Return what checks have in common that one line tells.

    A check that earned a part has a line of its own, since the sentence names its points.
    """
    return check.student_message, check.id if check.status.earned else ""


def _rests_on(check: CheckResult) -> tuple[bool, object]:
    return check.status.earned, check.params.get("requires")


def _with_points(check: CheckResult) -> str:
    return f"{check.id} {_points(check.score, check.pending, worth(check))}"


def findings(question: QuestionResult) -> list[CheckResult]:
    """Return the checks that found something wrong."""
    return [check for check in question.checks if check.to_mend]


def all_right(report: Report) -> bool:
    """Return whether a self-check found nothing wrong, and nothing that is still to be written."""
    return not any(_to_mend(item) for item in asked_for(report))


def not_loaded(report: Report) -> bool:
    """Return whether the file could not be loaded at all, so that nothing was checked."""
    questions = [item for item in asked_for(report) if not _waits(item)]
    return bool(questions) and all(of_the_file(item) for item in questions)


def quiet(question: QuestionResult) -> bool:
    """Return whether a question can be left out where another one is wrong."""
    return right_here(question) or not_written(question) or nothing_like_it(question)


def none_found(report: Report) -> bool:
    """Return whether a submission has nothing of what was asked for: it belongs elsewhere."""
    questions = [item for item in asked_for(report) if not _waits(item)]
    return len(questions) > 1 and all(
        not_found(item) and not _misplaced(item) for item in questions
    )


def _misplaced(question: QuestionResult) -> bool:
    return any(item.params.get("holder") for item in question.checks)


def not_written(question: QuestionResult) -> bool:
    """Return whether a question's function is still to be written."""
    return any(check.code is Code.NOT_IMPLEMENTED for check in question.checks)


def not_found(question: QuestionResult) -> bool:
    """Return whether nothing of a question's name is in the submission."""
    return any(check.code is Code.MISSING_FUNCTION for check in question.checks)


def nothing_like_it(question: QuestionResult) -> bool:
    """Return whether nothing has a question's name, nor one that could be meant."""
    told = [item for item in question.checks if item.code is Code.MISSING_FUNCTION]
    return (
        bool(told)
        and not any(item.params.get("nearest") for item in told)
        and not _misplaced(question)
    )


def _bare(question: QuestionResult) -> Code | None:
    """Return the code of a question on which there is nothing else to say."""
    if not_written(question):
        return Code.NOT_IMPLEMENTED
    return Code.MISSING_FUNCTION if nothing_like_it(question) else None


def next_question(report: Report) -> QuestionResult | None:
    """Return the question to go on with: the first that is wrong, else the first not written."""
    open_ones = [item for item in report.questions if _to_mend(item)]
    wrong = [item for item in open_ones if not _bare(item)]
    return next(iter(wrong or open_ones), None)


def asked_for(report: Report) -> list[QuestionResult]:
    """Return the questions of a self-check that were not left out of it."""
    return [item for item in report.questions if item.status is not Status.SKIPPED]


def points_line(questions: Sequence[QuestionResult]) -> Text:
    """Return a bar and the points: green earned, cyan open, the rest not earned."""
    score, pending, most = _sums(questions)
    earned = min(_BAR, int(_BAR * score / (most or 1.0)))
    open_part = min(_BAR - earned, int(_BAR * pending / (most or 1.0)))
    return Text.assemble(
        ("━" * earned, "green"),
        ("━" * open_part, "cyan"),
        ("━" * (_BAR - earned - open_part), "red" if earned < _BAR else "dim"),
        (f"  {points_of_all(questions)}", "bold"),
    )


def points_of_all(questions: Sequence[QuestionResult]) -> str:
    """Return the sum of what questions earned, as ``points_of`` writes it."""
    score, pending, most = _sums(questions)
    return _points(score, pending, amount(most))


def points_of(question: QuestionResult) -> str:
    """Return such as ``1.5 / 2``, or ``1 + 0.5? / 2`` where something is looked at later."""
    most = worth(question, current().labels["bonus"])
    return _points(question.score, question.pending, most)


def _sums(questions: Sequence[QuestionResult]) -> tuple[float, float, float]:
    return (
        math.fsum(item.score for item in questions),
        math.fsum(item.pending for item in questions),
        math.fsum(item.max_score for item in questions if not item.bonus),
    )


def _points(score: float, pending: float, most: str) -> str:
    later = f" + {amount(pending)}?" if pending else ""
    return f"{amount(score)}{later} / {most}"


def shown_status(question: QuestionResult) -> Status:
    """Return the status of a question as its student sees it.

    What is looked at in grading only, or waits for a person, is not earned: such a question is
    open, however much of it is right.
    """
    if _to_mend(question):
        return Status.PARTIAL if question.score else Status.FAILED
    if question.score and question.pending:
        return Status.DEFERRED
    return Status.PASSED if question.score else question.status


def right_here(question: QuestionResult) -> bool:
    """Return whether all that is decided here of a question is right, and something is."""
    return question.score > 0 and not _to_mend(question)


def _to_mend(question: QuestionResult) -> bool:
    return bool(findings(question))


def _wrong(question: QuestionResult) -> bool:
    return any(check.status is Status.FAILED for check in question.checks)


def _waits(question: QuestionResult) -> bool:
    """Return whether nothing of a question was decided here."""
    return all(check.status.open or check.status is Status.SKIPPED for check in question.checks)
