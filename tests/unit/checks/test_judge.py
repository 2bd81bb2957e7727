import json
from dataclasses import replace

import pytest
from observed import CASE, ended, seen, tensor
from pydantic import TypeAdapter

from grader.checks import AnyCheck
from grader.checks.arguments import Unmodified
from grader.checks.form import SameShape
from grader.checks.judge import combine, judge_case, settle
from grader.checks.loops import Loops
from grader.checks.proved import REPLAY
from grader.checks.values import Close
from grader.observation import HostFacts, Outcome, Stop
from grader.report.messages.catalogue import words_in
from grader.static_analysis.facts import EntryFacts, Written
from grader.verdict import (
    Basis,
    Code,
    Message,
    Owner,
    Status,
    Verdict,
    Witness,
    deferred,
    failed,
    fault,
    passed,
)
from grader.wire.messages import Fault

CHECK = Close(id="values", points=1, rtol=0.0, atol=0.0)
RIGHT = seen(tensor([1.0]))


def judge(submission, reference=RIGHT, case=CASE, check=CHECK):
    return judge_case(check, case, reference, submission, "normalize")


def test_a_completed_call_is_judged_by_the_check():
    assert judge(RIGHT).status is Status.PASSED
    assert judge(seen(tensor([2.0]))).code is Code.WRONG_VALUE


def test_a_claim_says_so_whatever_becomes_of_it():
    claim = CHECK.model_copy(update={"claim": True})
    for submission in (RIGHT, seen(tensor([2.0])), ended(Outcome.TIMED_OUT)):
        assert judge(submission, check=claim).basis is Basis.CLAIM
        assert judge(submission).basis is Basis.FACT


def test_the_case_and_its_secrecy_are_stamped():
    verdict = judge(seen(tensor([2.0])), case=replace(CASE, id="c7", hidden=True))
    assert (verdict.case, verdict.hidden) == ("c7", True)
    assert not judge(RIGHT).hidden


def test_an_exception_is_told_with_its_line_and_its_trace_is_for_staff():
    error = Fault("ValueError", "bad \ud800 shape", "hw.py", 12, trace="Traceback …")
    verdict = judge(ended(Outcome.RAISED, fault=error))
    assert (verdict.code, verdict.owner) == (Code.RAISED, Owner.STUDENT)
    told = {"type": "ValueError", "message": "bad ? shape", "line": 12, "file": "hw.py"}
    assert verdict.message == Message("raised", told)
    assert verdict.evidence == {**told, "trace": "Traceback …"}


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("Torch not compiled with CUDA enabled", "no_cuda_here"),
        ("PyTorch is not linked with support for mps devices", "no_mps_here"),
        ("CUDA error: invalid device ordinal", "no_such_gpu"),
        ("shape '[2]' is invalid for input of size 3", None),
    ],
)
def test_a_device_that_is_not_there_is_named(said: str, cause: str | None) -> None:
    verdict = judge(ended(Outcome.RAISED, fault=Fault("RuntimeError", said, "hw.py", 3)))
    assert verdict.message.params.get("cause") == cause


@pytest.mark.parametrize(
    ("said", "file", "cause"),
    [
        ("f() missing 1 required positional argument: 'y'", "", "other_parameters"),
        ("f() takes 1 positional argument but 2 were given", "", "other_parameters"),
        ("f.forward() takes 2 positional arguments but 3 were given", "", "other_parameters"),
        # The student's own call, a hook, and a function of somebody else's.
        ("f() missing 1 required positional argument: 'y'", "hw.py", None),
        ("f._hook() takes 1 positional argument but 3 were given", "", None),
        ("f.<locals>.g() takes 1 positional argument but 3 were given", "", None),
        ("g() missing 1 required positional argument: 'y'", "", None),
        ("sum() got an unexpected keyword argument 'axis'", "hw.py", "numpy_of_tensor"),
        (
            "max() received an invalid combination of arguments - got (out=NoneType, axis=int, )",
            "hw.py",
            "numpy_of_tensor",
        ),
        ("my_sum() got an unexpected keyword argument 'axis'", "hw.py", None),
        (
            "The size of tensor a (3) must match the size of tensor b (4) at dimension 1",
            "hw.py",
            "shapes_meet",
        ),
        ("step must be greater than zero", "hw.py", "backwards"),
        ("1D tensors expected, but got 1D and 2D tensors", "hw.py", "two_vectors"),
        ("Module.eval() missing 1 required positional argument: 'self'", "", "class_for_object"),
        ("'Tensor' object has no attribute 'copy'. Did you mean: 'copy_'?", "hw.py", "numpys_name"),
        ("module 'torch' has no attribute 'array'", "hw.py", "numpys_name"),
        ("'Net' object has no attribute 'copy'", "hw.py", None),
        ("'Tensor' object has no attribute 'fill'. Did you mean: 'fill_'?", "hw.py", None),
    ],
)
def test_other_parameters_are_named(said: str, file: str, cause: str | None) -> None:
    raised = ended(Outcome.RAISED, fault=Fault("TypeError", said, file, 3))
    message = judge_case(CHECK, CASE, RIGHT, raised, "f").message
    assert message is not None
    assert message.params.get("cause") == cause


def test_a_name_of_numpys_is_told_without_the_one_most_like_it() -> None:
    said = "'Tensor' object has no attribute 'copy'. Did you mean: 'copy_'?"
    told = judge(ended(Outcome.RAISED, fault=Fault("AttributeError", said, "hw.py", 3)))
    assert told.message.params["message"] == "'Tensor' object has no attribute 'copy'"
    assert "NumPy has “copy”, torch has clone for it." in words_in("en").for_staff(told)


def test_a_module_without_forward_is_not_called_unwritten() -> None:
    said = 'Module [Net] is missing the required "forward" function'
    raised = ended(Outcome.RAISED, fault=Fault("NotImplementedError", said, "scenario.py", 3))
    verdict = judge(replace(raised, source=EntryFacts(written=Written(3, whole=False))))
    assert verdict.message == Message("no_forward", {})


def test_other_parameters_are_named_where_the_assignments_own_code_calls() -> None:
    error = Fault("TypeError", "f() takes 1 positional argument but 5 were given", "given.py", 21)
    message = judge_case(CHECK, CASE, RIGHT, ended(Outcome.RAISED, fault=error), "f").message
    assert message.params["cause"] == "other_parameters"
    message = judge_case(CHECK, CASE, RIGHT, ended(Outcome.RAISED, fault=error), "g").message
    assert "cause" not in message.params


@pytest.mark.parametrize("file", ["given.py", "scenario.py"])
def test_no_line_of_the_assignments_own_files_is_told(file: str) -> None:
    error = Fault("TypeError", "'NoneType' object is not iterable", file, 21)
    verdict = judge_case(CHECK, CASE, RIGHT, ended(Outcome.RAISED, fault=error), "freeze")
    assert verdict.code is Code.RAISED
    assert verdict.message is not None
    # It may have been called by the submission: what that returned need not be the reason.
    assert verdict.message.id == "unusable_there"
    assert verdict.message.params["function"] == "freeze"
    assert not {"file", "line"} & set(verdict.message.params)


def test_an_exception_without_a_description_is_still_one():
    assert judge(ended(Outcome.RAISED)).message.params["type"] == "Exception"


def test_counts_that_are_none_are_the_submissions_own():
    check = Loops(id="l", points=1, mode="none")
    counted = {"": ended(Outcome.PROTOCOL_VIOLATION, "a count beyond 64 bits")}
    verdict = judge(replace(RIGHT, counted=counted), check=check)
    assert (verdict.code, verdict.owner) == (Code.PROTOCOL_VIOLATION, Owner.STUDENT)
    # The value itself was answered in a call of its own.
    assert judge(replace(RIGHT, counted=counted)).status is Status.PASSED


UNWRITTEN = ended(Outcome.RAISED, fault=Fault("NotImplementedError", ""))


@pytest.mark.parametrize("submission", [seen(None), seen((None, [None])), UNWRITTEN])
def test_a_stub_is_not_implemented(submission):
    verdict = judge(submission)
    assert (verdict.status, verdict.code) == (Status.FAILED, Code.NOT_IMPLEMENTED)
    assert verdict.message == Message("not_implemented", {"function": "normalize"})


@pytest.mark.parametrize(
    ("written", "submission", "code", "message"),
    [
        (Written(3), seen(None), Code.RETURNED_NOTHING, "only_none"),
        (Written(3), seen((None, None)), Code.RETURNED_NOTHING, "only_none"),
        (Written(3, returns=False), seen(None), Code.RETURNED_NOTHING, "no_return"),
        (Written(3, stub=True), seen(None), Code.NOT_IMPLEMENTED, "not_implemented"),
        (Written(3, stub=True, hides=True), seen(None), Code.RETURNED_NOTHING, "defined_again"),
        (Written(3), UNWRITTEN, Code.RAISED, "raised"),
        # A class that returns None is written; one without a method that is called may not be.
        (Written(3, whole=False), seen(None), Code.RETURNED_NOTHING, "only_none"),
        (Written(3, whole=False), UNWRITTEN, Code.NOT_IMPLEMENTED, "not_implemented"),
        (Written(3, stub=True), UNWRITTEN, Code.NOT_IMPLEMENTED, "not_implemented"),
        (Written(3, stub=True, hides=True), UNWRITTEN, Code.RAISED, "defined_again"),
    ],
)
def test_only_a_stub_is_called_unwritten(written, submission, code, message):
    verdict = judge(replace(submission, source=EntryFacts(written=written)))
    assert (verdict.status, verdict.code) == (Status.FAILED, code)
    assert verdict.message is not None
    assert verdict.message.id == message


@pytest.mark.parametrize(("returns", "told"), [(False, "normalize"), (True, None)])
def test_a_function_without_return_is_told_where_a_part_is_none(returns, told):
    check = CHECK.model_copy(update={"item": "losses"})
    source = EntryFacts(written=Written(3, returns=returns))
    submission = replace(seen({"losses": None, "rest": 1}), source=source)
    verdict = judge(submission, seen({"losses": [1.0], "rest": 1}), check=check)
    assert verdict.message.id == "only_none"
    assert verdict.message.params.get("without_return") == told


def test_none_is_right_where_the_reference_returns_it():
    assert judge(seen(None), seen(None)).status is Status.PASSED


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome.TIMED_OUT, Code.TIMED_OUT),
        (Outcome.OUT_OF_MEMORY, Code.OUT_OF_MEMORY),
        (Outcome.PROTOCOL_VIOLATION, Code.PROTOCOL_VIOLATION),
    ],
)
def test_a_call_that_did_not_return_is_the_students(outcome, code):
    verdict = judge(ended(outcome, "why \udcff"))
    assert (verdict.status, verdict.code, verdict.owner) == (Status.FAILED, code, Owner.STUDENT)
    assert verdict.message == Message(code.value, {"detail": "why ?"})


@pytest.mark.parametrize(
    ("stop", "told"),
    [
        (Stop.PROCESSOR, "Stopped after 10 s of processor time"),
        (Stop.ASLEEP, "it waited for 10 s and hardly computed (0.25 s of processor time)"),
        (Stop.WALL, "Stopped after 10 s without a result."),
    ],
)
def test_a_time_out_says_what_was_used_up(stop, told):
    late = ended(Outcome.TIMED_OUT)
    facts = replace(late.facts, stopped=stop, limit=10.0, cpu_seconds=0.25)
    message = judge(replace(late, facts=facts)).message
    for language in ("en", "ko"):
        assert "10" in words_in(language).render(message)
    assert told in words_in("en").render(message)


def test_a_case_that_never_ran_says_so():
    verdict = judge(ended(Outcome.NOT_RUN))
    assert (verdict.status, verdict.code, verdict.credit) == (Status.SKIPPED, Code.NOT_RUN, 0)
    assert "two earlier cases" in words_in("en").render(verdict.message)
    # What stopped the earlier ones is what the student is told.
    late = judge(ended(Outcome.TIMED_OUT))
    assert combine([verdict, late]).code is Code.TIMED_OUT


def test_a_crash_names_the_signal():
    crashed = replace(ended(Outcome.CRASHED, "died"), facts=HostFacts(signal=11))
    verdict = judge(crashed)
    assert verdict.code is Code.CRASHED
    assert verdict.message.params == {"detail": "died", "signal": 11, "exit": None}


def test_a_sandbox_that_failed_costs_nothing():
    verdict = judge(ended(Outcome.SANDBOX_FAILED, "no walls"))
    assert (verdict.status, verdict.owner) == (Status.ERROR, Owner.INFRASTRUCTURE)
    assert verdict.message == Message("sandbox_failed", {"detail": "no walls"})


@pytest.mark.parametrize("submission", [RIGHT, seen(None), ended(Outcome.CRASHED)])
@pytest.mark.parametrize(
    ("reference", "detail"),
    [
        (ended(Outcome.TIMED_OUT), "timed_out"),
        (ended(Outcome.CRASHED, "signal 9"), "signal 9"),
        (ended(Outcome.RAISED, "it raised"), "it raised"),
        (
            ended(Outcome.RAISED, fault=Fault("KeyError", "'a'", "ref.py", 3)),
            "KeyError: 'a' (ref.py:3)",
        ),
    ],
)
def test_a_reference_that_fails_is_the_instructors(reference, detail, submission):
    verdict = judge(submission, reference)
    assert (verdict.status, verdict.code) == (Status.ERROR, Code.REFERENCE_FAILED)
    assert verdict.owner is Owner.INSTRUCTOR
    assert verdict.message == Message("reference_failed", {"detail": detail})


def test_the_references_sandbox_is_nobodys_fault_either():
    verdict = judge(RIGHT, ended(Outcome.SANDBOX_FAILED, "no walls"))
    assert (verdict.code, verdict.owner) == (Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE)


def test_a_judge_that_fails_costs_nothing():
    class Broken(SameShape):
        def judge(self, case, reference, submission):
            raise ZeroDivisionError("oh")

    verdict = judge(RIGHT, check=Broken(id="b", points=1))
    assert (verdict.status, verdict.owner) == (Status.ERROR, Owner.INFRASTRUCTURE)
    assert verdict.message.params["detail"] == "check kind shape failed: ZeroDivisionError: oh"


def test_verdicts_are_plain_json():
    for value in (tensor([float("nan")]), tensor([float("inf")]), 3, None, "a", tensor([[1.0]])):
        verdict = judge(seen(value))
        json.dumps([verdict.message.params, verdict.evidence], allow_nan=False)


FAILED = failed(Code.WRONG_VALUE, Message("wrong_value"))
ERROR = fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, Message("sandbox_failed"))
DEFERRED = deferred(Code.NO_DEVICE, Message("no_device"))
HALF = Verdict(Status.PARTIAL, Code.OK, credit=0.5)
MOST = Verdict(Status.PARTIAL, Code.OK, credit=0.9)
PASSED = replace(passed(Basis.CLAIM), case="c", hidden=True)
SKIPPED = Verdict(Status.SKIPPED, Code.REQUIREMENT_NOT_MET, Owner.STUDENT)


@pytest.mark.parametrize(
    ("verdicts", "wanted"),
    [
        ([PASSED, ERROR, FAILED, DEFERRED], FAILED),
        ([FAILED, replace(FAILED, case="later")], FAILED),
        ([PASSED, DEFERRED, ERROR], ERROR),
        ([HALF, DEFERRED, PASSED], DEFERRED),
        ([PASSED, SKIPPED], SKIPPED),
        ([PASSED, MOST, HALF], HALF),
    ],
)
def test_the_worst_case_decides(verdicts, wanted):
    assert combine(verdicts) is wanted


def test_no_single_case_decides_that_all_passed():
    verdict = combine([PASSED, PASSED])
    assert (verdict.status, verdict.credit, verdict.basis) == (Status.PASSED, 1.0, Basis.CLAIM)
    assert (verdict.case, verdict.hidden) == (None, False)


def test_nothing_judged_earns_nothing_and_loses_nothing():
    verdict = combine([])
    assert (verdict.status, verdict.code) == (Status.ERROR, Code.NOT_RUN)
    assert (verdict.owner, verdict.credit) == (Owner.INFRASTRUCTURE, 0.0)


def shape(name, *requires):
    return SameShape(id=name, points=1, requires=requires or None)


UNTOUCHED = Unmodified(id="untouched", points=1)


@pytest.mark.parametrize(
    ("needed", "own", "status"),
    [
        (PASSED, PASSED, Status.PASSED),
        (HALF, PASSED, Status.PASSED),
        (FAILED, PASSED, Status.SKIPPED),
        (FAILED, FAILED, Status.SKIPPED),
        (SKIPPED, PASSED, Status.SKIPPED),
        (DEFERRED, PASSED, Status.DEFERRED),
        (ERROR, PASSED, Status.ERROR),
        (DEFERRED, FAILED, Status.FAILED),
        (PASSED, FAILED, Status.FAILED),
        (PASSED, DEFERRED, Status.DEFERRED),
    ],
)
def test_what_a_conditional_check_is_worth(needed, own, status):
    verdicts = {"values": needed, "untouched": own}
    settled = settle([CHECK, UNTOUCHED], verdicts)
    assert settled["values"] is needed
    assert settled["untouched"].status is status


def test_what_was_missing_is_named():
    settled = settle(
        [shape("a"), shape("b"), shape("c"), UNTOUCHED],
        {"a": FAILED, "b": PASSED, "c": FAILED, "untouched": PASSED},
    )
    verdict = settled["untouched"]
    assert (verdict.code, verdict.owner) == (Code.REQUIREMENT_NOT_MET, Owner.STUDENT)
    assert verdict.message == Message("requirement_not_met", {"requires": ["a", "c"]})
    assert verdict.basis is Basis.CLAIM


def test_unmet_outweighs_pending_and_a_fault_a_deferral():
    checks = [shape("a"), shape("b"), UNTOUCHED]
    settled = settle(checks, {"a": DEFERRED, "b": FAILED, "untouched": PASSED})
    assert settled["untouched"].status is Status.SKIPPED
    settled = settle(checks, {"a": DEFERRED, "b": ERROR, "untouched": PASSED})
    assert settled["untouched"].status is Status.ERROR


@pytest.mark.parametrize(
    ("loss", "gradient", "own", "credit"),
    [
        (PASSED, FAILED, PASSED, 0.25),
        (FAILED, PASSED, PASSED, 0.75),
        (FAILED, FAILED, PASSED, 0),
        (PASSED, PASSED, PASSED, 1),
        (PASSED, FAILED, FAILED, 0),
        (PASSED, DEFERRED, PASSED, 0),
        (FAILED, DEFERRED, PASSED, 0),
    ],
)
def test_what_rests_on_several_checks_earns_the_share_of_those_that_are_met(
    loss, gradient, own, credit
):
    checks = [
        SameShape(id="loss", points=1),
        SameShape(id="gradient", points=3),
        Unmodified(id="untouched", points=1, requires=("loss", "gradient")),
    ]
    verdicts = {"loss": loss, "gradient": gradient, "untouched": own}
    settled = settle(checks, verdicts, shares=True)["untouched"]
    assert settled.credit == credit
    if 0 < credit < 1:
        assert (settled.status, settled.code) == (Status.PARTIAL, Code.REQUIREMENT_NOT_MET)
        assert settled.message is not None
        assert settled.message.id == "rule_kept_in_part"
    else:
        assert settled == settle(checks, verdicts)["untouched"]


def test_what_rests_on_a_broken_rule_earns_no_share():
    rule = Unmodified(id="rule", points=1, requires=())
    last = Unmodified(id="last", points=1, requires=("a", "rule"))
    verdicts = {"a": PASSED, "rule": FAILED, "last": PASSED}
    settled = settle([shape("a"), rule, last], verdicts, shares=True)
    assert settled["last"].credit == 0
    verdicts = {"a": FAILED, "rule": PASSED, "last": PASSED}
    settled = settle([shape("a"), rule, last], verdicts, shares=True)
    assert settled["last"].credit == 0.5


def test_a_rule_on_what_is_counted_earns_a_share_only_where_a_log_shows_it():
    rule = Loops(id="rule", points=1, mode="none", requires=("a", "b"))
    checks = [shape("a"), shape("b"), rule]
    verdicts = {"a": PASSED, "b": FAILED, "rule": PASSED}
    assert settle(checks, verdicts, shares=True)["rule"].credit == 0
    shown = replace(PASSED, witnesses=(Witness(REPLAY, "kept", Basis.FACT, {}),))
    assert settle(checks, {**verdicts, "rule": shown}, shares=True)["rule"].credit == 0.5


def test_requirements_reach_through_chains_in_any_order():
    checks = [shape("c", "b"), shape("b", "a"), shape("a")]
    settled = settle(checks, {"a": FAILED, "b": PASSED, "c": PASSED})
    assert [settled[name].status for name in "abc"] == [
        Status.FAILED, Status.SKIPPED, Status.SKIPPED,
    ]  # fmt: skip


def test_an_unconditional_check_stands_alone_unless_it_says_otherwise():
    settled = settle([shape("a"), shape("b")], {"a": FAILED, "b": PASSED})
    assert settled["b"].status is Status.PASSED


def test_a_conditional_check_that_requires_nothing_says_so():
    free = Unmodified(id="untouched", points=1, requires=())
    settled = settle([CHECK, free], {"values": FAILED, "untouched": PASSED})
    assert settled["untouched"].status is Status.PASSED


def test_a_circle_of_requirements_ends():
    settled = settle([shape("a", "b"), shape("b", "a")], {"a": PASSED, "b": PASSED})
    assert {verdict.status for verdict in settled.values()} == {Status.PASSED}


def test_a_requirement_that_was_never_judged_leaves_the_points_pending():
    settled = settle([shape("a", "gone")], {"a": PASSED})
    assert (settled["a"].status, settled["a"].code) == (Status.ERROR, Code.NOT_RUN)
    assert set(settled) == {"a"}


def test_the_kind_in_the_file_chooses_the_check():
    read = TypeAdapter(AnyCheck).validate_python
    assert isinstance(read({"kind": "shape", "id": "s", "points": 1}), SameShape)
    assert isinstance(read({"kind": "unmodified", "id": "s", "points": 1}), Unmodified)
    assert SameShape(id="s", points=1).needs() == frozenset()


def test_a_check_with_an_item_sees_that_item_alone():
    check = Close(id="loss", points=1, rtol=0.0, atol=0.0, item="loss")
    right = seen({"loss": 1.0, "steps": 7})
    assert judge(seen({"loss": 1.0, "steps": 99}), right, check=check).status is Status.PASSED
    verdict = judge(seen({"loss": 2.0, "steps": 7}), right, check=check)
    assert (verdict.code, verdict.message.params["where"]) == (Code.WRONG_VALUE, "loss")
    assert judge(seen({"loss": None}), right, check=check).code is Code.NOT_IMPLEMENTED


def test_a_result_without_the_item_is_of_the_wrong_type():
    check = Close(id="loss", points=1, rtol=0.0, atol=0.0, item="loss")
    verdict = judge(seen({"steps": 7}), seen({"loss": 1.0}), check=check)
    assert verdict.code is Code.WRONG_TYPE
    assert verdict.message.params["expected"] == "dict with “loss”"


def test_an_item_that_the_reference_does_not_return_is_the_instructors():
    check = Close(id="loss", points=1, rtol=0.0, atol=0.0, item="loss")
    verdict = judge(seen({"loss": 1.0}), seen({"steps": 7}), check=check)
    assert (verdict.code, verdict.owner) == (Code.REFERENCE_FAILED, Owner.INSTRUCTOR)


def test_an_item_may_lie_within_an_item():
    check = Close(id="steps", points=1, rtol=0.0, atol=0.0, item="log.steps")
    right = seen({"log": {"steps": 7, "tag": "a"}})
    assert judge(seen({"log": {"steps": 7, "tag": "b"}}), right, check=check).code is Code.OK
    for wrong in ({"log": {"steps": 8}}, {"log": {"steps": 8}, "steps": 7}):
        assert judge(seen(wrong), right, check=check).code is Code.WRONG_VALUE
    for wrong in ({"log": 7}, {"log": {}}, {"steps": 7}):
        assert judge(seen(wrong), right, check=check).code is Code.WRONG_TYPE


@pytest.mark.parametrize("item", [1, "1"])
def test_an_item_may_be_a_place_in_a_tuple(item):
    check = Close(id="grad", points=1, rtol=0.0, atol=0.0, item=item)
    reference = seen((2.0, tensor([1.0])))
    assert judge(seen([3.0, tensor([1.0])]), reference, check=check).status is Status.PASSED
    wrong = judge(seen((2.0, tensor([5.0]))), reference, check=check)
    assert wrong.code is Code.WRONG_VALUE
    assert wrong.message.params["where"] == "result[1]"
    lone = judge(seen(tensor([1.0])), reference, check=check)
    assert lone.code is Code.WRONG_TYPE
    assert lone.message.params["expected"] == "tuple with item 1"


def test_a_key_that_is_written_like_the_way_to_an_item_is_not_that_item():
    check = Close(id="best", points=1, rtol=0.0, atol=0.0, item="log.best.loss")
    right = seen({"log": {"best": {"loss": 7}}})
    for forged in ({"log.best.loss": 7}, {"log": {"best.loss": 7}}, {"log.best": {"loss": 7}}):
        assert judge(seen(forged), right, check=check).code is Code.WRONG_TYPE
