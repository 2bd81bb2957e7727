"""What is kept of runs: of submissions to judge them again, of the reference for the next run.

An entry of the reference belongs to the very files of the assignment, the grader, the packages and
the machine that it was made with; any other has another name. Nothing that a clock measured is in
it. It holds the hidden inputs and their answers, so it is neither read nor written where student
code runs without walls, and student processes try to open it as they try the reference's own files.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.errors import AssignmentError
from grader.interpreter import processor_settings
from grader.observation import (
    Claims,
    Companions,
    FunctionTiming,
    HostFacts,
    Observation,
    Outcome,
    Proof,
    Stop,
)
from grader.run.materials import Materials
from grader.run.observe import Mended, QuestionRun
from grader.run.plan import Generate, PlannedQuestion, plan_digests
from grader.sandbox.host.processes import Sandbox, Tier
from grader.speed_statistics.device import DeviceTiming
from grader.speed_statistics.sampling import Run, Sample
from grader.speed_statistics.vectorisation import Screen
from grader.static_analysis.facts import Construct, EntryFacts, Mention, Role, SourcePlace, Written
from grader.store.files import REFERENCES, UserCache, open_cache
from grader.store.observations import Keeper
from grader.wire.frames import FrameSize
from grader.wire.messages import Fault, Loaded
from grader.wire.values import Value

KEEPER = Keeper(
    [
        QuestionRun, Mended, Loaded, Fault,
        Observation, Outcome, HostFacts, Stop, FrameSize, Claims, Companions, Proof,
        FunctionTiming, Run, Sample, Screen, DeviceTiming,
        EntryFacts, Construct, Mention, SourcePlace, Role, Written,
    ],
    # Names in older journals: without these, what they hold could not be judged again.
    former={"Place": SourcePlace, "Timing": FunctionTiming},
)  # fmt: skip


_PACKAGE = Path(__file__).parents[1]
_FORMAT = 1
_MOST = 64 * 2**20
"""Bytes of an entry, before it is compressed."""

_HOUR = 3600.0
_STEADY = (Outcome.COMPLETED, Outcome.RAISED)
_OTHERS = ("missing", "generated", "processes", "digests")
_DRAWN, _GIVEN = "drawn", "given"

Generated = tuple[tuple[str, tuple[Value, ...]], ...]
"""For which case, and what its generator returned, in the order in which they were asked."""


@dataclass(frozen=True, slots=True)
class KeptReference:
    """What a run of the reference came to.

    Attributes:
        missing: Packages that student processes cannot import → why.
        generated: What generators of the reference file returned.
        processes: Question → what its student process got, as text.
        digests: Question → digest of its calls.
        runs: Question → what came of it.
    """

    missing: Mapping[str, str]
    generated: Generated
    processes: Mapping[str, str]
    digests: Mapping[str, str]
    runs: Mapping[str, QuestionRun]


class ReferenceCache:
    """Entries of one assignment on one machine, one a seed.

    Args:
        files: Where they are.
        stem: Names all that an entry depends on but the seed.
        drawn: The seed was drawn, by this run or by the one that it goes on from.
    """

    def __init__(self, files: UserCache, stem: str, drawn: bool) -> None:
        self._files = files
        self._stem = stem
        self._drawn = drawn

    def recent_seed(self) -> int | None:
        """Return the seed that was drawn last, if that is less than an hour ago."""
        for written, name in self._files.ages(f"{self._stem}."):
            _, seed, kind = name.split(".")
            # Below zero where the clock was set back since: how old it is, nobody knows.
            if kind == _DRAWN and 0 <= time.time() - written < _HOUR:
                return int(seed)
        return None

    def load(self, seed: int) -> KeptReference | None:
        """Return the entry of a seed; None where there is none, or none that can be read."""
        for kind in (_DRAWN, _GIVEN):
            name = self._name(seed, kind)
            content = self._files.read(name)
            if content is None:
                continue
            try:
                return _unpacked(content)
            except Exception:  # noqa: BLE001  whatever is wrong with it, the reference runs again
                self._files.drop(name)
        return None

    def store(self, seed: int, kept: KeptReference) -> None:
        """Keep an entry, unless one of its calls was stopped and may end otherwise next time."""
        plain = [each for run in kept.runs.values() for each in run.observations.values()]
        counted = [counted for each in plain for counted in each.counted.values()]
        # A reference that was stopped by a busy machine must not be kept: it would fail every later
        # class.
        if all(each.outcome in _STEADY for each in (*plain, *counted)):
            kind = _DRAWN if self._drawn else _GIVEN
            self._files.write(self._name(seed, kind), _packed(kept))

    def _name(self, seed: int, kind: str) -> str:
        return f"{self._stem}.{seed}.{kind}"


def open_references(
    materials: Materials, sandbox: Sandbox, choices: Sequence[str], drawn: bool
) -> ReferenceCache | None:
    """Return the cache of an assignment's reference; None where there cannot be one.

    Args:
        materials: The assignment and its files.
        sandbox: Where the reference runs.
        choices: What was chosen beside the seed: device, questions.
        drawn: No seed was given.
    """
    # Without walls a submission could read the hidden answers in it.
    if sandbox.isolation.tier is Tier.NONE:
        return None
    files = open_cache(REFERENCES)
    if files is None:
        return None
    what = (
        _FORMAT, materials.digest, sandbox.isolation.tier.value, sandbox.isolation.mechanisms,
        # All that results may depend on. What is missing here would be compared with an answer from
        # another machine or library.
        tuple(choices), sys.version, sys.prefix, os.uname(), _processor(), processor_settings(),
        os.environ.get("LANG"), _code(), _packages(), platform.libc_ver(),
    )  # fmt: skip
    stem = hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32]
    return ReferenceCache(files, stem, drawn)


class GeneratorRecorder:
    """Asks generators, and notes what they return."""

    def __init__(self, generate: Generate) -> None:
        self._generate = generate
        self.generated: Generated = ()

    def __call__(self, where: str, name: str, keywords: dict[str, Value]) -> tuple[Value, ...]:
        """Ask one."""
        value = self._generate(where, name, keywords)
        self.generated += ((where, value),)
        return value


class GeneratorReplay:
    """Answers as generators did."""

    def __init__(self, generated: Generated) -> None:
        self._left = iter(generated)

    def __call__(self, where: str, *_: object) -> tuple[Value, ...]:
        """Return what came of the next request.

        Raises:
            AssignmentError: It was another one.
        """
        was, value = next(self._left, ("", ()))
        if was != where:
            raise AssignmentError([])
        return value


def keep(
    plan: Sequence[PlannedQuestion],
    runs: Mapping[str, QuestionRun],
    generated: Generated,
    missing: Mapping[str, str],
) -> KeptReference:
    """Return what is to be kept of a run of the reference.

    Args:
        plan: What was called.
        runs: What came of it.
        generated: What generators returned.
        missing: Packages that student processes cannot import → why.
    """
    without = {name: untimed(run) for name, run in runs.items()}
    return KeptReference(missing, generated, processes_of(plan), plan_digests(plan), without)


def processes_of(plan: Sequence[PlannedQuestion]) -> dict[str, str]:
    """Return question → what its student process gets, as text that differs wherever that does."""
    return {planned.question.id: repr(planned.process) for planned in plan}


def _packed(kept: KeptReference) -> bytes:
    parts: dict[str, Any] = {f"run {name}": run for name, run in kept.runs.items()}
    parts |= {name: getattr(kept, name) for name in _OTHERS}
    return KEEPER.pack(parts, {}, _MOST)


def _unpacked(content: bytes) -> KeptReference:
    parts = KEEPER.unpack(content, {})
    runs = {
        name.removeprefix("run "): run for name, run in parts.items() if name.startswith("run ")
    }
    return KeptReference(runs=runs, **{name: parts[name] for name in _OTHERS})


def untimed(run: QuestionRun) -> QuestionRun:
    """Return a run of the reference without what a clock measured."""
    observations = {key: _without_clock(each) for key, each in run.observations.items()}
    return replace(run, observations=observations, seconds=0.0)


def _without_clock(seen: Observation) -> Observation:
    counted = {name: _without_clock(each) for name, each in seen.counted.items()}
    # The size stays: it bounds what submissions may answer.
    return replace(seen, facts=HostFacts(reply=seen.facts.reply), counted=counted)


def _code() -> str:
    """Return a digest of this package as it stands: a checkout changes without its version."""
    total = hashlib.sha256()
    for folder, names, files in os.walk(_PACKAGE):
        # In place: os.walk goes on in this order, and not in the file system's, which differs by
        # copy.
        names.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                status = os.stat(os.path.join(folder, name))  # noqa: PTH116, PTH118  hundreds
                total.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return total.hexdigest()


def _packages() -> list[str]:
    """Return every installed package with its version, as their folders are called."""
    names: set[str] = set()
    for folder in sys.path:
        if os.path.isdir(folder):  # noqa: PTH112
            names |= {name for name in os.listdir(folder) if name.endswith(("-info", ".egg-link"))}  # noqa: PTH208
    return sorted(names)


def _processor() -> list[str]:
    """Return what the kernel says of the processor: results differ with its instructions."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    wanted = ("model name", "flags", "Features")
    return sorted({line for line in text.splitlines() if line.startswith(wanted)})
