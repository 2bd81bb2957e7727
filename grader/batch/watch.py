"""A watched folder: what arrives there is graded until somebody ends it.

A submission is handed over once it looked the same twice in a row, and again when it changes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic

from grader.batch.class_run import ClassRun
from grader.batch.discover import ClassSubmission, apart, discover, entries_of
from grader.batch.graded import GradedSubmission
from grader.batch.schedule import StayingWorkers, Workers
from grader.errors import UsageError
from grader.report.model import Report
from grader.text import inert

_LOOK_EVERY = 2.0
"""Seconds between two looks into the folder; an upload rarely stands still for so long …"""
_SHARE = 20
"""… and at least this many times as long as a look takes, which grows with the folder."""
_MAX_LINE = 400


def watch(
    run: ClassRun, folder: Path, workers: Workers, awaits_clock: Callable[[Report], bool]
) -> Generator[str | GradedSubmission, None, None]:
    """Grade what arrives, until whoever iterates closes this; the workers end with it.

    Args:
        run: The batch.
        folder: As ``grader batch`` takes it; may be empty so far.
        workers: Do the work.
        awaits_clock: Returns whether a report made without the clock has to be timed.

    Yields:
        What is to be said of the folder and of the roster, each once; and each submission that is
        graded now, twice where it is timed.

    Raises:
        InfrastructureError: The disk is full or broken, or no worker can begin.
    """
    before = [(done.submission, done.digest) for done in run.everybody()]
    arrivals = Arrivals(folder, run.out, [submission for submission, _ in before])
    known = {submission.name: digest for submission, digest in before}
    staying = StayingWorkers(workers)
    said: set[str] = set()
    try:
        while True:
            begun = monotonic()
            fresh, news = _looked(arrivals)
            took = monotonic() - begun
            yield from (text for text in news if text not in said)
            said.update(news)
            if fresh:
                yield from run.expect(fresh)
                yield from _graded_now(run, run.grade(staying, fresh, awaits_clock), known)
            run.keep_up()
            time.sleep(max(_LOOK_EVERY, _SHARE * took))
    finally:
        workers.close(finished=False)


def _looked(arrivals: Arrivals) -> tuple[list[ClassSubmission], list[str]]:
    """Return what has arrived, and what is wrong with the folder or left alone in it."""
    try:
        fresh = arrivals.look()
        news = [f"Left alone, by its ending no submission: {name}" for name in arrivals.left_out]
    except UsageError as error:
        # Whoever put it there can mend it while others are graded.
        fresh, news = [], [f"Waiting: {error}"]
    return fresh, [inert(text, _MAX_LINE) for text in news]


def _graded_now(
    run: ClassRun, results: Generator[GradedSubmission, None, None], known: dict[str, str]
) -> Generator[GradedSubmission, None, None]:
    """Yield each that is graded now, and not what an earlier start has graded.

    Args:
        run: Whose gradebook keeps up with them.
        results: What comes of them.
        known: Name → digest of what was graded before; those graded now are added.
    """
    try:
        for graded in results:
            name = graded.name
            if not graded.timed or not graded.digest or known.get(name) != graded.digest:
                yield graded
            if graded.timed:
                known[name] = graded.digest
            run.keep_up()
    finally:
        results.close()


_MOST_FILES = 5000
"""Files of one entry that are looked at; what a student hands in has far fewer."""
_UNMARKED = frozenset({".git", "__pycache__"})

_Mark = tuple[tuple[str, int, int], ...]
"""Path, size and time of change of each file of an entry."""


class Arrivals:
    """A watched folder: which submissions in it are whole, new or changed.

    A submission's name stays the one that the batch knows it by: ``mina.zip`` beside ``mina.py``
    renames nobody.

    Defends against: files that are still being copied, a list of submissions half written, folders
    with very many files, a stray file that makes a platform's download look like another one.
    Does not defend against: an upload that stands still between two looks. It is graded as it
    lies, and once more when the rest has come.

    Args:
        folder: As ``grader batch`` takes it; may be empty so far.
        out: Where reports go; no submission, should it lie in the folder.
        known: What the batch has graded before.

    Attributes:
        left_out: Names of entries that are nobody's submission by their ending.
    """

    def __init__(self, folder: Path, out: Path, known: Iterable[ClassSubmission]) -> None:
        self._folder, self._out = folder, out
        self._last: dict[Path, _Mark] = {}
        self._given: dict[Path, _Mark] = {}
        self._names: dict[str, str] = {}
        self.left_out: tuple[str, ...] = ()
        self._by_platform = False
        for submission in known:
            self._remember(submission)

    def look(self) -> list[ClassSubmission]:
        """Return what is whole now and has not been handed over as it is.

        Raises:
            UsageError: The folder is not there, or what lies in it cannot be told apart.
        """
        marks = {entry: _mark(entry) for entry in self._entries()}
        # An empty folder is one whose files are still to come.
        whole = {entry for entry, mark in marks.items() if mark and self._last.get(entry) == mark}
        self._last = marks
        fresh = {entry for entry in whole if self._given.get(entry) != marks[entry]}
        if not fresh:
            return []
        arrived = []
        for submission in self._found():
            entries = {
                next((each for each in (path, *path.parents) if each in marks), path)
                for path in submission.paths
            }
            if entries <= whole and entries & fresh:
                arrived.append(submission)
        # All that is new, not only what arrived: an entry that is no submission would else be read
        # at every look.
        self._given |= {entry: marks[entry] for entry in fresh}
        for submission in arrived:
            self._remember(submission)
        return arrived

    def _entries(self) -> list[Path]:
        if self._folder.is_file():
            lines = (line.strip() for line in self._folder.read_text().splitlines())
            listed = [self._folder.parent / line for line in lines if line and line[0] != "#"]
            return [self._folder, *listed]
        return entries_of(self._folder, self._out)

    def _found(self) -> Iterator[ClassSubmission]:
        """Yield the submissions of the folder, under the names that the batch knows.

        Raises:
            UsageError: A platform's download has become something else.
        """
        found = discover(self._folder, self._out)
        self.left_out = found.left_out
        if self._by_platform and not any(each.students for each in found.submissions):
            raise UsageError(
                f"{self._folder}: holds something beside the files of the platform, so nobody can "
                "tell whose they are; take it away, and grading goes on"
            )
        known = {each.name: self._known_as(each) for each in found.submissions}
        taken = [name for name in known.values() if name]
        for submission in found.submissions:
            name = known[submission.name]
            if not name:
                *_, name = apart([*taken, submission.name])
                taken.append(name)
            yield replace(submission, name=name)

    def _known_as(self, submission: ClassSubmission) -> str:
        """Return the name that the batch knows a submission by; empty for a new one."""
        places = map(os.path.abspath, submission.paths)
        return next((self._names[place] for place in places if place in self._names), "")

    def _remember(self, submission: ClassSubmission) -> None:
        self._by_platform |= bool(submission.students)
        self._names |= dict.fromkeys(map(os.path.abspath, submission.paths), submission.name)


def _mark(entry: Path) -> _Mark:
    """Return what changes while an entry is being written; empty for one that has gone."""
    return tuple(sorted(_files(entry)))


def _files(entry: Path) -> Iterator[tuple[str, int, int]]:
    left = _MOST_FILES
    if not entry.is_dir():
        yield from _stat(str(entry))
        return
    for folder, inner, names in os.walk(entry):
        inner[:] = sorted(set(inner) - _UNMARKED)
        for name in sorted(names)[:left]:
            yield from _stat(f"{folder}/{name}")
        left -= len(names)
        if left <= 0:
            return


def _stat(path: str) -> Iterator[tuple[str, int, int]]:
    try:
        # Of a link itself: it may lead to a device, or to a file that changes all the time.
        found = os.lstat(path)
    except OSError:
        return
    yield path, found.st_size, found.st_mtime_ns
