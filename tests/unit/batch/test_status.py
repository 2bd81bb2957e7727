"""How far a batch is, from another shell: while it runs, after it was stopped, and at its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from in_process import Here
from test_batch_commands import BATCH, book

from grader.batch.ledger import graded_so_far, record, setup_of
from grader.batch.status import BatchStatus, read_standing
from grader.report.model import Report
from grader.store.journal import JOURNAL_FILE, Journal, JournalEntry, open_journal

AT_WORK = """\
import sys
from dataclasses import replace
from pathlib import Path
from grader.store.journal import open_journal

with open_journal(Path(sys.argv[1])) as journal:
    first = next(journal.entries())
    journal.record(replace(first, name="zoe"))
    print("at work", flush=True)
    sys.stdin.read()
"""


def said(command: Any, capsys: Any) -> list[str]:
    capsys.readouterr()
    assert command("status", "out") == 0
    lines: list[str] = capsys.readouterr().out.splitlines()
    return lines


def test_a_batch_that_was_interrupted_and_gone_on_with(
    course: Path, command: Any, capsys: Any
) -> None:
    Here.most = 2
    assert command(*BATCH) == 130
    assert said(command, capsys) == [
        "tiny: 2 of 5 graded. No batch is at work: run the same `grader batch` with --resume to "
        "go on.",
        "To go: 3 submissions.",
    ]
    Here.most = 99
    assert command(*BATCH, "--resume") == 0
    assert said(command, capsys) == ["tiny: 5 of 5 graded. It is finished."]


def test_a_batch_at_work_is_looked_at_without_disturbing_it(
    course: Path, command: Any, capsys: Any
) -> None:
    Here.most = 2
    assert command(*BATCH) == 130
    journal = course / "out" / JOURNAL_FILE
    with subprocess.Popen(
        [sys.executable, "-c", AT_WORK, str(journal)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "at work\n"
        lines = said(command, capsys)
        assert lines[0].startswith("tiny: 3 of 5 graded. A batch is at work; about ")
        assert command("rejudge", "out") == 2
        assert "another `grader` is at work" in capsys.readouterr().err
        other.kill()
    assert said(command, capsys)[0].startswith("tiny: 3 of 5 graded. No batch is at work")


def test_who_is_waited_for(course: Path, command: Any) -> None:
    assert command(*BATCH) == 0
    with open_journal(course / "out" / JOURNAL_FILE) as journal:
        header = setup_of(journal, course / "out").model_copy(update={"clock": True})
        journal.replace_header(header.model_dump(mode="json"))
        done = {each.submission.name: each for each in graded_so_far(journal)}
        for name, changes in (
            ("bob", {'"status":"graded"': '"status":"incomplete"'}),
            ("cem", {'"code":"input_modified"': '"code":"needs_review"',
                     '"max_score":1.0,"pending":0.0': '"max_score":1.0,"pending":1.0'}),
        ):  # fmt: skip
            text = done[name].run.model_dump_json()
            for old, new in changes.items():
                assert old in text
                text = text.replace(old, new)
            changed = done[name].with_run(Report.model_validate_json(text))
            record(journal, replace(changed, timed=name != "bob"))
    standing = read_standing(course / "out")
    assert (standing.failed, standing.person, standing.untimed) == (("bob",), ("cem",), 1)
    lines = list(standing.sentences(Path("out")))
    assert "The grader failed at: bob. --resume runs them again; no points are lost." in lines
    assert "Waiting for a person: cem. `grader review out` goes through them." in lines


def test_words_while_it_runs() -> None:
    standing = BatchStatus("tiny", 60, 15, (), (), 4, working=True, seconds_left=600.0)
    assert list(standing.sentences(Path("out"))) == [
        "tiny: 15 of 60 graded. A batch is at work; about 10 min left.",
        "To go: 45 submissions.",
        "To be timed, one at a time: 4 submissions.",
    ]


def test_nothing_was_begun(course: Path, command: Any, capsys: Any) -> None:
    assert command("status", "class") == 2
    assert "no batch was begun there" in capsys.readouterr().err


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_keeps_what_was_graded(
    course: Path, command: Any, capsys: Any, monkeypatch: Any, sent: signal.Signals
) -> None:
    real, written = Journal.record, []

    def record(self: Journal, entry: JournalEntry) -> None:
        real(self, entry)
        written.append(entry.name)
        if len(written) == 3:
            os.kill(os.getpid(), sent)

    monkeypatch.setattr(Journal, "record", record)
    assert command(*BATCH) == 128 + sent
    printed = capsys.readouterr()
    assert "What was graded is kept; --resume goes on." in printed.err
    assert "Stopped early: 3 of 5 graded." in printed.out
    assert sorted(written) == sorted(book(course))
    assert command(*BATCH, "--resume") == 0
    assert read_standing(course / "out").done == 5
