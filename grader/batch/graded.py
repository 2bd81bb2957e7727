"""A graded submission: what the run said of it, and what is laid over that.

Workers return it, the journal keeps it, and everything that is shown of a class is made from it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter, ValidationError

from grader.batch.discover import ClassSubmission
from grader.report.layers import (
    MachineLayer,
    PersonDecision,
    fold,
    layers_within,
    with_comments,
)
from grader.report.messages.catalogue import current
from grader.report.model import LineComment, Report
from grader.store.journal import JOURNAL_FILE, DamagedError, JournalEntry

_MACHINES = TypeAdapter(tuple[MachineLayer, ...])
_FOLDED = ("run", "said", "counted")
_NONE = zlib.compress(b"[]", 1)


@dataclass(frozen=True)
class GradedSubmission:
    """A submission and the layers of what is said of it; their order is that of ``fold``.

    Reports are read when they are first asked for, and are no part of what is sent or compared.

    Attributes:
        submission: Whose, and where it lies.
        digest: Over its files; empty where they cannot be graded as they are.
        content: The run's report as deflated JSON, 6 kB for twenty questions. Its objects would
            take 340, and a class has as many as students.
        machines: What other machines said.
        decisions: What people decided.
        comments: What people say of lines.
        no_gpu: The course has no GPU.
        timed: Nothing of it waits for the clock any more.
        observations: What was observed, for judging again; None where nothing was, or where it was
            not asked for.
    """

    submission: ClassSubmission
    digest: str
    content: bytes
    machines: tuple[MachineLayer, ...] = ()
    decisions: tuple[PersonDecision, ...] = ()
    comments: tuple[LineComment, ...] = ()
    no_gpu: bool = False
    timed: bool = True
    observations: bytes | None = None

    @classmethod
    def of(cls, submission: ClassSubmission, run: Report, **more: Any) -> GradedSubmission:
        """Return a submission of which a run said this.

        Args:
            submission: Whose.
            run: Its report.
            **more: Further attributes; the digest is that of the report where it is left out.
        """
        return cls(submission, **{"digest": run.submission.digest, **more}, content=_deflated(run))

    @property
    def name(self) -> str:
        """The submission's name."""
        return self.submission.name

    @cached_property
    def run(self) -> Report:
        """What the grader said on this machine.

        Raises:
            DamagedError: It cannot be read.
        """
        with _readable(f"the report of {self.name}"):
            return Report.model_validate_json(zlib.decompress(self.content))

    @cached_property
    def said(self) -> Report:
        """What the grader said on all machines."""
        return fold(self.run, self.machines)

    @cached_property
    def counted(self) -> Report:
        """The same as it counts in the course."""
        return fold(self.said, no_gpu=self.no_gpu)

    @cached_property
    def report(self) -> Report:
        """The same as people decided, with their comments: what the student gets."""
        decided = fold(self.counted, decisions=self.decisions, words=current())
        return with_comments(decided, self.comments)

    def with_run(self, run: Report) -> GradedSubmission:
        """Return it with what the grader says on this machine now."""
        return replace(self, content=_deflated(run))

    def with_decisions(self, decisions: Iterable[PersonDecision]) -> GradedSubmission:
        """Return it as people have decided now; what was read of it is not read again."""
        own = tuple(decisions)
        return self if own == self.decisions else self._otherwise(decisions=own)

    def with_comments(self, comments: Iterable[LineComment]) -> GradedSubmission:
        """Return it with what people say of lines now; what was read of it is not read again."""
        own = tuple(comments)
        return self if own == self.comments else self._otherwise(comments=own)

    def _otherwise(self, **layers: Any) -> GradedSubmission:
        other = replace(self, **layers)
        known = vars(self)
        vars(other).update({name: known[name] for name in _FOLDED if name in known})
        return other

    def without_machines(self, questions: Sequence[str]) -> tuple[MachineLayer, ...]:
        """Return what other machines said, without some questions."""
        left = (layer.without(questions) for layer in self.machines)
        return tuple(layer for layer in left if layer is not None)

    def __getstate__(self) -> dict[str, Any]:
        # Without the reports that were read: a cluster's wire and a class in memory hold the bytes.
        return {name: vars(self)[name] for name in self.__dataclass_fields__}


def _deflated(report: Report) -> bytes:
    return zlib.compress(report.model_dump_json().encode(), 1)


def entry_of(graded: GradedSubmission, about: dict[str, Any]) -> JournalEntry:
    """Return the row of the journal for a submission; what people say has rows of its own.

    Args:
        graded: The submission.
        about: What is known of it beside its files.
    """
    machines = zlib.compress(_MACHINES.dump_json(graded.machines), 1) if graded.machines else _NONE
    return JournalEntry(
        graded.name,
        graded.digest,
        graded.content,
        about,
        graded.timed,
        graded.observations,
        machines,
    )


def graded_of(entry: JournalEntry, submission: ClassSubmission, no_gpu: bool) -> GradedSubmission:
    """Return the submission that a row of the journal stands for.

    Args:
        entry: The row.
        submission: Whose.
        no_gpu: The course has no GPU.

    Raises:
        DamagedError: What a machine or a person said cannot be read.
    """
    decisions = decisions_in(entry.decisions, entry.name)
    comments = comments_in(entry.comments, entry.name)
    machines: tuple[MachineLayer, ...] = ()
    if entry.machines is not None and entry.machines != _NONE:
        with _readable(f"what other machines said of {entry.name}"):
            machines = _MACHINES.validate_json(zlib.decompress(entry.machines))
    graded = GradedSubmission(
        submission, entry.digest, entry.report, machines, decisions, comments, no_gpu, entry.timed
    )
    if entry.machines is None and graded.run.merged:
        # Written by an earlier version, which kept merged reports.
        run, machines = layers_within(graded.run)
        return replace(graded.with_run(run), machines=machines)
    return graded


def decisions_in(texts: Iterable[str], name: str) -> tuple[PersonDecision, ...]:
    """Return what people decided on a submission, from its JSON.

    Raises:
        DamagedError: One cannot be read.
    """
    with _readable(f"a decision on {name}"):
        return tuple(map(PersonDecision.model_validate_json, texts))


def comments_in(texts: Iterable[str], name: str) -> tuple[LineComment, ...]:
    """Return what people say of lines of a submission, from its JSON.

    Raises:
        DamagedError: One cannot be read.
    """
    with _readable(f"a comment on {name}"):
        return tuple(map(LineComment.model_validate_json, texts))


@contextmanager
def _readable(what: str) -> Iterator[None]:
    try:
        yield
    except (zlib.error, ValidationError) as error:
        raise DamagedError(f"{JOURNAL_FILE}: {what} cannot be read: {error}") from error
