"""What a check concludes. Values only: nothing here measures, decides or prints.

A message is an id and parameters; the words are made in ``grader.report``, per language.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Union

Param = Union[None, bool, int, float, str, "list[Param]"]


class Visibility(str, Enum):
    """Who sees a result and when, with Gradescope's own words."""

    VISIBLE = "visible"
    HIDDEN = "hidden"
    AFTER_DUE_DATE = "after_due_date"
    AFTER_PUBLISHED = "after_published"


class Status(str, Enum):
    """How a check ended. ``deferred`` and ``error`` leave the points pending."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    SKIPPED = "skipped"
    DEFERRED = "deferred"
    ERROR = "error"

    @property
    def earned(self) -> bool:
        """Tell whether it earns points, all or some."""
        return self in (Status.PASSED, Status.PARTIAL)

    @property
    def wrong(self) -> bool:
        """Tell whether something was found that costs points, all or some."""
        return self in (Status.FAILED, Status.PARTIAL)

    @property
    def open(self) -> bool:
        """Tell whether it is still to be decided; its points are pending."""
        return self in (Status.DEFERRED, Status.ERROR)


class Owner(str, Enum):
    """Whose doing a verdict is. Only a student's own costs points."""

    STUDENT = "student"
    INSTRUCTOR = "instructor"
    INFRASTRUCTURE = "infrastructure"


class Basis(str, Enum):
    """``fact``: measured by the host. ``claim``: rests on what the process said of itself."""

    FACT = "fact"
    CLAIM = "claim"


class Code(str, Enum):
    """Why a check ended as it did; stable, for scripts."""

    OK = "ok"
    NOT_RUN = "not_run"
    # the submission's value
    WRONG_VALUE = "wrong_value"
    WRONG_SHAPE = "wrong_shape"
    WRONG_DTYPE = "wrong_dtype"
    WRONG_DEVICE = "wrong_device"
    WRONG_TYPE = "wrong_type"
    NOT_FINITE = "not_finite"
    INPUT_MODIFIED = "input_modified"
    REDUCED_PRECISION = "reduced_precision"
    NOT_A_VIEW = "not_a_view"
    SHARES_MEMORY = "shares_memory"
    NOT_IN_PLACE = "not_in_place"
    LOOP_FOUND = "loop_found"
    LOOP_MISSING = "loop_missing"
    FORBIDDEN_CALL = "forbidden_call"
    TOO_MANY_CALLS = "too_many_calls"
    TOO_FEW_CALLS = "too_few_calls"
    TOO_MUCH_MEMORY = "too_much_memory"
    WRONG_TRANSFERS = "wrong_transfers"
    RAN_ELSEWHERE = "ran_elsewhere"
    TOO_SLOW = "too_slow"
    NOT_OVERLAPPED = "not_overlapped"
    NOT_REPEATED = "not_repeated"
    NEEDS_REVIEW = "needs_review"
    DECIDED = "decided"
    # the submission's run
    NOT_IMPLEMENTED = "not_implemented"
    RETURNED_NOTHING = "returned_nothing"
    MISSING_FUNCTION = "missing_function"
    RAISED = "raised"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    PROTOCOL_VIOLATION = "protocol_violation"
    REQUIREMENT_NOT_MET = "requirement_not_met"
    UNREADABLE_FILE = "unreadable_file"
    # the submission
    SYNTAX_ERROR = "syntax_error"
    IMPORT_FAILED = "import_failed"
    MISSING_FILE = "missing_file"
    BAD_SUBMISSION = "bad_submission"
    # nobody's fault, or not the student's
    NO_DEVICE = "no_device"
    NOT_COUNTED = "not_counted"
    NO_PERMISSION = "no_permission"
    NOT_TIMED = "not_timed"
    INCONCLUSIVE = "inconclusive"
    DEVICE_FAILED = "device_failed"
    NO_PACKAGE = "no_package"
    SANDBOX_FAILED = "sandbox_failed"
    REFERENCE_FAILED = "reference_failed"


NOTHING_TO_JUDGE = frozenset({
    Code.NOT_IMPLEMENTED, Code.RETURNED_NOTHING, Code.MISSING_FUNCTION, Code.RAISED,
    Code.TIMED_OUT, Code.OUT_OF_MEMORY, Code.CRASHED, Code.PROTOCOL_VIOLATION,
    Code.REQUIREMENT_NOT_MET, Code.SYNTAX_ERROR, Code.IMPORT_FAILED, Code.MISSING_FILE,
    Code.BAD_SUBMISSION, Code.UNREADABLE_FILE,
})  # fmt: skip
"""Codes of failures that no check found by itself: no result was there to look at."""


PRICE = "earns"
"""Parameter of the message of a verdict that a known mistake's price was given for: in percent."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message id and what fills its blanks; rendered by ``grader.report.messages.words``."""

    id: str
    params: Mapping[str, Param] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Witness:
    """What one of several independent witnesses says.

    Attributes:
        name: ``source``, ``behaviour`` or ``time``.
        says: In one word, such as ``loop``, ``no_loop``, ``unclear``.
        basis: Whether its word can be forged.
        evidence: What it rests on.
    """

    name: str
    says: str
    basis: Basis
    evidence: Mapping[str, Param] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one check, on one case or over all of its cases.

    Attributes:
        credit: Share of the check's points earned, 0…1.
        evidence: Numbers behind the verdict, for staff and scripts.
        case: Id of the case that decided, or None where no single one did.
        hidden: The deciding case is hidden, so its evidence is for staff only.
        witnesses: What each said, where the check has several.
    """

    status: Status
    code: Code
    owner: Owner | None = None
    credit: float = 0.0
    message: Message | None = None
    evidence: Mapping[str, Param] = field(default_factory=dict)
    basis: Basis = Basis.FACT
    case: str | None = None
    hidden: bool = False
    witnesses: tuple[Witness, ...] = ()


def passed(basis: Basis = Basis.FACT) -> Verdict:
    """Full credit."""
    return Verdict(Status.PASSED, Code.OK, credit=1.0, basis=basis)


def failed(code: Code, message: Message, basis: Basis = Basis.FACT, **evidence: Param) -> Verdict:
    """No credit, by the student's own doing."""
    return Verdict(Status.FAILED, code, Owner.STUDENT, 0.0, message, evidence, basis)


def deferred(code: Code, message: Message) -> Verdict:
    """Points stay pending until a machine that can grade this has done so."""
    return Verdict(Status.DEFERRED, code, Owner.INFRASTRUCTURE, 0.0, message)


def inconclusive(message: Message) -> Verdict:
    """Measurements do not decide: the points stay pending until there are better ones."""
    return deferred(Code.INCONCLUSIVE, message)


def review(message: Message, basis: Basis = Basis.CLAIM) -> Verdict:
    """Witnesses disagree: the points stay pending until a person has looked."""
    return Verdict(
        Status.DEFERRED, Code.NEEDS_REVIEW, Owner.INFRASTRUCTURE, 0.0, message, basis=basis
    )


def fault(code: Code, owner: Owner, message: Message) -> Verdict:
    """The grader or the assignment failed; points stay pending."""
    return Verdict(Status.ERROR, code, owner, 0.0, message)


def sandbox_failed(detail: str) -> Verdict:
    """The grader failed, for a reason that staff read."""
    message = Message("sandbox_failed", {"detail": plain(detail)})
    return fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, message)


def reference_failed(detail: str) -> Verdict:
    """The reference or the assignment cannot be compared with, for a reason that staff read."""
    message = Message("reference_failed", {"detail": plain(detail)})
    return fault(Code.REFERENCE_FAILED, Owner.INSTRUCTOR, message)


def finding(
    code: Code, message: str, params: Mapping[str, Param], basis: Basis = Basis.FACT
) -> Verdict:
    """Return a failed verdict of the student's own doing; its numbers are its evidence too."""
    return Verdict(Status.FAILED, code, Owner.STUDENT, 0.0, Message(message, params), params, basis)


def earned(share: float, code: Code, message: str, params: Mapping[str, Param]) -> Verdict:
    """Return the verdict on a measure that earns a share of the points; the message is for less."""
    if share == 1:
        return passed()
    missed = finding(code, message, params)
    return replace(missed, status=Status.PARTIAL, credit=share) if share else missed


def number(value: float) -> Param:
    """Return a number that JSON has: NaN and the infinities become words."""
    return value if math.isfinite(value) else str(value)


def plain(text: str) -> str:
    """Return text that every encoding of Unicode can write (a lone surrogate cannot be)."""
    return text.encode("utf-8", "replace").decode("utf-8")
