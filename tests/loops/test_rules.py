"""The check kinds of loops and operations on other functions, each through a real process."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import toy_starter

from grader.report.model import CheckResult
from grader.sandbox.host.processes import Sandbox
from loops.lab import grader


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with toy_starter.lent() as sandbox:
        yield sandbox


Judged = Callable[["Bench", dict[str, Any], str], CheckResult]


@pytest.fixture
def judged(sandbox: Sandbox, tmp_path: Path) -> Judged:
    return lambda bench, check, body: bench.judge(sandbox, check, body, tmp_path)


class Bench:
    """One function, its inputs and one check: grades bodies of the function."""

    def __init__(
        self, header: str, reference: str, cases: list[dict[str, Any]], beside: str = ""
    ) -> None:
        self.header, self.reference, self.cases, self.beside = header, reference, cases, beside

    def source(self, body: str) -> str:
        lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
        return f"import torch\nimport numpy as np\n\n\n{self.header}\n{lines}\n"

    def judge(self, sandbox: Sandbox, check: dict[str, Any], body: str, at: Path) -> CheckResult:
        name = self.header.split("(")[0].removeprefix("def ")
        right = {"id": "right", "kind": "close", "rtol": 1e-3, "atol": 1e-3, "points": 1}
        ready = grader(
            sandbox,
            (self.source(self.reference) + self.beside).encode(),
            id=name,
            cases=self.cases,
            checks=[right, {"id": "rule", "points": 1, "requires": [], **check}],
        )
        path = at / "pytorch101.py"
        path.write_text(self.source(body))
        checks = ready.grade(path, "it").questions[0].checks
        assert checks[0].code.value == "ok", checks[0].message
        return checks[1]


LOOPED = Bench(
    "def looped(x, y):",
    "z = x.new_empty(x.shape[0], x.shape[1], y.shape[2])\n"
    "for i in range(x.shape[0]):\n    z[i] = x[i] @ y[i]\nreturn z",
    [
        {
            "id": "batch",
            "dims": {"B": [3, 6], "N": [2, 4], "M": [5, 7], "P": [8, 9]},
            "args": {"x": {"randn": ["B", "N", "M"]}, "y": {"randn": ["B", "M", "P"]}},
        }
    ],
)
DISTANCES = Bench(
    "def distances(x, y):",
    "return ((x[:, None] - y[None]) ** 2).sum(dim=2)",
    [
        {
            "id": "points",
            "dims": {"T": [4, 6], "E": [3, 5], "D": [5, 9]},
            "args": {"x": {"randn": ["T", "D"]}, "y": {"randn": ["E", "D"]}},
        }
    ],
)
COLUMNS = Bench(
    "def columns(x):",
    "centred = x - x.sum(dim=0) / len(x)\n"
    "return centred / ((centred**2).sum(dim=0) / (len(x) - 1)).sqrt()",
    [
        {
            "id": "tall",
            "dims": {"M": [6, 12], "N": [2, 5]},
            "args": {"x": {"randn": ["M", "N"], "scale": 2.0, "shift": 1.0}},
        }
    ],
)
MEANS = Bench(
    "def means(xs, ls):",
    "ends = torch.tensor(ls).cumsum(0)\n"
    "total = torch.cat([torch.zeros(1), torch.cat(xs).cumsum(0)])\n"
    "return (total[ends] - total[ends - torch.tensor(ls)]) / torch.tensor(ls)",
    [{"id": "ragged", "dims": {"N": [4, 7], "K": [3, 9]}, "generate": "ragged"}],
    "def ragged(seed, N, K):\n"
    "    xs = [torch.linspace(-1, i, 1 + (seed + i) % K) for i in range(N)]\n"
    "    return xs, [len(x) for x in xs]\n",
)
NONE = {"kind": "loops", "mode": "none"}
REQUIRED = {"kind": "loops", "mode": "required", "over": ["B"]}
TWO = {"kind": "loops", "mode": "exactly", "over": ["T", "E"]}
ONE = {"kind": "loops", "mode": "exactly", "over": ["T"]}
NO_STATISTICS = {
    "kind": "forbidden_ops",
    "ops": ["mean", "std*", "var*", "*layer_norm", "*batch_norm"],
    "calls": ["mean", "std*", "var*", "nanmean"],
}

TWO_LOOPS = """
    z = x.new_zeros(len(x), len(y))
    for i in range(len(x)):
        for j in range(len(y)):
            z[i, j] = ((x[i] - y[j]) ** 2).sum()
    return z
"""
ONE_LOOP = """
    z = x.new_zeros(len(x), len(y))
    for i in range(len(x)):
        z[i] = ((x[i] - y) ** 2).sum(dim=1)
    return z
"""
NO_LOOP = "return (x**2).sum(1)[:, None] + (y**2).sum(1) - 2 * x @ y.T"
THREE_LOOPS = """
    z = x.new_zeros(len(x), len(y))
    for i in range(len(x)):
        for j in range(len(y)):
            for k in range(x.shape[1]):
                z[i, j] += (x[i, k] - y[j, k]) ** 2
    return z
"""
COMPREHENSIONS = "return torch.stack([torch.stack([((a - b) ** 2).sum() for b in y]) for a in x])"
PRODUCT = """
    from itertools import product
    z = x.new_zeros(len(x), len(y))
    for i, j in product(range(len(x)), range(len(y))):
        z[i, j] = ((x[i] - y[j]) ** 2).sum()
    return z
"""
OTHER_WAY = """
    z = x.new_zeros(len(x), len(y))
    for j in range(len(y)):
        z[:, j] = ((x - y[j]) ** 2).sum(dim=1)
    return z
"""
ELEMENTS = """
    a, b, z = x.tolist(), y.tolist(), []
    for i in range(len(a)):
        rows = []
        for r in a[i]:
            rows.append([sum(p * q for p, q in zip(r, c)) for c in zip(*b[i])])
        z.append(rows)
    return torch.tensor(z)
"""
GOOD = "m = x.sum(0) / len(x)\nreturn (x - m) / (((x - m) ** 2).sum(0) / (len(x) - 1)) ** 0.5"


@pytest.mark.parametrize(
    ("bench", "check", "body", "code"),
    [
        (LOOPED, REQUIRED, LOOPED.reference, "ok"),
        (LOOPED, REQUIRED, "return torch.stack([a @ b for a, b in zip(x, y)])", "ok"),
        (LOOPED, REQUIRED, "return torch.stack(list(map(torch.mm, x, y)))", "ok"),
        (
            LOOPED, REQUIRED,
            "i, z = 0, []\nwhile i < len(x):\n    z.append(x[i].mm(y[i]))\n    i += 1\n"
            "return torch.stack(z)",
            "ok",
        ),
        # No log shows what Python computes: a person looks.
        (LOOPED, REQUIRED, ELEMENTS, "needs_review"),
        (LOOPED, REQUIRED, "return torch.bmm(x, y)", "loop_missing"),
        (LOOPED, REQUIRED, "for _ in range(1):\n    return torch.bmm(x, y)", "needs_review"),
        (LOOPED, REQUIRED, "for _ in x:\n    pass\nreturn torch.bmm(x, y)", "needs_review"),
        (
            LOOPED, REQUIRED,
            "return torch.cat([torch.bmm(x[:, i : i + 1], y) for i in range(x.shape[1])], 1)",
            "needs_review",
        ),
        (DISTANCES, TWO, TWO_LOOPS, "ok"),
        (DISTANCES, TWO, COMPREHENSIONS, "ok"),
        (DISTANCES, TWO, PRODUCT, "ok"),
        (DISTANCES, TWO, ONE_LOOP, "loop_missing"),
        (DISTANCES, TWO, NO_LOOP, "loop_missing"),
        (DISTANCES, TWO, THREE_LOOPS, "loop_found"),
        (DISTANCES, ONE, ONE_LOOP, "ok"),
        (DISTANCES, ONE, TWO_LOOPS, "loop_found"),
        (DISTANCES, ONE, NO_LOOP, "loop_missing"),
        (DISTANCES, ONE, OTHER_WAY, "loop_missing"),
        (DISTANCES, NONE, NO_LOOP, "ok"),
        (DISTANCES, NONE, ONE_LOOP, "loop_found"),
        (DISTANCES, {"kind": "peak_memory"}, NO_LOOP, "ok"),
        (COLUMNS, NONE, GOOD, "ok"),
        (COLUMNS, NONE, "m = sum(x) / len(x)\n" + GOOD.split("\n")[1], "ok"),
        (COLUMNS, NONE, "for _ in range(2):\n    pass\n" + GOOD, "loop_found"),
        (COLUMNS, NONE, "n = sum(1 for _ in (1, 2))\n" + GOOD, "ok"),
        (COLUMNS, NO_STATISTICS, GOOD, "ok"),
        (COLUMNS, NO_STATISTICS, "print(x, f'{x.sum():.2f}')\n" + GOOD, "ok"),
        (COLUMNS, NO_STATISTICS, "mean = x.sum(0) / len(x)\n" + GOOD.replace("m =", "m = mean ="),
         "ok"),
        (COLUMNS, NO_STATISTICS, "return (x - x.mean(0)) / x.std(0)", "forbidden_call"),
        (COLUMNS, NO_STATISTICS, "s, m = torch.std_mean(x, 0)\nreturn (x - m) / s",
         "forbidden_call"),
        (COLUMNS, NO_STATISTICS,
         "m = getattr(x, 'me' + 'an')(0)\nreturn (x - m) / ((x - m).pow(2).sum(0) / (len(x) - 1))"
         ".sqrt()", "forbidden_call"),
        (COLUMNS, NO_STATISTICS,
         "m = torch.from_numpy(x.numpy().mean(0))\n" + GOOD.split("\n")[1], "forbidden_call"),
        (MEANS, NONE, MEANS.reference, "ok"),
        (MEANS, NONE,
         "wide = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)\n"
         "return wide.sum(1) / torch.tensor(ls)", "ok"),
        (MEANS, NONE, "return torch.stack([x.mean() for x in xs])", "loop_found"),
        (MEANS, NONE, "return torch.tensor([float(x.mean()) for x in xs])", "loop_found"),
        (MEANS, NONE, "return torch.stack(list(map(torch.mean, xs)))", "loop_found"),
        (MEANS, NONE,
         "wide = torch.nn.utils.rnn.pad_sequence(xs, batch_first=True, padding_value=0.0)\n"
         "return torch.einsum('ij->i', wide) / torch.as_tensor(ls)", "ok"),
        (MEANS, NONE,
         "flat = torch.hstack(xs)\nones = torch.repeat_interleave(torch.tensor(ls))\n"
         "return torch.bincount(ones, weights=flat) / torch.tensor(ls)", "ok"),
        (MEANS, NONE,
         "flat = torch.cat(xs)\nparts = torch.segment_reduce(flat, 'mean', "
         "lengths=torch.tensor(ls))\nreturn parts", "needs_review"),
        (MEANS, NONE,
         "ids = torch.arange(len(ls)).repeat_interleave(torch.tensor(ls))\n"
         "total = torch.zeros(len(ls)).index_add_(0, ids, torch.cat(xs))\n"
         "return total / torch.tensor(ls)", "ok"),
    ],
)  # fmt: skip
def test_a_rule_finds_what_it_is_for(
    bench: Bench, check: dict[str, Any], body: str, code: str, judged: Judged
) -> None:
    found = judged(bench, check, body)
    assert found.code.value == code, (found.message, found.witnesses)


REVERSED = Bench(
    "def reverse(x):",
    "return x[torch.arange(len(x) - 1, -1, -1)]",
    [{"id": "rows", "dims": {"M": [4, 7]}, "args": {"x": {"randn": ["M", 3]}}}],
)
NO_FLIP = {"kind": "forbidden_ops", "ops": ["flip"]}
ONE_INDEX = {"kind": "max_calls", "of": "indexing", "most": 1, "least": 1}
ONE_ARRAY = {"kind": "max_calls", "of": "array_indexing", "most": 1, "least": 1}
RESHAPED = Bench(
    "def reshaped(x):",
    "return x.reshape(2, 3, 4).permute(1, 0, 2).reshape(3, 8)",
    [{"id": "all", "args": {"x": {"arange": 24}}}],
)
ONLY_SHAPES = {
    "kind": "allowed_ops",
    "ops": ["view", "_unsafe_view", "reshape", "permute", "transpose", "t", "clone", "unsqueeze",
            "squeeze", "_reshape_alias", "expand"],
}  # fmt: skip
ASSIGNED = Bench(
    "def assigned(x):",
    "x[:2, :2] = 1\nx[2:, 2:] = 2\nreturn x",
    [{"id": "all", "args": {"x": {"rand": [4, 4]}}}],
)
TWO_SLICES = {"kind": "max_calls", "of": "slice_assignment", "most": 2, "least": 1}
NO_MODULES = {"kind": "forbidden_ops", "calls": ["torch.nn.*"]}


@pytest.mark.parametrize(
    ("bench", "check", "body", "code"),
    [
        (REVERSED, NO_FLIP, REVERSED.reference, "ok"),
        (REVERSED, NO_FLIP, "return x[list(reversed(range(len(x))))]", "ok"),
        (REVERSED, NO_FLIP, "return x[reversed(torch.arange(len(x)))]", "ok"),
        (REVERSED, NO_FLIP, "return x[torch.arange(len(x)).flip(0)]", "ok"),
        (REVERSED, NO_FLIP, "x.sum().item()\nreturn x[torch.arange(len(x)).flipud()]", "ok"),
        (REVERSED, NO_FLIP, "return reversed(x.clone())", "forbidden_call"),
        (REVERSED, NO_FLIP, "return torch.flip(x, (0,))", "forbidden_call"),
        (REVERSED, NO_FLIP, "return x.flipud()", "forbidden_call"),
        (REVERSED, NO_FLIP, "return reversed(x)", "forbidden_call"),
        (REVERSED, ONE_INDEX, "n = x.shape[0]\nreturn x[range(n - 1, -1, -1)]", "ok"),
        (REVERSED, ONE_INDEX, "return x[:][list(range(len(x)))[::-1]]", "too_many_calls"),
        (REVERSED, ONE_INDEX, "return torch.from_numpy(x.numpy()[::-1].copy())", "too_few_calls"),
        (REVERSED, ONE_INDEX, "return x.__getitem__(list(range(len(x)))[::-1])", "ok"),
        (REVERSED, ONE_ARRAY, REVERSED.reference, "ok"),
        (REVERSED, ONE_ARRAY, "return x[range(len(x) - 1, -1, -1), :]", "ok"),
        (REVERSED, ONE_ARRAY, "return x.index_select(0, torch.arange(len(x) - 1, -1, -1))", "ok"),
        (REVERSED, ONE_ARRAY, "return torch.cat(x[:].split(1)[::-1])", "too_few_calls"),
        (REVERSED, ONE_ARRAY, "return torch.stack(x.unbind()[::-1])", "too_few_calls"),
        (REVERSED, ONE_ARRAY, "return torch.eye(len(x)).rot90() @ x", "too_few_calls"),
        (REVERSED, NO_MODULES, REVERSED.reference, "ok"),
        (REVERSED, NO_MODULES,
         "import torch.nn.functional as F\n"
         "return F.linear(torch.eye(len(x)).fliplr(), x.t())", "forbidden_call"),
        (REVERSED, NO_MODULES,
         "layer = torch.nn.Linear(len(x), len(x), bias=False)\n"
         "layer.weight.data = torch.eye(len(x)).fliplr()\n"
         "return layer(x.t()).t().detach()", "forbidden_call"),
        (RESHAPED, ONLY_SHAPES, "return x.view(2, 3, 4).transpose(0, 1).reshape(3, 8)", "ok"),
        (RESHAPED, ONLY_SHAPES, "return x.view(2, 3, 4).mT.permute(2, 0, 1).reshape(3, 8)", "ok"),
        (RESHAPED, ONLY_SHAPES,
         "return torch.cat([x[:12].view(3, 4), x[12:].view(3, 4)], dim=1)", "forbidden_call"),
        (ASSIGNED, TWO_SLICES, ASSIGNED.reference, "ok"),
        (ASSIGNED, TWO_SLICES, "x[:2, 0] = 1\nx[:2, 1] = 1\nx[2:, 2:] = 2\nreturn x",
         "too_many_calls"),
        (ASSIGNED, TWO_SLICES,
         "for i in (0, 1):\n    x[i, :2] = 1\nx[2:, 2:] = 2\nreturn x", "too_many_calls"),
        (ASSIGNED, TWO_SLICES, "x[:2, :2].fill_(1)\nx[2:, 2:].fill_(2)\nreturn x", "ok"),
        (ASSIGNED, TWO_SLICES,
         "x.narrow(0, 0, 2).narrow(1, 0, 2).fill_(1)\n"
         "x.narrow(0, 2, 2).narrow(1, 2, 2).fill_(2)\nreturn x", "too_few_calls"),
        (ASSIGNED, TWO_SLICES,
         "x[:2, :2] = 1\nx.narrow(0, 2, 2).narrow(1, 2, 2).fill_(2)\nreturn x", "too_few_calls"),
    ],
)  # fmt: skip
def test_operations_are_named_by_what_they_do(
    bench: Bench, check: dict[str, Any], body: str, code: str, judged: Judged
) -> None:
    found = judged(bench, check, body)
    assert found.code.value == code, (found.message, found.witnesses)
    if code == "too_many_calls":
        assert "Uses of “x[…]" in found.message


def test_memory_is_compared_with_the_reference_at_larger_sizes(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    bench = Bench(DISTANCES.header, NO_LOOP, DISTANCES.cases)
    found = bench.judge(sandbox, {"kind": "peak_memory"}, DISTANCES.reference, tmp_path)
    assert found.code.value == "too_much_memory"
