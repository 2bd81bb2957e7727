"""Journals as an earlier version wrote them: what other machines said was within the reports."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path

from grader.batch.ledger import graded_so_far
from grader.store.journal import open_journal


def as_version_1(path: Path) -> None:
    """Make a journal one of version 1."""
    with open_journal(path) as journal:
        merged = {each.name: each.said.model_dump_json() for each in graded_so_far(journal)}
    with sqlite3.connect(path) as connection:
        for name, report in merged.items():
            deflated = zlib.compress(report.encode())
            connection.execute("UPDATE graded SET report = ? WHERE name = ?", (deflated, name))
        connection.execute("ALTER TABLE graded DROP COLUMN machines")
        connection.execute("DROP TABLE taken_up")
        for table in ("answered", "decided", "commented"):
            if not connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
                connection.execute(f"DROP TABLE {table}")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
