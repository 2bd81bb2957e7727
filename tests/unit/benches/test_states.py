"""The states of `tests/bench/states.py`: complete, and told of as the labels say."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from faults import no_faults

BENCHES = Path(__file__).parents[2] / "bench"
ASSIGNMENTS = sorted(path.stem for path in (BENCHES.parent / "students/states").glob("*.txt"))


def _bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_of_states", BENCHES / "states.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


BENCH = _bench()


def test_there_are_states_of_all_assignments_and_of_notebooks() -> None:
    found = [state for name in ASSIGNMENTS for state in BENCH.states(name)]
    assert len(found) >= 250
    assert len(ASSIGNMENTS) == 7
    assert min(Counter(state.assignment for state in found).values()) >= 10
    assert sum(".ipynb" in state.code for state in found) >= 15
    assert len({state.name for state in found}) == len(found)


def _faults(name: str) -> Iterator[str]:
    right = BENCH.right_answers(name)
    for state in BENCH.states(name):
        if not state.says:
            yield f"{state.name}: has no sentence that names it (says:)"
        if state.target not in {"top", "files"}:
            text = BENCH.replaced(right, state.target, state.code)
            compile(text, state.name, "exec")
            if text == right:
                yield f"{state.name}: is right"


def test_every_state_has_its_sentence_and_is_no_right_answer() -> None:
    no_faults(
        {name: name for name in ASSIGNMENTS}, _faults, "mend the states in tests/students/states"
    )


LEAST_NAMED, MOST_USELESS = 0.55, 0.12
"""Of the states of one assignment; docs/wrong-states.md has the sums over all."""


@pytest.mark.heavy
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_students_are_told_their_mistakes_and_nothing_false(name: str) -> None:
    # Every fourth one: all of them take a quarter of an hour, and the bench does that.
    states = BENCH.states(name)[::4]
    found = [BENCH.verdict(state, BENCH.told(state, "en")) for state in states]
    counts = Counter(found)
    assert counts["false"] == 0
    assert counts["named"] >= LEAST_NAMED * len(found)
    assert counts["useless"] <= MOST_USELESS * len(found)
