"""What would change: a class judged under the assignment and the course as their files are now.

Nothing is written. It runs as a command of its own: judging starts processes, which a server with
threads must not do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

from grader.errors import UsageError
from grader.text import inert

_LINE = 2000


class Rehearsal:
    """One run of ``grader rejudge --dry-run`` at a time, and what the last one came to.

    Args:
        out: ``--out`` of the batch.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._begun = 0.0
        self._last: dict[str, Any] = {}

    def start(self) -> None:
        """Begin; whoever has the journal gives it back before.

        Raises:
            UsageError: One is under way.
        """
        with self._lock:
            if self._process is not None:
                raise UsageError("the class is being judged already")
            self._folder = tempfile.TemporaryDirectory(prefix="grader-desk-")
            words = [sys.executable, "-m", "grader", "rejudge", str(self._out), "--dry-run"]
            words += ["--json", str(self._file)]
            self._begun = monotonic()
            self._process = subprocess.Popen(  # noqa: S603  words of ours
                words,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )

    def view(self) -> dict[str, Any]:
        """Return how far it is, and what the last one came to."""
        with self._lock:
            if self._process is not None and self._process.poll() is not None:
                self._last = self._outcome(self._process)
                self._end()
        running = self._process is not None
        return {
            "running": running,
            "seconds": round(monotonic() - self._begun) if running else 0,
            **self._last,
        }

    def close(self) -> None:
        """End what is under way."""
        if self._process is not None:
            self._process.terminate()
            self._process.communicate()
            self._end()

    @property
    def _file(self) -> Path:
        assert self._folder is not None
        return Path(self._folder.name, "changes.json")

    def _outcome(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        _, said = process.communicate()
        if process.returncode == 0 and self._file.is_file():
            found: dict[str, Any] = json.loads(self._file.read_text(encoding="utf-8"))
            return {"error": "", **found}
        return {"error": inert(said.strip().removeprefix("error: "), _LINE, keep="\n")}

    def _end(self) -> None:
        assert self._folder is not None
        self._folder.cleanup()
        self._process = self._folder = None
