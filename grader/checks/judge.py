"""From two observations of a case to a verdict, and from verdicts to what a check is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.checks.base import CaseInputs, Check, Probe, UnfitCaseError
from grader.checks.compare_trees import NoItemError, item_of, naming, no_item
from grader.checks.diagnoses import MEANT, call_cause, calls_otherwise
from grader.checks.proved import REPLAY, with_logs
from grader.observation import IN_READER, IN_STAGE, Observation, Outcome, Stop
from grader.verdict import (
    NOTHING_TO_JUDGE,
    PRICE,
    Basis,
    Code,
    Message,
    Owner,
    Param,
    Status,
    Verdict,
    Visibility,
    fault,
    finding,
    plain,
    reference_failed,
    sandbox_failed,
)
from grader.wire.messages import WRONG_FILE, Fault
from grader.wire.values import Value

_PENDING = (Status.ERROR, Status.DEFERRED)
_NOT_WRITTEN = "NotImplementedError"
_TORCHS_OWN = "not implemented for '"
"""In torch's message on a dtype that an operation does not have; no stub says so."""
_LACKS_FORWARD = 'is missing the required "forward" function'
"""In torch's message where a module is called that has no ``forward``; no stub says so."""

_INSTRUCTORS = frozenset({"given.py", "scenario.py"})
"""Files of an assignment that work on what a submission returned; students see no line of them."""

_ENDS = {
    Outcome.OUT_OF_MEMORY: Code.OUT_OF_MEMORY,
    Outcome.CRASHED: Code.CRASHED,
    Outcome.PROTOCOL_VIOLATION: Code.PROTOCOL_VIOLATION,
}


def judge_case(
    check: Check,
    case: CaseInputs,
    reference: Observation,
    submission: Observation,
    function: str = "",
) -> Verdict:
    """Return the verdict of one check on one case. Never raises.

    Args:
        check: The rule.
        case: The host's own inputs.
        reference: What the reference did with them.
        submission: What the submission did with them.
        function: Name of the entry point, for the message that it is not written yet.
    """
    if check.by_person:
        return _left_to_person(check, case, reference, submission, function)
    verdict = (
        # In this order: a failed reference is the instructor's fault whatever the submission did.
        _reference_fault(reference)
        or _ended(submission, function)
        or _nothing(reference, submission, function)
        or _miscounted(check, submission)
        or _judge_item(check, case, reference, submission, function)
    )
    basis = Basis.CLAIM if check.claim else verdict.basis
    return replace(verdict, case=case.id, hidden=case.hidden, basis=basis)


def _left_to_person(
    check: Check, case: CaseInputs, reference: Observation, submission: Observation, function: str
) -> Verdict:
    """Return a person's verdict to come; nothing is read where nothing was written."""
    ended = _ended(submission, function) or _nothing(reference, submission, function)
    if ended and (ended.code is Code.NOT_IMPLEMENTED or ended.status is Status.ERROR):
        return ended
    return check.judge(case, reference, submission)


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict over all cases of a check: all or nothing.

    A failure decides whatever else happened; then a fault, then a deferral, since either leaves
    the points pending; then the least credit.
    """
    for status in (Status.FAILED, Status.ERROR, Status.DEFERRED, Status.SKIPPED):
        for verdict in verdicts:
            if verdict.status is status:
                return verdict
    if not verdicts:
        # Nothing judged is nothing proved: it must not earn points.
        return fault(Code.NOT_RUN, Owner.INFRASTRUCTURE, Message("not_run"))
    # Of equal credit a claim: what holds in one case alone is no fact.
    least = min(verdicts, key=lambda verdict: (verdict.credit, verdict.basis is Basis.FACT))
    if least.status is Status.PARTIAL:
        return least
    return replace(least, case=None, hidden=False)


def settle(
    checks: Sequence[Check], verdicts: Mapping[str, Verdict], shares: bool = False
) -> dict[str, Verdict]:
    """Apply ``requires``: what rests on an unmet check is skipped, on a pending one is pending.

    Args:
        checks: All checks of one question.
        verdicts: The verdict of each over its cases, by the check's id.
        shares: What rests on several checks earns the share of those that are met.

    Returns:
        A verdict for every check, by id.
    """
    by_id = {check.id: check for check in checks}
    settled: dict[str, Verdict] = {}
    found = {check.id: _settle(check.id, by_id, verdicts, settled) for check in checks}
    # A rule that is broken is no part of a result: nothing is shared beside it.
    broken = any(
        check.conditional and verdicts[check.id].status is Status.FAILED
        for check in checks
        if check.id in verdicts
    )
    if not shares or broken:
        return found
    return {check.id: _shared(check, checks, verdicts[check.id], found) for check in checks}


def _shared(
    check: Check, checks: Sequence[Check], own: Verdict, settled: Mapping[str, Verdict]
) -> Verdict:
    """Return a check's verdict; where some of what it rests on is met, its share of that.

    A rule on what is counted earns it where a log shows that it is kept: a wrong function's counts
    are nobody's but the process's own word.
    """
    verdict = settled[check.id]
    is_skipped = verdict.code is Code.REQUIREMENT_NOT_MET and own.status.earned
    # What judges values rests on others because it would be had without the work.
    if not (is_skipped and check.conditional) or check.speed() is not None:
        return verdict
    if not _is_shown(check, own):
        return verdict
    names = required(check, checks)
    needed = [(each, settled[each.id]) for each in checks if each.id in names]
    met = sum(each.points * seen.credit for each, seen in needed if seen.status.earned)
    if not met or any(seen.status.open for _, seen in needed):
        return verdict
    share = met / sum(each.points for each, _ in needed)
    params = {**(verdict.message.params if verdict.message else {}), PRICE: round(100 * share)}
    return replace(
        verdict,
        status=Status.PARTIAL,
        credit=share * own.credit,
        message=Message("rule_kept_in_part", params),
    )


def reads_results(check: Check) -> bool:
    """Tell whether a check reads what came back, and nothing else of a call."""
    return set(check.needs()) <= {Probe.ARGS_AFTER}


def _is_shown(check: Check, verdict: Verdict) -> bool:
    """Tell whether a verdict rests on results alone, or on a log that was run again."""
    return reads_results(check) or any(witness.name == REPLAY for witness in verdict.witnesses)


def _settle(
    name: str,
    checks: Mapping[str, Check],
    verdicts: Mapping[str, Verdict],
    settled: dict[str, Verdict],
) -> Verdict:
    if name not in settled:
        own = verdicts.get(name) or combine(())
        settled[name] = own  # for a circle of requirements: it ends where it began
        if name in checks:
            needed = [
                (other, _settle(other, checks, verdicts, settled))
                for other in required(checks[name], tuple(checks.values()))
            ]
            settled[name] = _resting_on(own, needed)
    return settled[name]


def required(check: Check, checks: Sequence[Check]) -> tuple[str, ...]:
    """Return the ids of the checks that must pass before this one counts."""
    if check.requires is not None:
        return check.requires
    # A diagnostic speaks where others fail: resting on all of them, it never would.
    if not check.conditional or check.diagnostic:
        return ()
    return tuple(other.id for other in checks if not (other.conditional or other.diagnostic))


def _resting_on(own: Verdict, needed: Sequence[tuple[str, Verdict]]) -> Verdict:
    unmet: list[Param] = [
        name for name, verdict in needed if not (verdict.status.earned or verdict.status.open)
    ]
    if unmet and own.code is not Code.FORBIDDEN_CALL:  # a shortcut is reported whatever the values
        message = Message("requirement_not_met", {"requires": unmet})
        return Verdict(
            Status.SKIPPED, Code.REQUIREMENT_NOT_MET, Owner.STUDENT, 0.0, message, basis=own.basis
        )
    # A failure stays one, whatever becomes of what it rests on: only what was earned is held back.
    if not own.status.earned:
        return own
    for status in _PENDING:
        for _, verdict in needed:
            if verdict.status is status:
                return replace(verdict, basis=own.basis)
    return own


def _reference_fault(reference: Observation) -> Verdict | None:
    if reference.outcome is Outcome.COMPLETED:
        return None
    if reference.outcome is Outcome.SANDBOX_FAILED:
        return sandbox_failed(reference.detail)
    detail = reference.detail or reference.outcome.value
    error = reference.claims.fault
    if reference.outcome is Outcome.RAISED and error is not None:
        detail = f"{error.type}: {error.message} ({error.file}:{error.line})"
    return reference_failed(detail)


def _ended(submission: Observation, function: str) -> Verdict | None:
    """Return the verdict on a call that did not return."""
    if submission.outcome is Outcome.COMPLETED:
        return None
    if submission.outcome is Outcome.SANDBOX_FAILED:
        return sandbox_failed(submission.detail)
    if submission.detail in (IN_STAGE, IN_READER):
        return _unusable(submission, function)
    if submission.outcome is Outcome.RAISED:
        return _raised(submission, function)
    if submission.outcome is Outcome.TIMED_OUT:
        return _late(submission)
    if submission.outcome is Outcome.NOT_RUN:
        # What stopped the cases before is a failure of its own; this one is none.
        message = Message("not_reached")
        return Verdict(Status.SKIPPED, Code.NOT_RUN, Owner.STUDENT, 0.0, message)
    code = _ENDS[submission.outcome]
    params: dict[str, Param] = {"detail": plain(submission.detail)}
    if code is Code.CRASHED:
        params |= {"signal": submission.facts.signal, "exit": submission.facts.exit_code}
    return finding(code, code.value, params)


def _unusable(submission: Observation, function: str, message: str = "unusable") -> Verdict:
    """Return the verdict on values, or files, with which nothing could be done."""
    error = submission.claims.fault or Fault("Exception", "")
    params: dict[str, Param] = {
        "type": plain(error.type), "message": plain(error.message), "function": function,
    }  # fmt: skip
    if error.type == WRONG_FILE:
        english, _, korean = error.message.partition("\n")
        params |= {"told_en": plain(english), "told_ko": plain(korean)}
        verdict = finding(Code.UNREADABLE_FILE, "unreadable_file", params)
    elif submission.detail == IN_STAGE:
        cause = calls_otherwise(error.message, function)
        verdict = finding(Code.RAISED, message, {**params, **cause})
    elif error.type == "FileNotFoundError":
        verdict = finding(Code.MISSING_FILE, "no_file", {})
    else:
        verdict = finding(Code.UNREADABLE_FILE, "unreadable_file", params)
    return replace(verdict, evidence={**params, "trace": plain(error.trace)})


def _late(submission: Observation) -> Verdict:
    facts, late = submission.facts, Code.TIMED_OUT
    if facts.stopped is Stop.ASLEEP:
        used: dict[str, Param] = {"seconds": facts.limit, "computed": facts.cpu_seconds}
        return finding(late, "waited_too_long", used)
    if facts.stopped is Stop.ASLEEP_IN_ALL:
        return finding(late, "waited_in_all", {})
    if facts.stopped is Stop.WALL:
        return finding(late, "not_finished", {"seconds": facts.limit})
    params: dict[str, Param] = {"detail": plain(submission.detail)}
    if facts.limit is not None:
        params["seconds"] = facts.limit
    return finding(late, "timed_out", params)


def _miscounted(check: Check, submission: Observation) -> Verdict | None:
    """Return the verdict on counts that are none: no honest code sends them."""
    if Probe.COUNTING not in check.needs():
        return None
    for seen in submission.counted.values():
        if seen.outcome is Outcome.PROTOCOL_VIOLATION:
            return _ended(seen, "")
    return None


def _raised(submission: Observation, function: str) -> Verdict:
    error = submission.claims.fault or Fault("Exception", "")
    if error.type == _NOT_WRITTEN and _LACKS_FORWARD in error.message:
        return finding(Code.RAISED, "no_forward", {})
    unwritten = error.type == _NOT_WRITTEN and _TORCHS_OWN not in error.message
    if unwritten and not _is_written(submission, whole=True):
        return _hiding(submission, function, Code.RAISED) or _not_written(function)
    # Raised in the instructor's file, which may have called the submission or may have been called
    # by it: the student must not be shown its lines.
    if error.file in _INSTRUCTORS:
        return _unusable(replace(submission, detail=IN_STAGE), function, "unusable_there")
    params: dict[str, Param] = {
        "type": plain(error.type),
        "message": plain(error.message),
        "line": error.line,
        "file": plain(error.file),
    }
    cause = call_cause(error.message, function, error.file)
    if cause.get("cause") == "numpys_name":
        # The name most like NumPy's is another one's: copy_ is no copy.
        params["message"] = plain(error.message.partition(MEANT)[0])
    verdict = finding(Code.RAISED, "raised", {**params, **cause})
    return replace(verdict, evidence={**params, "trace": plain(error.trace)})


def _nothing(
    reference: Observation, submission: Observation, function: str, whole: bool = True
) -> Verdict | None:
    """Return the verdict on a result that is nothing but None.

    Args:
        reference: What the reference did.
        submission: What the submission did.
        function: Name of the entry point.
        whole: It is all that was returned, and no item of it.
    """
    value = submission.claims.value
    # Only where the reference returns something: a function that is to return nothing is written.
    if not holds_none(value) or holds_none(reference.claims.value):
        return None
    if not _is_written(submission):
        return _hiding(submission, function, Code.RETURNED_NOTHING) or _not_written(function)
    assert submission.source is not None
    assert submission.source.written is not None
    written = submission.source.written
    if whole and value is None and not written.returns:
        return finding(Code.RETURNED_NOTHING, "no_return", {"where": "result"})
    params: dict[str, Param] = {"where": "result"}
    if not written.returns:
        params["without_return"] = function
    return finding(Code.RETURNED_NOTHING, "only_none", params)


def _is_written(submission: Observation, whole: bool = False) -> bool:
    """Tell whether the text shows a function that is more than a stub, or a class unless whole."""
    written = submission.source.written if submission.source else None
    return written is not None and not written.stub and (written.whole or not whole)


def _hiding(submission: Observation, function: str, code: Code) -> Verdict | None:
    """Return the verdict on a stub that stands below a function of the same name, or None."""
    written = submission.source.written if submission.source else None
    if written is None or not written.hides:
        return None
    return finding(code, "defined_again", {"function": function, "line": written.line})


def holds_none(value: Value) -> bool:
    """Tell None, and a tuple or list of nothing else, which many stubs return."""
    if isinstance(value, (tuple, list)) and value:
        return all(holds_none(item) for item in value)
    return value is None


def _not_written(function: str) -> Verdict:
    return finding(Code.NOT_IMPLEMENTED, "not_implemented", {"function": function})


def _judge_item(
    check: Check, case: CaseInputs, reference: Observation, submission: Observation, function: str
) -> Verdict:
    if check.item is None:
        return _judge(check, case, reference, submission)
    try:
        reference = item_of(reference, check.item)
    except NoItemError as error:
        return reference_failed(str(error))
    try:
        submission = item_of(submission, check.item)
    except NoItemError:
        return no_item(submission, check.item)
    verdict = _nothing(reference, submission, function, whole=False) or _judge(
        check, case, reference, submission
    )
    return naming(verdict, check.item)


def _judge(
    check: Check, case: CaseInputs, reference: Observation, submission: Observation
) -> Verdict:
    try:
        return with_logs(check, case, reference, submission)
    except UnfitCaseError as error:
        return reference_failed(str(error))
    except Exception as error:  # noqa: BLE001  # a judge's fault must never cost a student points
        return sandbox_failed(f"check kind {check.kind} failed: {type(error).__name__}: {error}")


def with_diagnoses(checks: Sequence[Check], verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
    """Return the verdicts of listed checks; the first that failed says what diagnostics found.

    Args:
        checks: Of one question, in order.
        verdicts: By the check's id; those of diagnostic checks too.
    """
    listed = {check.id: verdicts[check.id] for check in checks if not check.diagnostic}
    found = [check for check in checks if check.diagnostic and _speaks(verdicts[check.id])]
    failed = [check for check in checks if check.id in listed and _has_room(listed[check.id])]
    if not found or not failed:
        return listed
    # A student may see nothing of the others: there the sentence would be lost.
    first = next(
        (check for check in failed if check.visibility in (None, Visibility.VISIBLE)), failed[0]
    )
    verdict = listed[first.id]
    assert verdict.message is not None
    said: dict[str, Param] = {
        f"diagnosis_{language}": " ".join(
            text for check in found if check.message and (text := getattr(check.message, language))
        )
        for language in ("en", "ko")
    }
    names: list[Param] = [check.id for check in found]
    params = {**verdict.message.params, "diagnostics": names, **said}
    return {**listed, first.id: replace(verdict, message=Message(verdict.message.id, params))}


def _speaks(diagnostic: Verdict) -> bool:
    """Tell whether a diagnostic check itself found what it looks for."""
    return diagnostic.status is Status.FAILED and diagnostic.code not in NOTHING_TO_JUDGE


def _has_room(verdict: Verdict) -> bool:
    return verdict.status.wrong and verdict.message is not None


_SAME = ("type", "message", "file", "line")


def without_repeats(checks: Sequence[Check], verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
    """Return the verdicts; an exception that an earlier one tells in full is named there.

    Of what not every student may see, nothing is referred to, and nothing refers elsewhere.

    Args:
        checks: Of one question, in order.
        verdicts: By the check's id.
    """
    first: dict[tuple[Param, ...], str] = {}
    judged = dict(verdicts)
    for check in checks:
        verdict = judged[check.id]
        message = verdict.message
        if check.visibility not in (None, Visibility.VISIBLE) or verdict.hidden:
            continue
        if verdict.code is not Code.RAISED or message is None:
            continue
        earlier = first.setdefault(tuple(message.params.get(name) for name in _SAME), check.id)
        if earlier != check.id:
            known = message.params
            again = Message("raised_again", {**known, "type": known.get("type"), "first": earlier})
            judged[check.id] = replace(verdict, message=again)
    return judged
