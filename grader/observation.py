"""What happened in a call: the host's facts beside the student process's claims.

``HostFacts`` were measured by the host and cannot be forged by a submission. ``Claims`` were said
by the process that ran it. They are two types so that a reader always sees which is which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from grader.speed_statistics.device import DeviceTiming
from grader.speed_statistics.sampling import Run
from grader.speed_statistics.vectorisation import Screen
from grader.static_analysis.facts import EntryFacts
from grader.wire.frames import FrameSize
from grader.wire.messages import Fault
from grader.wire.values import Value

IN_STAGE = "stage"
IN_READER = "reader"
"""Details of ``raised``: it was not the submission that raised, but what worked on its values, or
on the files that it left."""


class Outcome(str, Enum):
    """How a call ended."""

    COMPLETED = "completed"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    PROTOCOL_VIOLATION = "protocol_violation"
    SANDBOX_FAILED = "sandbox_failed"
    NOT_RUN = "not_run"


class Stop(str, Enum):
    """What a call that was stopped had used up."""

    PROCESSOR = "processor"
    ASLEEP = "asleep"
    ASLEEP_IN_ALL = "asleep_in_all"  # with the calls before it
    WALL = "wall"


@dataclass(frozen=True, slots=True)
class HostFacts:
    """Measured by the host.

    Attributes:
        wall_seconds: From the first byte of the request to the last byte of the reply.
        exit_code: Exit status of a student process that died during the call.
        signal: Signal that ended it.
        cpu_seconds: Processor time that a timed process used from before the request was sent until
            after the reply was there, all its threads together; or that any student process was
            seen to use until it was stopped.
        stopped: What a call had used up that was stopped.
        limit: How many seconds of that it was given.
        busy: Neighbours may have made the work of a stopped call longer than it is.
        timing: Of one observation of a question: what came of timing its function.
        reply: Of the reference only: how large its answer was.
    """

    wall_seconds: float = 0.0
    exit_code: int | None = None
    signal: int | None = None
    cpu_seconds: float | None = None
    stopped: Stop | None = None
    limit: float | None = None
    busy: bool = False
    timing: FunctionTiming | None = None
    reply: FrameSize | None = None


# Nothing in it is a fact: a submission may have the student process report whatever it likes. A
# check that judges by more than the value says ``Basis.CLAIM``.
@dataclass(frozen=True, slots=True)
class Claims:
    """What the student process reports.

    Attributes:
        value: What the entry point returned.
        args_after: The arguments as they stood after the call, if a check asked for them.
        fault: The exception, if it raised.
        probes: What the other probes reported, by name.
    """

    value: Value = None
    args_after: tuple[Value, ...] | None = None
    fault: Fault | None = None
    probes: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of running the log of a call again elsewhere, on inputs drawn afterwards.

    A log that gives the reference's values is a right program by itself. What it does not hold, the
    answer did not need: so these numbers are facts, whoever wrote the log.

    Attributes:
        why: Why it is none; empty where the log gave the reference's values.
        parts: The parts of the result for which it did, where the others are wrong; empty for all.
        entries: Operations in the log, views among them.
        references: Tensors that they name, whole inputs left out.
        unnamed: Tensors that no operation of the log made.
        greatest: Bytes of the greatest tensor computed.
        ops: Names of operations on the inputs, or on what was made of them; and of those that these
            are made of.
        indexings: How often a tensor is indexed, at most; ``x[0][1]`` is one with ``x[0, 1]``.
        needed_indexings: Of these, from which the outputs descend.
        needed_array_indexings: Of these, by lists or tensors of places.
        assignments: Operations that store into a tensor what is given to them.
        needed_assignments: Of these, to an indexed place, from which the outputs descend.
        written: Inputs that are written to, by their places among the tensors of the arguments.
        changed: Of these, those that held something else once the log had run.
        inside: Name of an output → the input in whose memory it lies.
        same: Names of those that lie there as the input does.
        apart: Names of the outputs that lie in no input's memory.
        works: Operation and its work → the work of all such from which the outputs descend.
    """

    why: str = ""
    parts: tuple[str, ...] = ()
    entries: int = 0
    references: int = 0
    unnamed: int = 0
    greatest: int = 0
    ops: tuple[str, ...] = ()
    indexings: int = 0
    needed_indexings: int = 0
    needed_array_indexings: int = 0
    assignments: int = 0
    needed_assignments: int = 0
    written: tuple[int, ...] = ()
    changed: tuple[int, ...] = ()
    inside: Mapping[str, int] = field(default_factory=dict)
    same: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    works: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observation:
    """One call, seen from both sides.

    Attributes:
        detail: The host's own words on an outcome that is not ``completed``.
        companions: Of the reference only: its further runs, where a check asked for them.
        counted: The same call made again only to be counted: name of the dim whose size was
            multiplied (empty for the case's own inputs) → what was claimed.
        source: What the host read in the text of the function that was called.
        proof: Of a call made only to be counted: what its log came to, where that was found out. Of
            any other call: what all logs of its question show of the arguments, if all are proved.
        shown: Of the reference in a starter, which has no proofs: ids of the checks whose rules its
            logs show to be kept.
    """

    outcome: Outcome
    facts: HostFacts = field(default_factory=HostFacts)
    claims: Claims = field(default_factory=Claims)
    detail: str = ""
    companions: Companions | None = None
    counted: Mapping[str, Observation] = field(default_factory=dict)
    source: EntryFacts | None = None
    proof: Proof | None = None
    shown: tuple[str, ...] = ()

    @property
    def proved(self) -> Proof | None:
        """What its log shows; None where it was not run again, or gave other values."""
        return self.proof if self.proof is not None and not self.proof.why else None


@dataclass(frozen=True, slots=True)
class FunctionTiming:
    """What came of timing a function, in processes of its own beside those of the reference.

    Attributes:
        runs: One a set of fresh processes.
        dims: Sizes of the inputs.
        outputs: Outputs of timed calls that were compared with the reference's.
        wrong: The reference's call and the submission's, for the first output that differed.
        failed: A timed call that did not return.
        idle: Processor time that the submission used between its calls, as a share of what it used
            in them; the greatest of all runs.
        skipped: Why nothing was timed, as the id of a message.
        detail: What fills that message's blank.
        screens: Instead of runs, where short blocks in passing settled it: one a process.
        device: Of a timing on a GPU: what is known beside the samples. None on the CPU.
    """

    runs: tuple[Run, ...] = ()
    dims: Mapping[str, int] = field(default_factory=dict)
    outputs: int = 0
    wrong: tuple[Observation, Observation] | None = None
    failed: Observation | None = None
    idle: float = 0.0
    skipped: str = ""
    detail: str = ""
    screens: tuple[Screen, ...] = ()
    device: DeviceTiming | None = None


@dataclass(frozen=True, slots=True)
class Companions:
    """Further runs of the reference on the inputs of one case.

    Attributes:
        wide: In float64.
        perturbed: In float64, on inputs moved by one rounding of their own dtype.
    """

    wide: Observation
    perturbed: tuple[Observation, ...]
