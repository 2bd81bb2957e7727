"""The reference's answers in a batch, kept so that what was observed can be judged again.

An observation that equals the reference's is written as “the same” (``grader.store.observations``).
So it is read with the very answers that it was written against, and each names those. It is judged
against what the reference answers today: a corrected reference then counts for everybody.

Another torch or processor moves numbers by the last bit. Of a number that today's reference gives
so, the batch's own is taken: its submissions ran where that was made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, nextafter
from typing import Any

import numpy as np

from grader.run.answer_budget import kept_bytes
from grader.run.baseline_file import KEEPER, untimed
from grader.run.materials import Materials
from grader.run.observe import QuestionRun, observations
from grader.run.plan import PlannedQuestion, digest_of, plan_digests
from grader.wire.tree import combine
from grader.wire.values import Tensor

_MOST = 2**28
"""Bytes of all answers, before they are compressed; of those beyond it nothing is “the same”."""
_MARK = b"answers "
_KEY = 32


@dataclass(frozen=True)
class KeptAnswers:
    """What the reference answered, as a journal has it.

    Attributes:
        content: As bytes.
    """

    content: bytes

    @cached_property
    def key(self) -> str:
        """Name by which observations name these answers."""
        return hashlib.sha256(self.content).hexdigest()[:_KEY]

    @cached_property
    def runs(self) -> dict[str, QuestionRun]:
        """The answers, by question id; one that is too large to be kept is not there.

        Raises:
            UsageError: They were written by another version, or are damaged.
        """
        # Read back, not taken from the run: what is written as “the same” must be found again.
        return KEEPER.unpack(self.content, {})

    def pack(self, runs: Mapping[str, QuestionRun]) -> bytes:
        """Return what was observed as bytes; tensors that equal these answers are left out.

        Questions with the longest answers are left out, too, where all take many times the room
        that the reference's do: they have to be run again, not only judged.
        """
        packed = KEEPER.pack(runs, self.runs, kept_bytes(observations(self.runs)))
        return _MARK + self.key.encode() + packed

    def unpack(self, content: bytes) -> dict[str, QuestionRun]:
        """Return what was observed, by question id.

        Raises:
            UsageError: It was written by another version, or is damaged.
        """
        return KEEPER.unpack(content[len(_MARK) + _KEY :], self.runs)

    def steadying(self, today: Mapping[str, QuestionRun]) -> dict[str, QuestionRun]:
        """Return today's answers, with these where they differ in the last bit alone."""
        return {
            name: _steady_run(run, self.runs[name]) if name in self.runs else run
            for name, run in today.items()
        }


def answers_of(reference: Mapping[str, QuestionRun]) -> KeptAnswers:
    """Return what the reference answered, to be kept."""
    return KeptAnswers(
        KEEPER.pack({name: _bare(run) for name, run in reference.items()}, {}, _MOST)
    )


def key_of(content: bytes) -> str | None:
    """Return the key of the answers that observations were written against.

    None where an earlier version wrote them: it did not keep the answers.
    """
    if not content.startswith(_MARK):
        return None
    return content[len(_MARK) : len(_MARK) + _KEY].decode("ascii", "replace")


def asked_of(materials: Materials, plan: Sequence[PlannedQuestion]) -> dict[str, str]:
    """Return question → digest of all that made its observations, but for the submission.

    These are its calls, inputs and what is looked at, and the instructor's code in them: scenario
    and support files.
    """
    digests = plan_digests(plan)
    support = tuple(sorted(materials.support.items()))
    for planned in plan:
        scenes = any(case.case.scenario for case in planned.cases)
        ours = (support, (materials.scenario, materials.given) if scenes else ())
        if any(ours):
            name = planned.question.id
            digests[name] = digest_of((digests[name], *ours))
    return digests


def _bare(run: QuestionRun) -> QuestionRun:
    """Return a run of the reference without times, and without what no submission has."""
    run = untimed(run)
    observations = {key: replace(each, companions=None) for key, each in run.observations.items()}
    return replace(run, observations=observations)


def _steady_run(today: QuestionRun, batch: QuestionRun) -> QuestionRun:
    observations = dict(today.observations)
    for key in today.observations.keys() & batch.observations.keys():
        claims, theirs = today.observations[key].claims, batch.observations[key].claims
        value = _steady(claims.value, theirs.value)
        after = _steady(claims.args_after, theirs.args_after)
        claims = replace(claims, value=value, args_after=after)
        observations[key] = replace(observations[key], claims=claims)
    return replace(today, observations=observations)


def _steady(today: Any, batch: Any) -> Any:
    """Return a value with the batch's numbers wherever today's are next to them."""
    return combine(_steady_leaf, today, batch, unlike=_steady_keys)


def _steady_keys(today: Any, batch: Any) -> Any:
    """Return a container of another form: of dicts, what stands at the keys of both is steady."""
    if type(today) is type(batch) is dict:
        return {key: _steady(item, batch.get(key)) for key, item in today.items()}
    return today


def _steady_leaf(today: Any, batch: Any) -> Any:
    if isinstance(today, Tensor) and isinstance(batch, Tensor):
        return _steady_tensor(today, batch)
    floats = isinstance(today, float) and isinstance(batch, float) and isfinite(batch)
    return batch if floats and nextafter(today, batch) == batch else today


_LAYOUTS = {
    "float64": ("<i8", 0x7FF << 52), "complex128": ("<i8", 0x7FF << 52),
    "float32": ("<i4", 0xFF << 23), "complex64": ("<i4", 0xFF << 23),
    "float16": ("<i2", 0x1F << 10), "complex32": ("<i2", 0x1F << 10),
    "bfloat16": ("<i2", 0xFF << 7),
}  # fmt: skip
"""Dtype → its numbers' bits as whole numbers, and those of infinity: NaN lies beyond it."""


def _steady_tensor(today: Tensor, batch: Tensor) -> Tensor:
    alike = (today.dtype, today.shape) == (batch.dtype, batch.shape)
    if not alike or today.dtype not in _LAYOUTS or today.data == batch.data:
        return today
    bits, infinity = _LAYOUTS[today.dtype]
    ours, theirs = (np.frombuffer(each.data, bits) for each in (today, batch))
    # Floats of one sign are ordered as their bits are: neighbours differ by one.
    near = ((ours ^ theirs) >= 0) & (abs(ours - theirs) <= 1)
    for each in (ours, theirs):
        near &= (each & np.iinfo(bits).max) < infinity
    return replace(today, data=np.where(near, theirs, ours).tobytes())
