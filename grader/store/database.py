"""Opening an SQLite file as a batch needs it, and what its errors mean to whoever grades."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.errors import GraderError, InfrastructureError, UsageError


class DamagedError(UsageError):
    """A file that cannot be read."""


@contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection that nobody else has beside it; it is closed only where the body fails.

    Raises:
        UsageError: Another program has it, or it is damaged.
        InfrastructureError: The disk is full or broken.
    """
    try:
        # A second batch in the same folder is told so at once.
        connection = sqlite3.connect(path, timeout=0.1, isolation_level=None)
    except sqlite3.Error as error:
        raise explained(path, error) from error
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
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
    """Return what to tell of an error."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return UsageError(
            f"{path}: another `grader` is at work in this folder; wait for it, or name another "
            "--out"
        )
    if "malformed" in text or "not a database" in text:
        return damaged(path, text)
    advice = "; free some space and run again with --resume" if "full" in text else ""
    return InfrastructureError(f"{path}: cannot be written or read: {text}{advice}")


def damaged(path: Path, detail: str) -> DamagedError:
    """Return what to tell of a file that cannot be read."""
    return DamagedError(
        f"{path}: is damaged ({detail}), so there is nothing to resume from. The reports in the "
        "folders beside it are untouched; grade again into another --out"
    )
