"""Checks on what devices did: placement, transfers, the place of the work, memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from observed import CASE, seen
from pydantic import ValidationError

from grader.checks.base import Probe
from grader.checks.device_work import DeviceMemory, RanOn, Transfers
from grader.checks.judge import judge_case
from grader.checks.placement import Placement
from grader.report.messages.catalogue import words_in
from grader.static_analysis.facts import EntryFacts
from grader.verdict import Basis, Code, Owner, Status, Verdict

MIB = 2**20


def kernel(op: str, device: str, flops: int) -> dict[str, Any]:
    return {"op": op, "device": device, "count": 1, "flops": flops, "bytes": 8}


def route(source: str, target: str, count: int, size: int, parameters: int = 0) -> dict[str, Any]:
    return {
        "source": source, "target": target, "count": count, "bytes": size,
        "parameters": parameters,
    }  # fmt: skip


def report(
    kernels: tuple[Any, ...] = (), routes: tuple[Any, ...] = (), peaks: tuple[int, ...] = (0, 0)
) -> dict[Any, Any]:
    memory = {f"cuda:{number}": {"peak": peak} for number, peak in enumerate(peaks)}
    return {
        "devices": list(memory), "kernels": list(kernels), "transfers": list(routes),
        "memory": memory,
    }  # fmt: skip


def judged(check: Any, expected: Any, actual: Any, source: EntryFacts | None = None) -> Verdict:
    """Judge as an item where the check names one, else as a probe."""
    if check.item or isinstance(check, Placement) or getattr(check, "flat", None):
        pair = [
            seen({check.item or "": told} if check.item else told) for told in (expected, actual)
        ]
    else:
        pair = [seen(1, probes={"devices": told}) for told in (expected, actual)]
    if source is not None:
        pair[1] = replace(pair[1], source=source)
    verdict = judge_case(check, CASE, pair[0], pair[1])
    assert verdict.basis is Basis.CLAIM or verdict.status is Status.ERROR
    return verdict


def told(verdict: Verdict) -> tuple[Code, str, object]:
    assert verdict.message is not None
    return verdict.code, verdict.message.id, verdict.message.params.get("cause")


# -- what all share -------------------------------------------------------------------------------

ON_GPU = RanOn(id="r", points=1, device="cuda")
GPU = report((kernel("mm", "cuda:0", 1000),), (route("cpu", "cuda:0", 2, 80),), (100,))
CHECKS = [
    ON_GPU,
    Transfers(id="t", points=1, count="exactly"),
    DeviceMemory(id="m", points=1),
]


@pytest.mark.parametrize("check", CHECKS)
def test_the_whole_call_is_probed_unless_an_item_tells(check) -> None:
    assert check.needs() == {Probe.DEVICES}
    assert check.model_copy(update={"item": "forward"}).needs() == set()
    assert check.conditional


@pytest.mark.parametrize("check", CHECKS)
def test_what_the_reference_does_passes(check) -> None:
    assert judged(check, GPU, GPU).status is Status.PASSED
    item = check.model_copy(update={"item": "forward"})
    assert judged(item, GPU, GPU).status is Status.PASSED


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "broken",
    [
        None,
        3,
        {},
        {**GPU, "kernels": [{**kernel("mm", "cuda:0", 1), "flops": -1}]},
        {**GPU, "kernels": [{**kernel("mm", "cuda:0", 1), "flops": True}]},
        {**GPU, "kernels": [{**kernel("mm", "cuda:0", 1), "op": "x" * 300}]},
        {**GPU, "memory": {"cuda:0": {"peak": 1.5}}},
        {**GPU, "transfers": {}},
        {**GPU, "devices": [1]},
        {**GPU, "memory": []},
    ],
)
def test_a_report_of_another_form_earns_nothing(check, broken) -> None:
    assert judged(check, GPU, broken).code is Code.PROTOCOL_VIOLATION
    verdict = judged(check, broken, GPU)
    assert (verdict.code, verdict.owner) == (Code.REFERENCE_FAILED, Owner.INSTRUCTOR)
    item = check.model_copy(update={"item": "forward"})
    if broken is not None:
        assert judged(item, GPU, broken).code is Code.WRONG_TYPE


# -- ran_on ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actual", "outcome"),
    [
        (report((kernel("bmm", "cuda:3", 1000),)), None),
        (report((kernel("mul", "cuda:0", 500), kernel("sum", "cuda:0", 1))), None),
        (
            report((kernel("mm", "cpu", 1000),), (route("cpu", "cuda:0", 1, 8),)),
            ("ran_elsewhere", "computed_then_moved"),
        ),
        (report((kernel("mm", "cpu", 1000),)), ("ran_elsewhere", "never_on_gpu")),
        ({**report(), "dropped": 1000}, ("ran_elsewhere", "work_dropped")),
        (report(), ("ran_elsewhere", "never_on_gpu")),
        (report((), (route("cpu", "cuda:0", 1, 8),)), ("ran_elsewhere", "computed_then_moved")),
        (report((kernel("mm", "cuda:0", 499),)), ("ran_too_little", None)),
        (
            report((kernel("mm", "cuda:0", 1000), kernel("mm", "cpu", 200))),
            ("ran_elsewhere", None),
        ),
    ],
)
def test_the_work_must_be_done_on_the_device(actual, outcome) -> None:
    verdict = judged(ON_GPU, GPU, actual)
    if outcome is None:
        assert verdict.status is Status.PASSED
    else:
        assert told(verdict) == (Code.RAN_ELSEWHERE, *outcome)


def test_the_share_and_the_other_device_are_told() -> None:
    actual = report((kernel("mm", "cuda:0", 100), kernel("mm", "cpu", 300)))
    params = judged(ON_GPU, GPU, actual).message.params
    assert (params["share"], params["least"], params["other"]) == (25.0, 90.0, "cpu")


def test_only_the_operations_that_are_meant_count() -> None:
    check = RanOn(id="r", points=1, device="cuda:1", ops=("mm", "*conv*"))
    expected = report((kernel("mm", "cuda:1", 10), kernel("relu", "cuda:0", 99)))
    assert judged(check, expected, expected).status is Status.PASSED
    elsewhere = report((kernel("mm", "cuda:0", 10), kernel("relu", "cuda:1", 99)))
    assert judged(check, expected, elsewhere).code is Code.RAN_ELSEWHERE


HALVES = report((kernel("mm", "cuda:0", 60), kernel("mm", "cuda:1", 40)))


@pytest.mark.parametrize(
    ("work", "outcome"),
    [
        ((70, 30), None),
        ((48, 52), None),
        ((80, 20), ("ran_unevenly", None)),
        ((40, 60), ("ran_unevenly", None)),
        ((100, 0), ("ran_unevenly", "all_on_one")),
    ],
)
def test_shares_are_compared_where_no_device_is_named(work, outcome) -> None:
    actual = report(tuple(kernel("mm", f"cuda:{n}", flops) for n, flops in enumerate(work)))
    verdict = judged(RanOn(id="r", points=1), HALVES, actual)
    if outcome is None:
        assert verdict.status is Status.PASSED
    else:
        assert told(verdict) == (Code.RAN_ELSEWHERE, *outcome)


def test_the_idle_device_is_named() -> None:
    actual = report((kernel("mm", "cuda:0", 100),))
    params = judged(RanOn(id="r", points=1), HALVES, actual).message.params
    assert (params["busy"], params["idle"]) == ("cuda:0", "cuda:1")


@pytest.mark.parametrize("fields", [{"device": "cuda", "within": 0.2}, {"least": 0.5}])
def test_ran_on_refuses_what_has_no_meaning(fields) -> None:
    with pytest.raises(ValidationError, match="has no meaning"):
        RanOn(id="r", points=1, **fields)


# -- transfers ------------------------------------------------------------------------------------

FORWARD = report(routes=(route("cpu", "cuda:0", 1, 400), route("cuda:0", "cuda:1", 1, 200)))


def transfers(**fields: Any) -> Transfers:
    return Transfers(id="t", points=1, **fields)


@pytest.mark.parametrize(
    ("fields", "routes", "outcome"),
    [
        ({"count": "at_most"}, (), None),
        ({"count": "at_most"}, (route("cuda:0", "cuda:1", 3, 9),), ("transfers_many", None)),
        (
            {"count": "at_most"},
            (route("cuda:0", "cuda:1", 2, 9), route("cuda:1", "cuda:0", 1, 9)),
            ("transfers_many", "back_and_forth"),
        ),
        (
            {"count": "at_most"},
            (route("cpu", "cuda:0", 5, 9, parameters=4),),
            ("transfers_many", "parameters_copied"),
        ),
        ({"count": "exactly"}, (), ("transfers_few", None)),
        (
            {"count": "at_least", "source": "cuda:0", "target": "cuda:1"},
            (route("cpu", "cuda:0", 1, 400),),
            ("transfers_few", "activation_not_moved"),
        ),
        (
            {"count": "at_least", "source": "cpu", "target": "cuda"},
            (route("cuda:0", "cuda:1", 1, 200),),
            ("transfers_few", "never_on_gpu"),
        ),
        ({"least": 1, "source": "cuda", "target": "cpu"}, (), ("transfers_few", "left_on_gpu")),
        ({"most": 1}, (route("cpu", "cuda:0", 1, 9),), None),
        ({"most": 1}, (route("cpu", "cuda:0", 2, 9),), ("transfers_many", None)),
        ({"bytes": "at_most"}, (route("cpu", "cuda:0", 9, 600),), None),
        ({"bytes": "at_most"}, (route("cpu", "cuda:0", 1, 601),), ("transfers_bytes", None)),
        ({"bytes": "exactly"}, (route("cpu", "cuda:0", 1, 599),), ("transfers_bytes", None)),
        (
            {"parameters": "forbidden"},
            (route("cuda:0", "cuda:1", 1, 9, parameters=1),),
            ("parameters_copied", "parameters_copied"),
        ),
        ({"parameters": "forbidden"}, (route("cuda:0", "cuda:1", 9, 9),), None),
    ],
)
def test_copies_are_counted_by_direction(fields, routes, outcome) -> None:
    verdict = judged(transfers(**fields), FORWARD, report(routes=routes))
    if outcome is None:
        assert verdict.status is Status.PASSED
    else:
        assert told(verdict) == (Code.WRONG_TRANSFERS, *outcome)


@pytest.mark.parametrize(
    "fields", [{}, {"count": "exactly", "most": 3}, {"most": 1, "least": 2}, {"source": "cuda"}]
)
def test_transfers_refuses_what_says_nothing_or_too_much(fields) -> None:
    with pytest.raises(ValidationError):
        transfers(**fields)


# -- device_memory --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "peaks", "message"),
    [
        ({}, (150 * MIB, 10 * MIB), None),
        ({}, (151 * MIB, 10 * MIB), "device_memory"),
        ({}, (10 * MIB, 16 * MIB), "device_memory"),
        ({"device": "cuda:0"}, (10 * MIB, 16 * MIB), None),
        ({"times": 2}, (200 * MIB, 10 * MIB), None),
        ({"most_mb": 300}, (300 * MIB, 10 * MIB), None),
        ({"most_mb": 90}, (100 * MIB, 10 * MIB), "device_memory"),
        ({"times": 1, "most_mb": 300}, (101 * MIB, 10 * MIB), "device_memory"),
    ],
)
def test_the_peak_is_bounded_on_each_device(fields, peaks, message) -> None:
    expected = report(peaks=(100 * MIB, 10 * MIB))
    verdict = judged(DeviceMemory(id="m", points=1, **fields), expected, report(peaks=peaks))
    if message is None:
        assert verdict.status is Status.PASSED
    else:
        assert told(verdict)[:2] == (Code.TOO_MUCH_MEMORY, message)


def test_a_device_that_should_be_empty_may_hold_crumbs() -> None:
    check = DeviceMemory(id="m", points=1)
    expected = report(peaks=(MIB, 0))
    assert judged(check, expected, report(peaks=(MIB, 2048))).status is Status.PASSED
    verdict = judged(check, expected, report(peaks=(MIB, MIB)))
    assert told(verdict) == (Code.TOO_MUCH_MEMORY, "device_memory", "should_be_empty")


def both(first: Any, second: Any) -> dict[Any, Any]:
    return {"small": first, "large": second}


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (both(MIB, MIB), Code.OK),
        (both(MIB, 3 * MIB // 2), Code.OK),
        (both(MIB, 2 * MIB), Code.TOO_MUCH_MEMORY),
        (both(report(peaks=(MIB, 0)), report(peaks=(0, 2 * MIB))), Code.TOO_MUCH_MEMORY),
        (both(0, 5000), Code.OK),
        (both(MIB, "much"), Code.WRONG_TYPE),
        (both(MIB, -1), Code.WRONG_TYPE),
        (both(2**63, 2**63), Code.WRONG_TYPE),
        (both(report(peaks=(10**1000, 0)), MIB), Code.WRONG_TYPE),
        ({"small": 1}, Code.WRONG_TYPE),
    ],
)
def test_two_peaks_of_one_hand_in_are_compared(value, code) -> None:
    check = DeviceMemory(id="m", points=1, flat=("small", "large"))
    assert check.needs() == {Probe.SOURCE}
    assert judged(check, both(MIB, MIB), value).code is code
    verdict = judged(check, 7, both(1, 1))
    assert verdict.code is Code.REFERENCE_FAILED


@pytest.mark.parametrize(("peak", "passes"), [(4 * MIB, True), (4 * MIB + 1, False)])
def test_ballast_for_the_smaller_problem_makes_nothing_flat(peak, passes) -> None:
    check = DeviceMemory(id="m", points=1, flat=("small", "large"))
    verdict = judged(check, both(MIB, MIB), both(peak, peak))
    assert verdict.code is (Code.OK if passes else Code.TOO_MUCH_MEMORY)
    assert passes or verdict.message.id == "device_memory"


@pytest.mark.parametrize(
    ("large", "code", "basis"),
    [
        (MIB, Code.OK, Basis.FACT),
        (2 * MIB, Code.TOO_MUCH_MEMORY, Basis.FACT),
        ({"unrepeated": True}, Code.NEEDS_REVIEW, Basis.CLAIM),
    ],
)
def test_two_peaks_of_logs_that_were_run_again_are_facts(large, code, basis) -> None:
    check = DeviceMemory(id="m", points=1, flat=("small", "large"), replayed=True)
    verdict = judge_case(check, CASE, seen(both(MIB, MIB)), seen(both(MIB, large)))
    assert (verdict.code, verdict.basis) == (code, basis)


@pytest.mark.parametrize("fields", [{"item": "x"}, {"most_mb": 3}])
def test_flat_stands_alone(fields) -> None:
    with pytest.raises(ValidationError, match="no meaning with “flat”"):
        DeviceMemory(id="m", points=1, flat=("small", "large"), **fields)


# -- placement ------------------------------------------------------------------------------------


def placed(name: str, device: str, *shape: int, kind: str = "parameter") -> dict[str, Any]:
    size = 4
    for extent in shape:
        size *= extent
    entry = {"kind": kind, "device": device, "shape": list(shape), "bytes": size}
    return {name: {**entry, "requires_grad": True}}


def toy(first: str, second: str, out: str = "", one: str = "net1", two: str = "net2") -> Any:
    return {
        **placed(f"{one}.weight", first, 10, 10),
        **placed(f"{one}.bias", first, 10),
        **placed(f"{two}.weight", second, 5, 10),
        **placed(f"{two}.bias", second, 5),
        **placed("output", out or second, 20, 5, kind="output"),
    }


TOY = toy("cuda:0", "cuda:1")
PLACED = Placement(id="p", points=1)


@pytest.mark.parametrize(
    ("actual", "outcome"),
    [
        (TOY, None),
        (toy("cuda:0", "cuda:1", one="first", two="second"), None),
        (toy("cuda:0", "cuda:0"), ("placement_elsewhere", "all_on_one")),
        (toy("cpu", "cpu"), ("placement_elsewhere", "all_on_one")),
        (toy("cuda:1", "cuda:0"), ("placement_elsewhere", None)),
        (toy("cuda:0", "cuda:1", out="cuda:0"), ("placement_elsewhere", None)),
        (toy("cuda:0", "cuda:1", out="cpu"), ("placement_elsewhere", "never_on_gpu")),
        (toy("cuda:0", "cpu", out="cuda:1"), ("placement_elsewhere", "never_on_gpu")),
        ({**TOY, **placed("extra", "cuda:1", 3)}, ("placement_differs", None)),
        ({}, ("placement_differs", None)),
    ],
)
def test_what_lies_where_decides_and_names_do_not(actual, outcome) -> None:
    verdict = judged(PLACED, TOY, actual)
    if outcome is None:
        assert verdict.status is Status.PASSED
    else:
        assert told(verdict) == (Code.WRONG_DEVICE, *outcome)


@pytest.mark.parametrize("name", ["output", "output[double]"])
def test_what_is_returned_is_named_once(name: str) -> None:
    wanted = {**TOY, **placed(name, "cpu", 2, 2, kind="output")}
    actual = {**TOY, **placed(name, "cuda:0", 2, 2, kind="output")}
    verdict = judged(PLACED, wanted, actual)
    for language, said in (
        ("en", f"The {name} is on cuda:0, expected cpu."),
        ("ko", f" {name}: cuda:0에 있습니다."),
    ):
        assert said in words_in(language).for_staff(verdict)


def test_an_empty_buffer_remembers_a_device_and_holds_nothing() -> None:
    home = placed("home", "cuda:1", 0, kind="buffer")
    assert judged(PLACED, TOY, {**TOY, **home}).status is Status.PASSED
    filled = placed("home", "cuda:1", 3, kind="buffer")
    assert judged(PLACED, TOY, {**TOY, **filled}).status is Status.FAILED


def test_a_misplaced_tensor_is_named_with_both_devices() -> None:
    actual = {**TOY, **placed("net2.bias", "cuda:0", 5)}
    params = judged(PLACED, TOY, actual).message.params
    assert params["name"] == "net2.bias"
    assert (params["actual"], params["expected"]) == ("cuda:0", "cuda:1")
    assert (params["misplaced"], params["total"]) == (1, 5)


def test_an_output_that_stays_on_a_gpu_is_said_to_stay_there() -> None:
    expected = placed("output", "cpu", 3, kind="output")
    verdict = judged(PLACED, expected, placed("output", "cuda:0", 3, kind="output"))
    assert told(verdict) == (Code.WRONG_DEVICE, "placement_elsewhere", "left_on_gpu")


def test_gradients_that_are_missing_are_told() -> None:
    gradient = placed("net1.weight.grad", "cuda:0", 10, 10, kind="gradient")
    verdict = judged(PLACED, {**TOY, **gradient}, TOY)
    assert told(verdict) == (Code.WRONG_DEVICE, "placement_differs", "no_gradients")
    params = verdict.message.params
    assert (params["what"], params["found"], params["wanted"]) == ("gradient", 0, 1)
    only = Placement(id="p", points=1, kinds=("parameter",))
    assert judged(only, {**TOY, **gradient}, TOY).status is Status.PASSED


@pytest.mark.parametrize(
    ("within", "actual", "code"),
    [
        (0.0, toy("cuda:0", "cuda:1", one="a", two="b"), Code.OK),
        (0.0, {**TOY, **placed("more", "cuda:1", 1)}, Code.WRONG_DEVICE),
        (0.1, {**TOY, **placed("more", "cuda:1", 1)}, Code.OK),
        (0.1, {**TOY, **placed("more", "cpu", 1)}, Code.WRONG_DEVICE),
    ],
)
def test_bytes_can_be_compared_instead(within, actual, code) -> None:
    check = Placement(id="p", points=1, match="bytes", within=within)
    assert judged(check, TOY, actual).code is code


@pytest.mark.parametrize(
    ("actual", "code"),
    [
        (toy("cuda:0", "cpu"), Code.OK),
        (toy("cpu", "cuda:1"), Code.WRONG_DEVICE),
        (toy("cuda:0", "cpu", one="a", two="b"), Code.OK),
        (toy("cpu", "cuda:1", one="a", two="b"), Code.WRONG_DEVICE),
    ],
)
def test_some_tensors_alone_by_name_or_else_by_shape(actual, code) -> None:
    check = Placement(id="p", points=1, only=("net1.*",))
    assert judged(check, TOY, actual).code is code


@pytest.mark.parametrize("broken", [3, {"x": 1}, {"x": {"kind": "parameter"}}, {1: TOY["output"]}])
def test_a_placement_of_another_form_earns_nothing(broken) -> None:
    assert judged(PLACED, TOY, broken).code is Code.WRONG_TYPE
    assert judged(PLACED, broken, TOY).code is Code.REFERENCE_FAILED


@pytest.mark.parametrize("fields", [{"within": 0.1}, {"match": "bytes", "only": ("x",)}])
def test_placement_refuses_what_has_no_meaning(fields) -> None:
    with pytest.raises(ValidationError, match="has no meaning"):
        Placement(id="p", points=1, **fields)
