"""Spellings: the table is torch's own, and either the text or the dispatcher sees each of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_spellings
import yaml
from faults import no_faults
from public_spellings import watched
from pydantic import ValidationError
from torch.utils._python_dispatch import TorchDispatchMode

from grader.checks.base import CaseInputs
from grader.checks.counts import held_for, refusal, spells, told_by_log, unseen
from grader.checks.device_work import RanOn
from grader.checks.ops import AllowedOps, ForbiddenOps
from grader.verdict import Code

TABLE = json.loads(torch_spellings.FILE.read_text(encoding="utf-8"))
MEAN = {"ops": ["mean", "*batch_norm*", "*.mean"], "calls": ["mean", "nanmean", "average"]}
ASSIGNMENTS = {
    path.parent.name: path
    for path in sorted(Path(__file__).parents[3].glob("assignments/*/assignment.yml"))
}


@pytest.mark.skipif(
    torch.__version__.split("+")[0] != TABLE["torch"], reason="the table is another torch's"
)
def test_the_table_is_what_torch_says() -> None:
    assert torch_spellings.content() == TABLE


def _unknown_to_torch(path: Path) -> Iterator[str]:
    dispatched, composite = torch_spellings.by_dispatch()
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    checks = [check for question in content["questions"] for check in question["checks"]]
    for pattern in sorted({op for check in checks for op in check.get("ops", ())}):
        if refused := refusal(pattern, composite=True):
            yield f"{pattern} is refused: {refused}"
        bare = pattern.strip("*").split(".")[0]
        if not any(bare in name for name in dispatched | composite):
            yield f"{pattern} is no operation of torch {torch.__version__}"


def test_patterns_of_the_assignments_are_names_of_this_torch_too() -> None:
    no_faults(ASSIGNMENTS, _unknown_to_torch, "name the operation as this torch calls it")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("nanmean", "put it under “calls”"),
        ("batch_norm", "put it under “calls”"),
        ("meen", "did you mean “mean”"),
        ("no_such_*", "no operation that reaches the dispatcher is called"),
    ],
)
def test_a_pattern_that_nothing_matches_is_refused(pattern: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        ForbiddenOps(id="ops", points=1, ops=("mean", pattern))


@pytest.mark.parametrize(
    ("pattern", "said"), [("matmul", "name those, such as “mm”"), ("*nm*mm*", "is called")]
)
def test_a_device_can_have_run_only_what_reaches_the_dispatcher(pattern: str, said: str) -> None:
    assert RanOn(id="ran", points=1, ops=("*mm*", "*conv*")).ops == ("*mm*", "*conv*")
    with pytest.raises(ValidationError, match=re.escape(said)):
        RanOn(id="ran", points=1, ops=("*mm*", pattern))


def test_what_reaches_the_dispatcher_in_inference_mode_may_be_allowed() -> None:
    assert AllowedOps(id="ops", points=1, ops=("reshape",)).ops == ("reshape",)
    with pytest.raises(ValidationError, match="is called"):
        AllowedOps(id="ops", points=1, ops=("reshapen",))


def judged(body: str, rule: dict[str, Any]) -> Code:
    """Return the verdict on a function, watched and read as a submission is."""
    seen = watched(body)
    check = (AllowedOps if "allow" in rule else ForbiddenOps).model_validate(
        {"id": "ops", "points": 1, **(rule.get("allow") or rule)}
    )
    return check.judge(CaseInputs("case", (), ()), seen, seen).code


@pytest.mark.parametrize(
    "body",
    [
        "return x.mean(0)",
        "return torch.mean(x, dim=0)",
        "return torch.nanmean(x, 0)",
        "out = torch.empty(4); torch.mean(x, 0, out=out); return out",
        "return torch.masked.mean(x, 0)",
        "return x.new_zeros(1, 4).scatter_reduce(0, x.long() * 0, x, 'mean')",
        "return torch.segment_reduce(x, 'mean', lengths=torch.tensor([4]))",
        "return F.adaptive_avg_pool1d(x, 1)",
        "return nn.BatchNorm1d(4)(x)",
        "with torch.inference_mode(): return nn.BatchNorm1d(4)(x)",
        "return torch.Tensor.mean(x)",
        "return x.numpy().mean(0)",
        "return np.mean(x.numpy(), axis=0)",
        "return np.average(x.numpy(), 0)",
    ],
)
def test_every_spelling_of_a_mean_is_decided(body: str) -> None:
    assert judged(body, MEAN) is Code.FORBIDDEN_CALL


@pytest.mark.parametrize(
    "body",
    [
        "return x.sum(0) / len(x)",
        "return x.new_zeros(1, 4).scatter_reduce(0, x.long() * 0, x, 'sum')",
        "return np.sum(x.numpy(), axis=0)",
        "print([x, x]); return x",
    ],
)
def test_what_is_no_mean_passes(body: str) -> None:
    assert judged(body, MEAN) is Code.OK


@pytest.mark.parametrize(
    "body",
    [
        "x[:2, :2] = torch.ones(2, 2)",
        "x[0] = x[1]",
        "x[0] = 1; x[1] = x[2]",
        "x[[0, 1]] = x[[2, 3]]",
        "x[torch.tensor([0, 1])] += 1",
        "x[0].copy_(x[1])",
    ],
)
def test_a_tensor_that_is_assigned_is_seen_in_the_text(body: str) -> None:
    rule = {"allow": {"ops": ["slice", "select", "fill", "index", "index_put_.number"]}}
    assert judged(body, rule) is Code.FORBIDDEN_CALL


@pytest.mark.parametrize(
    "body", ["x[0] = 1", "x[:2] = x[2:, 0] = 3", "x[[0, 1], 0] = 2", "x[torch.tensor([1])] = -4"]
)
def test_a_number_that_is_assigned_passes(body: str) -> None:
    rule = {"allow": {"ops": ["slice", "select", "fill", "index_put_.number"]}}
    assert judged(body, rule) is Code.OK


def test_numel_by_its_other_name_is_decided() -> None:
    assert judged("return x.nelement()", {"calls": ["numel"]}) is Code.FORBIDDEN_CALL


def test_every_function_that_can_be_called_is_seen_or_read() -> None:
    """Whatever a public name is told as, the text that holds the name is found for it."""
    from grader.static_analysis.facts import Mention, SourcePlace  # noqa: PLC0415

    missed = []
    for space in (torch.Tensor, *torch_spellings.SPACES.values()):
        for name, function in torch_spellings.callables(space):
            told = torch_spellings.told_as(function)
            mention = Mention(f"torch.{name}", SourcePlace(1, 1, 1), True)
            bare = name.rstrip("_")
            same = {told, told.rstrip("_"), f"{told}_"} & {name, bare}
            if told and not same and not spells(mention, frozenset({told})):
                missed.append((name, told))
    assert missed == []


@pytest.mark.parametrize("name", ["mean", "std", "var", "sum", "norm"])
def test_masked_functions_are_read(name: str) -> None:
    from grader.static_analysis.facts import Mention, SourcePlace  # noqa: PLC0415

    function = getattr(torch.masked, name)
    assert function not in torch.overrides.get_testing_overrides()
    assert unseen(Mention(f"torch.masked.{name}", SourcePlace(1, 1, 1), True))


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("mean", True), ("nanmean", True), ("unique", True), ("average", True), ("*stdev", True),
        ("numpy.size", True), ("numel", False), ("matmul", False), ("backward", False),
        ("MultiheadAttention", False), ("torch.nn.*", False),
    ],
)  # fmt: skip
def test_of_which_names_a_log_tells(pattern: str, told: bool) -> None:
    assert told_by_log(pattern) is told


class _Dispatched(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


ROWS = torch.randn(5, 4)
NUMBERS = torch.tensor([3, 1, 3, 2])
MANY = torch.randn(2, 6, 4)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("nanmean", ROWS.nanmean),
        ("nanmean", lambda: torch.nanmean(ROWS, 0, dtype=torch.float64)),
        ("cov", ROWS.cov),
        ("cov", lambda: ROWS[0].cov(correction=0)),
        ("cov", lambda: ROWS.cov(fweights=NUMBERS, aweights=torch.ones(4))),
        ("corrcoef", ROWS.corrcoef),
        ("unique", NUMBERS.unique),
        ("unique", lambda: torch.unique(NUMBERS, sorted=False, return_counts=True)),
        ("unique", lambda: torch.unique(ROWS, dim=0)),
        ("instance_norm", lambda: torch.nn.functional.instance_norm(MANY)),
        ("instance_norm", lambda: torch.nn.InstanceNorm1d(6, affine=True)(MANY)),
        ("layer_norm", lambda: torch.nn.functional.layer_norm(ROWS, (4,))),
        ("layer_norm", lambda: torch.nn.LayerNorm(4)(ROWS)),
        ("group_norm", lambda: torch.nn.functional.group_norm(MANY, 2)),
        ("group_norm", lambda: torch.nn.GroupNorm(3, 6)(MANY)),
    ],
)
@pytest.mark.parametrize("grad", [True, False])
def test_a_log_holds_a_part_of_what_is_made_of_others(name: str, call: Any, grad: bool) -> None:
    with torch.set_grad_enabled(grad), _Dispatched() as seen:
        call()
    assert held_for(name) & seen.names
