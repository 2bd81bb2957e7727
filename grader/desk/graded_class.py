"""A graded class in memory, kept up with its journal, and what people decide on it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import TypeVar

from grader.batch.comments import CommentRequest, comment_at
from grader.batch.decisions import awaited, check_at, same_finding
from grader.batch.graded import GradedSubmission, comments_in, decisions_in
from grader.batch.grades import Grade
from grader.batch.ledger import (
    GRADED_AT,
    BatchSettings,
    graded_so_far,
    grades_of,
    setup_of,
    write_grades,
)
from grader.batch.review_queue import READ, DecisionOutcome, DecisionRequest, ReviewQueue, apart
from grader.batch.schedule import write
from grader.batch.status import seconds_left
from grader.errors import GraderError
from grader.report.layers import PersonDecision
from grader.report.model import CheckResult, LineComment
from grader.store.journal import JOURNAL_FILE, LEFT_FOLDER, BusyError, watched

_EVERY = 1.0
"""Seconds between two looks at the journal …"""
_SHARE = 10
"""… and at least this many times as long as the last reading took."""
_HELD = 30.0
"""Seconds without a decision after which the journal is given back and files are written."""
_OPEN = 90.0
"""Seconds for which an item counts as open without another word from its page."""


_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Item:
    """A check of a submission that waits for a person, or waited.

    Attributes:
        id: Tells nothing of whose it is.
        name: Of the submission.
        question: Id.
        check: As the grader left it.
    """

    id: str
    name: str
    question: str
    check: CheckResult

    @property
    def place(self) -> str:
        """``question.check``."""
        return f"{self.question}.{self.check.id}"

    @property
    def read(self) -> bool:
        """Tell whether a person reads it: each student's own, whatever is said of it alike."""
        return self.check.message_id in READ


@dataclass(frozen=True)
class ClassNow:
    """The class at one moment.

    Attributes:
        setup: How the batch was begun.
        everybody: Name → submission.
        working: A batch is at work.
        seconds_left: How long that will take; None where nobody can say.
        items: Id → item, by question and finding; within these in an order that tells no name.
    """

    setup: BatchSettings
    everybody: Mapping[str, GradedSubmission]
    working: bool
    seconds_left: float | None
    items: Mapping[str, Item]

    @property
    def grades(self) -> list[Grade]:
        """Return the grades, as lateness counts in the batch."""
        return grades_of(list(self.everybody.values()), self.setup.late)

    @property
    def decisions(self) -> list[tuple[str, PersonDecision]]:
        """Return what was decided: name of the submission, and decision."""
        return [(name, made) for name, each in self.everybody.items() for made in each.decisions]

    def decision(self, item: Item) -> PersonDecision | None:
        """Return what was decided on an item."""
        own = self.everybody[item.name].decisions if item.name in self.everybody else ()
        return next((made for made in own if made.place == item.place), None)

    @property
    def commented(self) -> list[str]:
        """Return the submissions with comments on lines."""
        return [name for name, each in self.everybody.items() if each.comments]

    def item_at(self, name: str, place: str) -> Item | None:
        """Return a check of a submission as an item, whatever the grader said of it."""
        done = self.everybody.get(name)
        check = check_at(done.counted, place) if done else None
        question = place.partition(".")[0]
        return Item(_id(self.setup, name, place), name, question, check) if check else None

    def alike(self, item: Item) -> list[Item]:
        """Return the others whose check has the same finding, as ``ReviewQueue`` has it."""
        own = apart(self.everybody[item.name], item.check)
        return [
            other
            for other in self.items.values()
            if other.place == item.place
            and other.name != item.name
            and same_finding(other.check, item.check)
            and apart(self.everybody[other.name], other.check) == own
        ]

    def state(self, item: Item) -> str:
        """Return what changes when the check is judged otherwise, or decided on."""
        check, decision = item.check, self.decision(item)
        parts = (check.code.value, check.message, check.score, check.max_score, decision)
        return blake2b(repr(parts).encode(), digest_size=12).hexdigest()


def comment_state(comment: LineComment | None) -> str:
    """Return what changes when somebody else writes on a line; empty where there is nothing."""
    said = repr(comment).encode()
    return blake2b(said, digest_size=12).hexdigest() if comment else ""


def _id(setup: BatchSettings, name: str, place: str) -> str:
    # The seed is not known outside the course: names cannot be tried one after the other.
    key = str(setup.seed).encode()[:64]
    return blake2b(f"{name}\0{place}".encode(), digest_size=9, key=key).hexdigest()


def _items(
    setup: BatchSettings,
    everybody: Mapping[str, GradedSubmission],
    known: Iterable[Item],
    fresh: Iterable[str],
) -> dict[str, Item]:
    """Return the items of a class; only those of fresh submissions are made anew."""
    new = set(fresh)
    found = [item for item in known if item.name in everybody and item.name not in new]
    found += [
        Item(_id(setup, name, f"{question.id}.{check.id}"), name, question.id, check)
        for name in new
        for question, check in awaited(everybody[name].counted)
    ]
    order = {
        question.id: number
        for done in everybody.values()
        for number, question in enumerate(done.counted.questions)
    }
    found.sort(key=lambda each: (order[each.question], each.check.id, each.check.message, each.id))
    return {each.id: each for each in found}


class ChangedError(GraderError):
    """An item is not as it was when its page was made."""

    exit_status = 1


class GradedClass:
    """A class on which several people decide; a context manager.

    The journal belongs to one program at a time. It is taken at a decision, and given back once
    nobody has decided for a while; reports and gradebook are written then.

    Args:
        out: ``--out`` of the batch.

    Raises:
        UsageError: No batch was begun there, or its journal is damaged.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.version = 0
        self.decided = False
        # A connection to a database belongs to the thread that made it; and one after the other is
        # the order in which decisions count.
        self._journal = ThreadPoolExecutor(1, "journal")
        self._lock = Lock()
        self._queue: ReviewQueue | None = None
        self._last_decision = 0.0
        self._unwritten: set[str] = set()
        self._marks: dict[str, int] = {}
        self._context: object = None
        self._signature: object = None
        self._due = 0.0
        self._open: dict[str, tuple[str, float]] = {}
        self.now = self._in_order(self._read)
        # An earlier desk may have been killed before it wrote the files.
        self._unwritten = {name for name, _ in self.now.decisions} | {*self.now.commented}
        self._ended = Event()
        self._keeper = Thread(target=self._keep_up, daemon=True)

    def __enter__(self) -> GradedClass:
        self._keeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._keeper.join()
        self.write_files()
        self._journal.shutdown()

    def _in_order(self, work: Callable[[], _Result]) -> _Result:
        return self._journal.submit(work).result()

    def decide(self, item: Item, wish: DecisionRequest, who: str, state: str) -> DecisionOutcome:
        """Have a decision in the journal.

        Args:
            item: What is decided.
            wish: What is given.
            who: Decides.
            state: Of the item as it was seen.

        Raises:
            ChangedError: Somebody else has decided since, or it was graded again.
            UsageError: It is not possible.
            InfrastructureError: The disk is full or broken.
        """

        def work() -> DecisionOutcome:
            with self._deciding() as queue:
                self._refuse_changed(item, state)
                outcome = queue.decide([wish], who)
            self._changed([(name, made.place, made) for name, made in outcome.made])
            return outcome

        return self._in_order(work)

    def undo(self, item: Item, state: str, same: bool) -> None:
        """Take a decision back.

        Args:
            item: Of which.
            state: Of the item as it was seen.
            same: From everybody who was given the same for the same finding, too.

        Raises:
            ChangedError: Somebody else has decided since.
            UsageError: Nothing was decided on it.
            InfrastructureError: The disk is full or broken.
        """

        def work() -> None:
            with self._deciding() as queue:
                self._refuse_changed(item, state)
                places = [text.rsplit(" ", 1) for text in queue.undo(item.name, item.place, same)]
            self._changed([(name, place, None) for name, place in places])

        self._in_order(work)

    def comment(self, name: str, request: CommentRequest, who: str, state: str) -> None:
        """Have a comment on a line in the journal, or taken out of it.

        Args:
            name: Of the submission.
            request: What is said, and where.
            who: Says it.
            state: Of what stood there as it was seen.

        Raises:
            ChangedError: Somebody else has written there since, or the file is another one.
            UsageError: It is not possible.
            InfrastructureError: The disk is full or broken.
        """

        def work() -> None:
            with self._deciding() as queue:
                done = self.now.everybody[name]
                earlier = comment_at(done, request)
                graded = {(file.path, file.sha256) for file in done.report.submission.files}
                known = earlier or (request.file, request.sha256) in graded
                if not known or comment_state(earlier) != state:
                    raise ChangedError(f"{request.file} has changed since you opened it")
                made = queue.comment(done, request, who)
            others = [each for each in done.comments if each != earlier]
            self._commented(done.with_comments([*others, made] if made else others))

        self._in_order(work)

    def _commented(self, done: GradedSubmission) -> None:
        """Take up a submission with its comments as they are now."""
        self.now = replace(self.now, everybody={**self.now.everybody, done.name: done})
        self._unwritten.add(done.name)
        self.decided = True
        self.version += 1

    def write_files(self) -> bool:
        """Give the journal back, write reports and gradebook; return whether that is done.

        Raises:
            InfrastructureError: The disk is full or broken.
        """

        def work() -> bool:
            # A batch at work has the journal, and this is tried again.
            with suppress(BusyError):
                if self._unwritten:
                    self._taken()
                    for name in self._unwritten & set(self.now.everybody):
                        write(self.now.everybody[name].report, self.out)
                    absent = [each.student() for each in self.now.setup.absent]
                    write_grades(self.now.grades, self.out, absent)
                    self._unwritten = set()
            if self._queue is not None:
                self._queue.__exit__()
                self._queue = None
            return not self._unwritten

        return self._in_order(work)

    def open(self, item_id: str, who: str) -> None:
        """Note that somebody has an item before them, and no other one."""
        with self._lock:
            held = self._open.get(item_id, ("", 0.0))
            free = held[0] in ("", who) or monotonic() - held[1] > _OPEN
            kept = {key: each for key, each in self._open.items() if each[0] != who}
            self._open = {**kept, item_id: (who, monotonic())} if free else kept
            self.version += 1

    def opened_by(self, item_id: str, me: str = "") -> str:
        """Return who else has an item open; empty where nobody has."""
        who, moment = self._open.get(item_id, ("", 0.0))
        return who if who != me and monotonic() - moment < _OPEN else ""

    def refresh(self) -> None:
        """Read what the journal has more than was read."""
        self._in_order(self._refresh)

    def _refresh(self) -> None:
        if self._queue is not None:
            # While it is ours nobody else writes to it, but others may leave decisions.
            if changed := self._queue.take_up():
                self.now = replace(self.now, everybody={**self.now.everybody, **changed})
                self._unwritten |= set(changed)
                self.version += 1
        elif self._signature != self._seen():
            self.now = self._read()
            self.version += 1

    def _keep_up(self) -> None:
        while not self._ended.wait(_EVERY):
            # A request reports what is wrong with the file; the next look may find it well.
            with suppress(GraderError, OSError):
                quiet = monotonic() - self._last_decision > _HELD
                if quiet and self._unwritten and not self.now.working:
                    self.write_files()
                begun = monotonic()
                if begun >= self._due:
                    self.refresh()
                    self._due = monotonic() + _SHARE * (monotonic() - begun)

    def _taken(self) -> ReviewQueue:
        self._refresh()
        if self._queue is None:
            # As it was read a moment ago; a class of a thousand takes seconds to read again.
            self._queue = ReviewQueue(self.out, self.now.everybody)
        self._last_decision = monotonic()
        return self._queue

    @contextmanager
    def _deciding(self) -> Iterator[ReviewQueue]:
        try:
            queue = self._taken()
        except BusyError:
            # It keeps its journal, and takes up what is left for it.
            with ReviewQueue(self.out, self.now.everybody, beside=True) as queue:
                yield queue
        else:
            yield queue

    def _refuse_changed(self, item: Item, state: str) -> None:
        found = self.now.item_at(item.name, item.place)
        if found is None or self.now.state(found) != state:
            raise ChangedError(f"{item.place} has changed since you opened it")

    def _changed(self, made: Iterable[tuple[str, str, PersonDecision | None]]) -> None:
        """Take up decisions, and those that were taken back: name, place, decision."""
        everybody = dict(self.now.everybody)
        for name, place, decision in made:
            others = [each for each in everybody[name].decisions if each.place != place]
            own = others if decision is None else [*others, decision]
            everybody[name] = everybody[name].with_decisions(own)
            self._unwritten.add(name)
        self.now = replace(self.now, everybody=everybody)
        self.decided = True
        self.version += 1

    def _read(self) -> ClassNow:
        """Return the class as it is in the journal; only what is new there is parsed."""
        self._signature = self._seen()
        known = self.now.everybody if self._marks else {}
        items = self.now.items if self._marks else {}
        with watched(self.out / JOURNAL_FILE) as (journal, working):
            setup = setup_of(journal, self.out)
            context = (setup.gpu, setup.roster, setup.begun_at and setup.seed)
            marks, moments, people = {}, [], {}
            for entry in journal.entries():
                marks[entry.name] = hash((entry.report, entry.machines))
                moments.append(entry.about.get(GRADED_AT))
                people[entry.name] = entry.decisions, entry.comments
            before = self._marks if context == self._context else {}
            fresh = [name for name, mark in marks.items() if before.get(name) != mark]
            new = {each.name: each for each in graded_so_far(journal, fresh)}
        everybody = {
            name: (new.get(name) or known[name])
            .with_decisions(decisions_in(decided, name))
            .with_comments(comments_in(said, name))
            for name, (decided, said) in people.items()
        }
        self._marks, self._context = marks, context
        left = max(0, setup.total - len(everybody))
        times = [dt.datetime.fromisoformat(text) for text in moments if text]
        return ClassNow(
            setup,
            everybody,
            working,
            seconds_left(setup, times, left) if working else None,
            _items(setup, everybody, items.values(), fresh),
        )

    def _seen(self) -> object:
        path = self.out / JOURNAL_FILE
        found = []
        for name in (path.name, f"{path.name}-wal"):
            with suppress(FileNotFoundError):
                state = path.with_name(name).stat()
                found.append((state.st_ino, state.st_mtime_ns, state.st_size))
        return found, sorted(each.name for each in path.with_name(LEFT_FOLDER).glob("*.json"))
