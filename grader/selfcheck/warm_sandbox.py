"""Tier none, warm: the next student process is started while nobody waits for it.

A fresh process imports torch for seconds. One that has done so stands ready for the next run, so
that a change is judged at once. Works wherever ``OneShotSandbox`` does; nothing is forked from a
process that ran a submission.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from dataclasses import replace

from grader.errors import InfrastructureError
from grader.sandbox.host.open import Choice, OneShotSandbox, open_sandbox
from grader.sandbox.host.processes import (
    Isolation,
    ProcessSpec,
    Sandbox,
    SandboxedProcess,
)
from grader.selfcheck.folder import InTheWay


class SpareSandbox(Sandbox):
    """Starts fresh processes, and keeps one ready that nothing was loaded into."""

    def __init__(self) -> None:
        self._inner = OneShotSandbox()
        self._lock = threading.Lock()
        self._spare: tuple[ProcessSpec, SandboxedProcess] | None = None
        self.isolation: Isolation = self._inner.isolation

    def start(self, spec: ProcessSpec) -> SandboxedProcess:
        """See ``Sandbox.start``."""
        with self._lock:
            spare, self._spare = self._spare, None
            if spare is not None and replace(spare[0], module=spec.module) == spec:
                return spare[1]
            if spare is not None:
                # Never handed out with other limits: it was started under those of another
                # question.
                spare[1].end()
            # Torch imports much when it is first used: on a slow machine that alone could take as
            # long as a question may.
            return self._inner.start(spec, warm=True)

    def make_ready(self, spec: ProcessSpec) -> None:
        """Start a student process ahead of time; it warms up by itself."""
        with self._lock:
            if self._spare is None:
                self._spare = spec, self._inner.start(spec, warm=True)

    def grants(self, spec: ProcessSpec) -> bool:
        """See ``Sandbox.grants``."""
        return self._inner.grants(spec)

    def close(self) -> None:
        """See ``Sandbox.close``."""
        with self._lock:
            self._spare = None
            self._inner.close()


def open_for_check(isolation: Choice = "auto") -> Sandbox:
    """Return the sandbox of a self-check; its fork-server imports torch while the caller goes on.

    Args:
        isolation: ``auto`` takes the best walls there are, and none where there are none.

    Raises:
        UsageError: There is no torch.
        InfrastructureError: The walls that were insisted on cannot be had.
    """
    need_torch()
    return _open(isolation)


def _open(isolation: Choice) -> Sandbox:
    if isolation == "none":
        return SpareSandbox()
    try:
        return open_sandbox(isolation)
    except InfrastructureError:
        if isolation != "auto":
            raise
        return SpareSandbox()


def need_torch() -> None:
    """Say so where there is no torch, before a student process fails for the want of it.

    Raises:
        InTheWay: This Python has no torch.
    """
    if importlib.util.find_spec("torch") is None:
        raise InTheWay("no_torch", python=sys.executable)
