"""The GPUs of this machine: which there are, their state, and who may use one now.

What the driver's tool cannot or may not tell of a device it answers in brackets, such as “[N/A]”;
that is left out here.

A lease is a lock on a file, one file a device: the kernel gives it back when its holder dies. A
device that was found unhealthy has a file beside it, with the reason, until somebody removes that
file or the machine starts again.

Defends against: two timed runs on one device, by whatever graders run on the machine; a sick device
that is handed to one submission after another.
Does not defend against: programs on the device that ask for no lease.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader.run.gpu_driver import Tool, ask_tool, list_gpus, parts_of
from grader.sandbox.host.processes import Gpu
from grader.sandbox.walls import cuda

if TYPE_CHECKING:
    from grader.verdict import Param
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timezone

from grader.errors import InfrastructureError
from grader.store.files import write_atomic

FIELDS = (
    "name", "driver_version", "temperature.gpu", "clocks.sm", "clocks.max.sm", "memory.used",
    "ecc.errors.uncorrected.volatile.total", "pcie.link.gen.max", "pcie.link.width.max",
    "compute_mode", "display_active",
)  # fmt: skip
REASONS, FORMER_REASONS = "clocks_event_reasons.active", "clocks_throttle_reasons.active"
"""The same field: drivers before 535 know only the second name."""

_UNKNOWN_FIELD = re.compile(r'Field "([^"]+)" is not a valid field')
"""All that the tool prints where it does not know one of the fields that it is asked for."""

_SLOWDOWNS = {
    0x08: "hardware slowdown",
    0x20: "temperature (driver)",
    0x40: "temperature (hardware)",
    0x80: "power brake",
}
"""Bits of NVML's nvmlClocksEventReasons that lower clocks below what a load alone would.

The cap on power (0x04) is not among them: a product of matrices runs into it on sound devices.
"""

_LANE = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9}
"""Bytes a second of one PCI Express lane, by generation, after coding."""

_DISPLAY_MEMORY = 256 * 2**20
"""Bytes that are left to what draws on the display of a card."""


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a device.

    Attributes:
        problem: Why it cannot be used; empty if it can.
        throttled: Why its clocks are lowered; empty if they are not.
        link: Greatest rate of the link to it in bytes a second, if known.
        facts: For the record.
        errors: Uncorrectable memory errors since its adapter started. Old ones are no problem: the
            driver took that memory out of use, and the program that met it is gone.
        silent: The driver's tool is not there, or too slow to be asked between two rounds.
    """

    problem: str = ""
    throttled: str = ""
    link: float | None = None
    facts: Mapping[str, Param] = field(default_factory=dict)
    errors: int = 0
    silent: bool = False

    @property
    def reserve(self) -> int:
        """Bytes of its memory that no program of ours may take."""
        return _DISPLAY_MEMORY if self.facts.get("display_active") == "Enabled" else 0


def visible_gpus() -> tuple[Gpu, ...]:
    """Return the GPUs that may be used: with a node, and named where CUDA_VISIBLE_DEVICES names."""
    there = tuple(gpu for gpu in list_gpus() if Path(cuda.node(gpu.minor)).exists())
    if any(cuda.part_nodes(gpu.minor) for gpu in there):
        there = parts_of(there, ask_tool("-L").output)
    return choose(there, os.environ.get("CUDA_VISIBLE_DEVICES"))


def choose(gpus: Sequence[Gpu], named: str | None) -> tuple[Gpu, ...]:
    """Return the GPUs that a value of CUDA_VISIBLE_DEVICES names; all where it is not set.

    Args:
        gpus: By number.
        named: Places among whole GPUs, or beginnings of UUIDs, separated by commas. A divided GPU
            means its first part. As in CUDA, the first that names no GPU ends the list.
    """
    if named is None:
        return tuple(gpus)
    firsts: dict[int, Gpu] = {}
    for gpu in gpus:
        firsts.setdefault(gpu.minor, gpu)
    chosen: list[Gpu] = []
    for name in (part.strip() for part in named.split(",")):
        matches = [
            gpu
            for place, gpu in enumerate(firsts.values())
            if name == str(place) or (name and gpu.card.startswith(name))
        ]
        matches += [gpu for gpu in gpus if gpu.board and name and gpu.uuid.startswith(name)]
        # As CUDA does: programs with this variable see nothing from the first bad name on.
        if len(matches) != 1 or matches[0] in chosen:
            break
        chosen += matches
    return tuple(chosen)


def ask(uuid: str, tool: Tool = ask_tool) -> Health:
    """Ask the driver's tool for the state of a whole device."""
    names = [REASONS, *FIELDS]
    while True:
        query = f"--query-gpu={','.join(names)}"
        said = tool(f"--id={uuid}", query, "--format=csv,noheader,nounits")
        if said.silent:
            # Slow or absent is not ill: a product that the device computes says more.
            return Health(facts={"driver_tool": said.silent}, silent=True)
        if not said.failed:
            return read_state(said.output, names)
        # Drivers gain and lose fields; one that this driver lacks says nothing of the device.
        unknown = _UNKNOWN_FIELD.search(said.failed)
        if unknown is None or unknown[1] not in names:
            return Health(problem=f"nvidia-smi failed: {said.failed}")
        names.remove(unknown[1])
        if unknown[1] == REASONS:
            names.append(FORMER_REASONS)


def read_state(line: str, names: Sequence[str]) -> Health:
    """Return the state in a line of comma-separated values, one for each name of a field."""
    values = (value.strip() for value in line.strip().split(","))
    # In brackets it says why it tells nothing: not supported, no permission, an unknown error.
    fields = {
        name: value
        for name, value in zip(names, values, strict=False)
        if value and not value.startswith("[")
    }
    mask = fields.pop(REASONS, "") or fields.pop(FORMER_REASONS, "")
    errors = fields.get("ecc.errors.uncorrected.volatile.total", "")
    count = int(errors) if errors.isdigit() else 0
    return Health(
        _closed(fields.get("compute_mode", "")), _slowdowns(mask), _link(fields), {**fields}, count
    )


def _closed(mode: str) -> str:
    """Return why a compute mode is in the way; empty where it is not."""
    if mode.lower() in ("", "default", "n/a"):
        return ""
    return (
        f"its compute mode is {mode}: it takes one process at a time, and timing needs four. As "
        "root, `nvidia-smi -c DEFAULT` opens it. An MPS server does not help, as student processes "
        "cannot reach it"
    )


def _slowdowns(mask: str) -> str:
    try:
        bits = int(mask, 16)
    except ValueError:
        return ""
    return ", ".join(name for bit, name in _SLOWDOWNS.items() if bits & bit)


def _link(data: Mapping[str, str]) -> float | None:
    try:
        lane = _LANE[int(data["pcie.link.gen.max"])]
        return lane * int(data["pcie.link.width.max"])
    except (KeyError, ValueError):
        return None


_BOOT = Path("/proc/sys/kernel/random/boot_id")
"""Another text after each start of the machine. Not every system empties its folder for temporary
files then."""

_TICK = 0.05
"""Seconds between two looks at a lock that somebody else holds."""


class Leases:
    """Leases and quarantine of the devices of this machine.

    Args:
        folder: Where their files are; the same for all graders of a machine.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(tempfile.gettempdir()) / "torchgrade-devices"

    @contextlib.contextmanager
    def hold(self, device: str, seconds: float) -> Iterator[bool]:
        """Hold a device: whether it could be had within so many seconds.

        Raises:
            InfrastructureError: Its file cannot be opened.
        """
        # There is no flock on Windows: graders are not kept apart there.
        if sys.platform == "win32":
            yield True
            return
        fd = self._open(device)
        try:
            yield _locked(fd, time.monotonic() + seconds)
        finally:
            # Gives the lock back, as the end of the process would: none outlives its grader.
            os.close(fd)

    def take_out(self, device: str, reason: str) -> None:
        """Let nobody use a device from now on.

        Raises:
            InfrastructureError: That cannot be written down.
        """
        when = datetime.now(timezone.utc).isoformat(timespec="seconds")
        note = {"device": device, "reason": reason, "since": when, "start": _start()}
        self._make_folder()
        write_atomic(self._path(device, "out"), (json.dumps(note, indent=2) + "\n").encode())

    def why_out(self, device: str) -> str:
        """Return why a device is out, or an empty string."""
        path = self._path(device, "out")
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"{path} cannot be read: {error.strerror}"
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
            note = json.loads(text)
            return str(note["reason"]) if note.get("start", _start()) == _start() else ""
        # Whatever is in it: the file is there, and the device is out.
        return f"{path} is there"

    def note(self, device: str) -> Path:
        """Return the file that keeps a device out; removing it puts the device back."""
        return self._path(device, "out")

    def _path(self, device: str, ending: str) -> Path:
        return self.folder / f"{re.sub(r'[^A-Za-z0-9-]', '_', device)}.{ending}"

    def _make_folder(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _open(self, device: str) -> int:
        path = self._path(device, "lock")
        # A shared folder: a link of that name could make the grader open, or create, another file.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._make_folder()
            return os.open(path, flags, 0o600)
        except OSError as error:
            raise InfrastructureError(
                f"{path}: cannot be opened ({error.strerror}); it keeps graders from timing on one "
                "device at once. Run all graders of a machine as one user"
            ) from None


def _start() -> str:
    """Return the name of this start of the machine; empty where it has none."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _locked(fd: int, deadline: float) -> bool:
    import fcntl  # noqa: PLC0415  not on Windows

    # flock knows no timeout: it either returns at once or waits for ever.
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_TICK)
