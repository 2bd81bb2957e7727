"""The journal of a batch: all of a hand-in is in it, or nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.errors import InfrastructureError, UsageError
from grader.store.journal import (
    JOURNAL_FILE,
    PREVIOUS_FILE,
    Journal,
    JournalEntry,
    create,
    open_journal,
)

HEADER = {"assignment": "toy", "seed": 7}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / JOURNAL_FILE


def entries(path: Path) -> list[JournalEntry]:
    with open_journal(path) as journal:
        return list(journal.entries())


def test_what_was_recorded_is_read_back(path: Path) -> None:
    with create(path, HEADER) as journal:
        journal.record(JournalEntry("b", "d2", b"{}", {"late": True}, timed=False))
        journal.record(JournalEntry("a", "d1", b'{"score": 1}', kept=b"\x00\x01"))
        journal.record(JournalEntry("b", "d2", b"{2}"))
    assert entries(path) == [
        JournalEntry("a", "d1", b'{"score": 1}'),
        JournalEntry("b", "d2", b"{2}"),
    ]
    with open_journal(path) as journal:
        assert journal.header() == HEADER
        assert journal.kept("a") == b"\x00\x01"
        assert journal.kept("b") is None
        assert journal.kept("nobody") is None


def test_comments_are_by_line_and_stay_when_a_submission_is_graded_again(path: Path) -> None:
    with create(path, HEADER) as journal:
        for name, place, text in (("b", "x:2", "1"), ("b", "x:1", "2"), ("b", "x:2", "3")):
            journal.say([("commented", name, place, text)])
        journal.say([("commented", "a", "x:1", "4")])
        journal.say([("commented", "a", "x:1", None)])
        journal.record(JournalEntry("a", "d", b"{}"))
        journal.record(JournalEntry("b", "d", b"{}"))
        assert journal.commented() == {"b": ["2", "3"]}
        assert journal.commented("a") == {}
        assert [each.comments for each in journal.entries()] == [(), ("2", "3")]
        assert [each.comments for each in journal.entries(["b"])] == [("2", "3")]


def test_beginning_anew_replaces(path: Path) -> None:
    with create(path, HEADER) as journal:
        journal.record(JournalEntry("a", "d", b"{}"))
    create(path, {"seed": 8}).close()
    assert entries(path) == []
    with open_journal(path) as journal:
        assert journal.header() == {"seed": 8}
    # Whoever forgot --resume can go back.
    path.with_name(PREVIOUS_FILE).rename(path)
    assert [entry.name for entry in entries(path)] == ["a"]


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 300])
def test_a_damaged_one_is_named_and_can_be_replaced(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(UsageError, match=JOURNAL_FILE):
        open_journal(path)
    create(path, HEADER).close()
    assert entries(path) == []


def test_a_torn_one_is_damaged(path: Path) -> None:
    with create(path, HEADER) as journal:
        for number in range(200):
            journal.record(JournalEntry(f"s{number}", "d", os.urandom(4000)))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(UsageError, match="damaged"):
        list(open_journal(path).entries())


def test_absent(path: Path) -> None:
    with pytest.raises(UsageError, match="no batch was begun there"):
        open_journal(path)


def test_two_at_once_are_refused(path: Path) -> None:
    with create(path, HEADER) as journal:
        journal.record(JournalEntry("a", "d", b"{}"))
        for begin in (lambda: open_journal(path), lambda: create(path, HEADER)):
            with pytest.raises(UsageError, match="another `grader` is at work"):
                begin()
    assert len(entries(path)) == 1


def test_an_unwritable_folder(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="cannot be written"):
        create(tmp_path / "absent" / JOURNAL_FILE, HEADER)


WRITER = """
import sys
from pathlib import Path
from grader.store.journal import JournalEntry, create

journal = create(Path(sys.argv[1]), {"seed": 7})
number = 0
while True:
    journal.record(JournalEntry(f"s{number:06}", "d", b"x" * 50_000, kept=b"k" * 5_000))
    print(number, flush=True)
    number += 1
"""


@pytest.mark.parametrize("after", [0, 1, 7, 40])
def test_killed_at_any_moment_it_holds_what_it_said(path: Path, after: int) -> None:
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        while int(process.stdout.readline()) < after:
            pass
        process.send_signal(signal.SIGKILL)
        said = [after, *map(int, process.stdout.read().split())]
    kept = entries(path)
    # One more may be whole than was said.
    assert len(kept) - (said[-1] + 1) in (0, 1)
    assert all(len(entry.report) == 50_000 for entry in kept)


def test_a_full_disk_loses_nothing(path: Path) -> None:
    journal: Journal = create(path, HEADER)
    journal.record(JournalEntry("a", "d", b"{}"))
    pages = journal._connection.execute("PRAGMA page_count").fetchone()[0]
    journal._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(InfrastructureError, match="full; free some space"):
        journal.record(JournalEntry("b", "d", os.urandom(200_000)))
    journal.close()
    assert entries(path) == [JournalEntry("a", "d", b"{}")]
