"""What the accuracy bench grades is what it says: honest rewrites do the same, mistakes do not."""

from __future__ import annotations

import ast
from pathlib import Path
from random import Random

import numpy as np
import probes
import pytest
import torch
from disguises import DISGUISES, disguised
from habits import HABITS
from idioms import HONEST
from rewrites import Site
from shortcuts import IDLE, WAYS
from variants import (
    HABIT,
    HONEST_GROUP,
    IDLE_LOOP,
    IN_FLOAT32,
    LABELLED,
    LATER,
    LOOP,
    MUTANT,
    ROOT,
    SLIP,
    WAY,
    reference_of,
    variants,
)

from grader.run.materials import load_materials

SAMPLE = """
import torch

def one(x, y):
    rows = x.shape[0]
    centred = x - x.sum(dim=0) / rows
    total = 0
    for i in range(rows):
        total += centred[i].sum()
    if rows > 3:
        scale = 2.0
    else:
        scale = 3.0
    size = x.abs().sum()
    total = total + size
    parts = [row * scale for row in centred]
    return torch.stack(parts) ** 2 + torch.mm(x, y).view(-1, 1).sum() + total

def two(x, y):
    return torch.add(x @ y + (x ** 2).sum(), torch.zeros(4, 4).float() + y.t())
"""
EACH = {HONEST_GROUP: 6, MUTANT: 6, LABELLED: 3, LOOP: 20} | dict.fromkeys(LATER, 20)


def results(module: ast.Module) -> list[torch.Tensor]:
    names: dict = {}
    exec(compile(ast.unparse(ast.fix_missing_locations(module)), "sample", "exec"), names)
    dice = torch.Generator().manual_seed(1)
    x, y = (torch.randn(4, 4, generator=dice) for _ in "xy")
    return [names["one"](x, y), names["two"](x, y)]


def rewritten_sample(kind: str, number: int) -> tuple[bool, ast.Module]:
    module = ast.parse(SAMPLE)
    function = [node for node in module.body if isinstance(node, ast.FunctionDef)][number]
    return (HONEST | HABITS)[kind](Site(module, function, Random(kind))), module


@pytest.mark.parametrize("kind", HONEST | HABITS)
def test_a_rewrite_finds_something_to_change_and_keeps_the_result(kind: str) -> None:
    changed = [module for done, module in (rewritten_sample(kind, n) for n in (0, 1)) if done]
    assert changed
    right = results(ast.parse(SAMPLE))
    for module in changed:
        assert ast.dump(module) != ast.dump(ast.parse(SAMPLE))
        for one, other in zip(results(module), right, strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("way", DISGUISES | WAYS)
def test_a_disguised_loop_is_out_of_sight_and_computes_the_same(way: str) -> None:
    module = ast.parse(SAMPLE)
    assert disguised(module.body[1], (DISGUISES | WAYS)[way])
    assert not any(isinstance(node, ast.For) for node in module.body[1].body)
    for one, other in zip(results(module), results(ast.parse(SAMPLE)), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", ["zero_row_min", "normalize_columns"])
def test_variants_of_a_question_are_what_their_group_says(name: str) -> None:
    folder = ROOT / "assignments/pytorch101"
    assignment = load_materials(folder / "assignment.yml").assignment
    (question,) = (q for q in assignment.questions if q.id == name)
    probe = probes.probe_of("pytorch101", name)
    right = probes.load(reference_of("pytorch101"), folder)
    found = {}
    for variant in variants("pytorch101", question, 1, EACH):
        if variant.group == MUTANT and "while " in variant.source:
            continue  # It may never end; the bench gives each a process and a time.
        try:
            mine = probes.load(variant.source, folder)
        except (ImportError, NameError):
            continue  # An accepted submission that imports what is not installed, or a notebook's.
        pairs = [(probes.run(probe, mine, seed), probes.run(probe, right, seed)) for seed in (1, 2)]
        differs = any(list(probes.differences(*pair)) for pair in pairs)
        found.setdefault(variant.group, []).append(differs)
    assert found[HONEST_GROUP]
    assert found[HABIT]
    assert not any(found[HONEST_GROUP] + found[HABIT] + found.get(LOOP, []) + found.get(WAY, []))
    for group in (MUTANT, SLIP):
        assert sum(found[group]) > len(found[group]) // 2
    assert all(found[IN_FLOAT32]) == (name == "normalize_columns")


@pytest.mark.parametrize("name", IDLE)
def test_an_idle_loop_returns_what_is_right(name: str) -> None:
    home = "pytorch101" if name.startswith("batched") else "knn"
    folder = ROOT / "assignments" / home
    assignment = load_materials(folder / "assignment.yml").assignment
    (question,) = (q for q in assignment.questions if q.id == name)
    probe = probes.probe_of(home, name)
    right = probes.run(probe, probes.load(reference_of(home), folder), 1)
    made = list(variants(home, question, 1, {IDLE_LOOP: 20}))
    assert len(made) == len(IDLE[name])
    for variant in made:
        mine = probes.run(probe, probes.load(variant.source, folder), 1)
        assert not list(probes.differences(mine, right)), variant.kinds


@pytest.mark.parametrize(
    ("mine", "right", "said"),
    [
        (torch.ones(2), torch.ones(2), []),
        (torch.ones(2) * 1.01, torch.ones(2), ["values"]),
        (torch.ones(2), torch.ones(2, 1), ["values"]),
        (torch.ones(2).double(), torch.ones(2), ["dtype"]),
        ({"args": [1], "result": 2}, {"args": [2], "result": 2}, ["args"]),
        ("raised ValueError", torch.ones(2), ["values"]),
        ([1, 2], [1, 2, 3], ["values"]),
        (np.nan, np.nan, []),
    ],
)
def test_a_comparison_says_how_results_differ(mine: object, right: object, said: list) -> None:
    assert list(probes.differences(mine, right)) == said


def test_every_probed_question_exists() -> None:
    for name in {**probes.INPUTS, **probes.PROBES}:
        assignment = load_materials(Path(ROOT, "assignments", name, "assignment.yml")).assignment
        asked = {*probes.INPUTS.get(name, {}), *probes.PROBES.get(name, {})}
        assert asked <= {question.id for question in assignment.questions}
