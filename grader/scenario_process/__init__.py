"""What an instructor's ``scenario.py`` may use; ``docs/stage.md`` says what each call does.

A scenario runs in the stage, a process without the submission, and drives the actor, the process
that has it. All that comes back was said by the actor: judge values that cannot be had without the
work.
"""

from __future__ import annotations

from grader.scenario_process.api import (
    Handle,
    MadeByCode,
    RemoteError,
    WrongFileError,
    actor,
    callback,
    caller,
    folder,
    given,
    read,
    repeat,
    repeated,
)
from grader.wire.values import Opaque

__all__ = [
    "Handle", "MadeByCode", "Opaque", "RemoteError", "WrongFileError", "actor", "callback",
    "caller", "folder", "given", "read", "repeat", "repeated",
]  # fmt: skip
