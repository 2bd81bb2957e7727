"""Starts processes with a piece of source and calls functions in it, as the run layer would."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from grader.sandbox.host.processes import ProcessSpec, Sandbox, SandboxedProcess
from grader.wire.messages import Call, Load, Loaded, Ready, Reply, from_frame, to_frame

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 2**20
SPEC = ProcessSpec(
    memory=512 * MIB, output=256 * 1024, threads=64, scratch=16 * MIB, cpu_seconds=60
)
PATIENCE = 60.0


class Running:
    """A process with a module loaded."""

    def __init__(self, process: SandboxedProcess) -> None:
        self.process = process
        ready = self._receive(Ready)
        assert isinstance(ready, Ready)
        self.walls = ready.walls

    def load(self, source: str) -> Loaded:
        message = Load(files={"hand_in.py": source.encode()}, module="hand_in.py")
        self.process.connection.send(to_frame(message), time.monotonic() + PATIENCE)
        loaded = self._receive(Loaded)
        assert isinstance(loaded, Loaded)
        return loaded

    def send(self, entry: str, *args: object) -> None:
        message = Call(entry=entry, args=args)  # type: ignore[arg-type]
        self.process.connection.send(to_frame(message), time.monotonic() + PATIENCE)

    def reply(self, seconds: float = PATIENCE) -> Reply:
        reply = self._receive(Reply, seconds)
        assert isinstance(reply, Reply)
        return reply

    def call(self, entry: str, *args: object) -> Reply:
        self.send(entry, *args)
        return self.reply()

    def value(self, entry: str, *args: object) -> object:
        reply = self.call(entry, *args)
        assert reply.fault is None, f"{reply.fault}\n{self.process.output().decode()}"
        return reply.value

    def _receive(self, kind: type, seconds: float = PATIENCE) -> object:
        return from_frame(self.process.connection.receive(time.monotonic() + seconds), kind)


@contextmanager
def running(sandbox: Sandbox, source: str, spec: ProcessSpec = SPEC) -> Iterator[Running]:
    process = sandbox.start(spec)
    try:
        runs = Running(process)
        loaded = runs.load(source)
        assert loaded.fault is None, loaded.fault
        yield runs
    finally:
        process.end()


def processes_with(marker: str) -> list[int]:
    """Return the processes whose name is ``marker``, seen from outside: the kernel's own list.

    Without those that ended: where this process is a container's first, its orphans stay unreaped.
    """
    found = []
    for entry in os.scandir("/proc"):
        try:
            if entry.name.isdigit():
                name, _, rest = (
                    Path(entry.path, "stat").read_text().partition("(")[2].rpartition(")")
                )
                if name == marker and rest.split()[0] != "Z":
                    found.append(int(entry.name))
        except OSError:  # noqa: PERF203  processes go while we look
            continue
    return found


def wait_for_processes(marker: str, count: int) -> None:
    """Wait until the marked processes are up; a test that kills before proves nothing."""
    deadline = time.monotonic() + PATIENCE
    while len(processes_with(marker)) < count:
        assert time.monotonic() < deadline, f"fewer than {count} processes named {marker}"
        time.sleep(0.005)
