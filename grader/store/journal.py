"""The journal of a batch: what ran, and what came of it, in one SQLite file.

A submission is in it or is not, whatever happens to the process that writes: each is one
transaction of a database in write-ahead mode. What it holds is the truth from which the gradebook
is made; the files beside it can be written again from it.

Defends against: ``kill -9`` at any moment, a full disk, another batch at work in the same folder,
a file that is no journal or a damaged one.
Does not defend against: a power cut, which may lose the last seconds; they are graded again.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from grader.errors import GraderError, InfrastructureError, UsageError
from grader.store.files import write_atomic


class DamagedError(UsageError):
    """A file that cannot be read."""


class BusyError(UsageError):
    """Another program has the journal."""


@contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection that nobody else has beside it; it is closed only where the body fails.

    Raises:
        UsageError: Another program has it, or it is damaged.
        InfrastructureError: The disk is full or broken.
    """
    try:
        # A second batch in the same folder gets this message at once.
        connection = sqlite3.connect(path, timeout=0.1, isolation_level=None)
    except sqlite3.Error as error:
        raise explained(path, error) from error
    try:
        # Held until the connection is closed: two batches in one folder would overwrite each
        # other's reports.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        # A write is one append to the log: a batch that is killed in the middle of one loses that
        # entry and no other.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        yield connection
    except sqlite3.Error as error:
        connection.close()
        raise explained(path, error) from error
    except BaseException:
        connection.close()
        raise


def explained(path: Path, error: sqlite3.Error) -> GraderError:
    """Return the message for an error."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return BusyError(
            f"{path}: another `grader` is at work in this folder; wait for it, or name another "
            "--out"
        )
    if "malformed" in text or "not a database" in text:
        return damaged(path, text)
    advice = "; free some space and run again with --resume" if "full" in text else ""
    return InfrastructureError(f"{path}: cannot be written or read: {text}{advice}")


def damaged(path: Path, detail: str) -> DamagedError:
    """Return the message for a file that cannot be read."""
    return DamagedError(
        f"{path}: is damaged ({detail}), so there is nothing to resume from. The reports in the "
        "folders beside it are untouched; grade again into another --out"
    )


JOURNAL_FILE = "journal.sqlite"
LEFT_FOLDER = "journal.decisions"
"""Holds what people decide while the journal is in use; whoever has it takes that up."""
PREVIOUS_FILE = "journal.previous.sqlite"
PREVIOUS_LEFT = "journal.previous.decisions"
_VERSION = 2
_TABLES = """
CREATE TABLE header (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE graded (
    name TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    timed INTEGER NOT NULL,
    about TEXT NOT NULL,
    report BLOB NOT NULL,
    kept BLOB,
    machines BLOB
) WITHOUT ROWID;
CREATE TABLE decided (
    name TEXT, place TEXT, decision TEXT NOT NULL, PRIMARY KEY (name, place)
) WITHOUT ROWID;
CREATE TABLE commented (
    name TEXT, place TEXT, comment TEXT NOT NULL, PRIMARY KEY (name, place)
) WITHOUT ROWID;
CREATE TABLE answered (key TEXT PRIMARY KEY, answers BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE taken_up (file TEXT PRIMARY KEY) WITHOUT ROWID;
"""
# A journal of version 1 has what other machines said within its reports, and no comments; the other
# two tables were made when they were first written to.
_FROM_VERSION_1 = """
ALTER TABLE graded ADD COLUMN machines BLOB;
CREATE TABLE IF NOT EXISTS decided (
    name TEXT, place TEXT, decision TEXT NOT NULL, PRIMARY KEY (name, place)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS commented (
    name TEXT, place TEXT, comment TEXT NOT NULL, PRIMARY KEY (name, place)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answered (key TEXT PRIMARY KEY, answers BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE taken_up (file TEXT PRIMARY KEY) WITHOUT ROWID;
"""


class NotBegunError(UsageError):
    """There is no journal yet, or what made it was killed before it had begun."""


Word = tuple[str, str, str, str | None]
"""``decided`` or ``commented``, submission, place, and what a person says there, as JSON.

The place is a check, or file, line and version. None takes back what was said there."""
_SAY = {
    "decided": "REPLACE INTO decided VALUES (?, ?, ?)",
    "commented": "REPLACE INTO commented VALUES (?, ?, ?)",
}
_TAKE_BACK = {
    "decided": "DELETE FROM decided WHERE name = ? AND place = ?",
    "commented": "DELETE FROM commented WHERE name = ? AND place = ?",
}


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One submission that is done: a row of the journal.

    Attributes:
        name: Of the submission.
        digest: Over its files; empty where it could not be read.
        report: What the run said, ``report.json``, deflated.
        about: What the platform says about it; plain JSON.
        timed: Speed was measured too, or did not have to be.
        kept: What was observed, for judging again; None where nothing was, or where it was not
            asked for.
        machines: What other machines said, as JSON, deflated; None where an earlier version has it
            within the report.
        decisions: What people decided, each as JSON.
        comments: What people say of lines, each as JSON.
    """

    name: str
    digest: str
    report: bytes
    about: Mapping[str, Any] = field(default_factory=dict)
    timed: bool = True
    kept: bytes | None = None
    machines: bytes | None = None
    decisions: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()


class Journal:
    """An open journal; a context manager.

    Attributes:
        folder: Of the batch; of a copy too.

    Args:
        connection: To a database that ``create`` or ``open_journal`` has checked.
        path: Of the file, for messages.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self.folder = path.parent

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it; afterwards the file is whole without the write-ahead log beside it."""
        self._connection.close()

    def header(self) -> dict[str, Any]:
        """Return what the batch was started with."""
        with self._explained():
            rows = self._connection.execute("SELECT key, value FROM header").fetchall()
        return {key: json.loads(value) for key, value in rows}

    def replace_header(self, header: Mapping[str, Any]) -> None:
        """Write down that the batch stands under something else now.

        Raises:
            InfrastructureError: The disk is full or broken. The journal is as it was.
        """
        rows = [(key, json.dumps(value)) for key, value in header.items()]
        with self._explained():
            self._connection.execute("BEGIN")
            self._connection.execute("DELETE FROM header")
            self._connection.executemany("INSERT INTO header VALUES (?, ?)", rows)
            self._connection.execute("COMMIT")

    def record(self, entry: JournalEntry) -> None:
        """Write down that a submission is done; an earlier entry of that name is replaced.

        What people decided and said of lines stays.

        Raises:
            InfrastructureError: The disk is full or broken. The journal is as it was.
        """
        row = (
            entry.name,
            entry.digest,
            int(entry.timed),
            json.dumps(entry.about),
            entry.report,
            entry.kept,
            entry.machines,
        )
        with self._explained():
            # One statement is one transaction: after a crash the entry is there whole, or the
            # earlier one is.
            self._connection.execute("REPLACE INTO graded VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def revise(self, entry: JournalEntry) -> None:
        """Write down what is said of a submission now; nothing ran, so the rest of it stays.

        Raises:
            InfrastructureError: The disk is full or broken. The journal is as it was.
        """
        with self._explained():
            self._connection.execute(
                "UPDATE graded SET report = ?, machines = ? WHERE name = ?",
                (entry.report, entry.machines, entry.name),
            )

    def entries(self, names: Iterable[str] | None = None) -> Iterator[JournalEntry]:
        """Yield everything that is done, by name, without what was kept of it.

        Args:
            names: These alone, in their order.
        """
        with self._explained():
            for name, digest, report, about, timed, machines in self._rows(names):
                yield JournalEntry(
                    name,
                    digest,
                    report,
                    json.loads(about),
                    bool(timed),
                    machines=machines,
                    decisions=tuple(self.decided(name).get(name, ())),
                    comments=tuple(self.commented(name).get(name, ())),
                )

    def _rows(self, names: Iterable[str] | None) -> Iterator[Any]:
        select = "SELECT name, digest, report, about, timed, machines FROM graded"
        if names is None:
            yield from self._connection.execute(f"{select} ORDER BY name")
        else:
            for name in names:
                yield from self._connection.execute(f"{select} WHERE name = ?", (name,))

    def kept(self, name: str) -> bytes | None:
        """Return what was kept of a submission."""
        with self._explained():
            row = self._connection.execute(
                "SELECT kept FROM graded WHERE name = ?", (name,)
            ).fetchone()
        return None if row is None else row[0]

    def keep_answers(self, key: str, answers: bytes) -> None:
        """Keep the reference's answers, before any entry that names them.

        Raises:
            InfrastructureError: The disk is full or broken. The journal is as it was.
        """
        with self._explained():
            self._connection.execute("REPLACE INTO answered VALUES (?, ?)", (key, answers))

    def answers(self, key: str) -> bytes | None:
        """Return the reference's answers that an entry names."""
        with self._explained():
            row = self._connection.execute(
                "SELECT answers FROM answered WHERE key = ?", (key,)
            ).fetchone()
        return None if row is None else row[0]

    def say(self, words: Iterable[Word], file: str = "") -> None:
        """Write down what people say of submissions: all of it, or nothing.

        Args:
            words: What is said, or taken back.
            file: Where that was left, for the journal to take up once.

        Raises:
            InfrastructureError: The disk is full or broken. The journal is as it was.
        """
        with self._explained(), self._connection:
            self._connection.execute("BEGIN")
            for table, name, place, text in words:
                if text is None:
                    self._connection.execute(_TAKE_BACK[table], (name, place))
                else:
                    self._connection.execute(_SAY[table], (name, place, text))
            if file:
                self._connection.execute("INSERT INTO taken_up VALUES (?)", (file,))

    def take_up(self) -> set[str]:
        """Write down what people said while this journal was in use; return of whom.

        Raises:
            UsageError: What was left cannot be read.
            InfrastructureError: The disk is full or broken. What was left is still there.
        """
        concerned: set[str] = set()
        for path in sorted(self._path.with_name(LEFT_FOLDER).glob("*.json")):
            concerned |= self._take_up(path)
        return concerned

    def _take_up(self, path: Path) -> set[str]:
        try:
            words: list[Word] = [(*each,) for each in json.loads(path.read_text("utf-8"))]
            with self._explained():
                known = self._connection.execute(
                    "SELECT 1 FROM taken_up WHERE file = ?", (path.name,)
                ).fetchone()
            # Once, also where this is killed between the two: later decisions must not be lost.
            if known is None:
                self.say(words, path.name)
            path.unlink()
        except (OSError, ValueError, KeyError) as error:
            raise UsageError(
                f"{path}: holds decisions that cannot be read: {error}; take it away, and decide "
                "again"
            ) from error
        return {name for _, name, *_ in words} if known is None else set()

    def decided(self, submission: str | None = None) -> dict[str, list[str]]:
        """Return what people decided, as JSON: submission → its decisions.

        Args:
            submission: This one alone.
        """
        return self._said("SELECT name, decision FROM decided", submission)

    def commented(self, submission: str | None = None) -> dict[str, list[str]]:
        """Return what people say of lines, as JSON: submission → its comments.

        Args:
            submission: This one alone.
        """
        return self._said("SELECT name, comment FROM commented", submission)

    def _said(self, select: str, submission: str | None) -> dict[str, list[str]]:
        where, values = ("", ()) if submission is None else (" WHERE name = ?", (submission,))
        found: dict[str, list[str]] = {}
        with self._explained():
            rows = self._connection.execute(f"{select}{where} ORDER BY place", values)
            for name, text in rows:
                found.setdefault(name, []).append(text)
        return found

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise explained(self._path, error) from error


def create(path: Path, header: Mapping[str, Any]) -> Journal:
    """Begin a journal; one that is already there is set aside, in the place of an older one.

    Whoever forgot to go on with a batch has lost nothing: renamed back, it can be gone on with.

    Args:
        path: Its file.
        header: What the batch is started with; plain JSON.

    Raises:
        UsageError: Another batch is writing to it.
        InfrastructureError: It cannot be written.
    """
    if path.is_file():
        _refuse_if_in_use(path)
    try:
        shutil.rmtree(path.with_name(PREVIOUS_LEFT), ignore_errors=True)
        with suppress(FileNotFoundError):
            path.with_name(LEFT_FOLDER).rename(path.with_name(PREVIOUS_LEFT))
        # All three files: a new journal beside an old log would replay the old batch into it.
        for suffix in ("", "-wal", "-shm"):
            aside = path.with_name(PREVIOUS_FILE + suffix)
            aside.unlink(missing_ok=True)
            if (there := path.with_name(path.name + suffix)).exists():
                there.rename(aside)
    except OSError as error:
        raise UsageError(f"{path}: cannot be replaced: {error.strerror}") from error
    # The second one commits, or takes everything back: a journal that has tables has its header
    # too.
    with connected(path) as connection, connection:
        connection.execute("BEGIN EXCLUSIVE")
        _execute_all(connection, _TABLES)
        rows = [(key, json.dumps(value)) for key, value in header.items()]
        connection.executemany("INSERT INTO header VALUES (?, ?)", rows)
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    return Journal(connection, path)


def open_journal(path: Path) -> Journal:
    """Open a journal that is there.

    Raises:
        NotBegunError: There is none.
        UsageError: It is damaged or of another version, or a batch is writing to it.
        InfrastructureError: The disk is full or broken.
    """
    if not path.is_file():
        raise NotBegunError(
            f"{path.parent}: holds no {path.name}, so no batch was begun there; "
            "name the --out folder of `grader batch`"
        )
    with connected(path) as connection:
        # Before anything is read: a damaged page would show as missing submissions, which would be
        # graded as if new.
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise damaged(path, verdict)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise NotBegunError(f"{path}: is empty: a batch was killed before it had begun")
        if version == 1:
            with connection:
                connection.execute("BEGIN")
                _execute_all(connection, _FROM_VERSION_1)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
        elif version != _VERSION:
            raise UsageError(
                f"{path}: is of version {version}, and this program reads versions 1 and "
                f"{_VERSION}; go on with the version that began it, or begin anew in another folder"
            )
        journal = Journal(connection, path)
        journal.take_up()
    return journal


def leave(path: Path, words: Iterable[Word]) -> None:
    """Leave what people say for a journal that is in use: all of it, or nothing.

    They count at once for whoever looks (``watched``), and are in the journal once whoever has it
    takes them up, or the next one opens it.

    Raises:
        InfrastructureError: The disk is full or broken.
    """
    # In the order in which they were made: the later one counts.
    name = f"{time.time_ns():020}-{os.getpid()}.json"
    write_atomic(path.with_name(LEFT_FOLDER) / name, json.dumps(list(words)).encode())


def _execute_all(connection: sqlite3.Connection, statements: str) -> None:
    # Not executescript, which commits before it begins.
    for statement in filter(str.strip, statements.split(";")):
        connection.execute(statement)


@contextmanager
def watched(path: Path) -> Iterator[tuple[Journal, bool]]:
    """Give a journal to read from, and whether a batch is at work on it.

    A batch keeps its journal to itself, so that of a batch at work is a copy of this moment.

    Raises:
        NotBegunError: There is none.
        UsageError: It is damaged or of another version.
        InfrastructureError: The disk is full or broken.
    """
    try:
        journal = open_journal(path)
    except BusyError:
        with TemporaryDirectory() as folder, _copied(path, Path(folder)) as journal:
            yield journal, True
    else:
        with journal:
            yield journal, False


_TRIES = 20
_PAUSE = 0.05


def _copied(path: Path, folder: Path) -> Journal:
    """Return a copy of a journal that is being written to.

    Frames are only ever added to the log beside the file, until they are moved into the file. So a
    copy is whole if the file did not change meanwhile.
    """
    for _ in range(_TRIES):
        before = path.stat()
        # Before the journal, which may take them up meanwhile.
        with suppress(FileNotFoundError):
            left = path.with_name(LEFT_FOLDER)
            shutil.copytree(left, folder / LEFT_FOLDER, dirs_exist_ok=True)
        for name in (path.name, f"{path.name}-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(path.with_name(name), folder / name)
        after = path.stat()
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
            journal = open_journal(folder / path.name)
            journal.folder = path.parent
            return journal
        time.sleep(_PAUSE)
    raise BusyError(f"{path}: is being written to all the time; try again in a moment")


def _refuse_if_in_use(path: Path) -> None:
    try:
        with connected(path) as connection:
            connection.execute("PRAGMA user_version").fetchone()
        connection.close()
    except DamagedError:
        return  # it is about to be replaced
