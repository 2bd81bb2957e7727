"""How fair the value checks are: right float32 code never refused, wrong code never accepted.

Draws sizes, scales and numbers at random; runs several right ways to write each function in
float32, and the same functions with one bug each, in plain numpy; counts verdicts.

    python tests/bench/values.py [--seeds 10000] [--start 0]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from fairness import BUGS, QUESTIONS, RIGHT, problem, verdict  # tests/ is no package


def main() -> None:
    """Print, for each question, how many right answers were refused and wrong ones accepted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000)
    parser.add_argument("--start", type=int, default=0)
    options = parser.parse_args()
    tried: Counter[tuple[str, str, str]] = Counter()
    missed: Counter[tuple[str, str, str]] = Counter()
    used: dict[tuple[str, str], float] = {}
    for seed in range(options.start, options.start + options.seeds):
        name = QUESTIONS[seed % len(QUESTIONS)]
        given = problem(name, seed)
        for group, functions in (("right", RIGHT[name]), ("wrong", BUGS[name])):
            for label, function in functions.items():
                answer = answered(function, given.inputs)
                passes, share = verdict(given, answer)
                key = (name, group, label)
                tried[key] += 1
                missed[key] += passes is (group == "wrong")
                if group == "right":
                    used[name, label] = max(used.get((name, label), 0.0), share)
    for (name, group, label), count in sorted(tried.items()):
        share = f"  greatest use of the bound {used[name, label]:.2f}" if group == "right" else ""
        word = "refused" if group == "right" else "accepted"
        print(f"{name:10} {label:24} {missed[name, group, label]:5} / {count} {word}{share}")
    for group, word in (("right", "refused"), ("wrong", "accepted")):
        count = sum(number for key, number in tried.items() if key[1] == group)
        bad = sum(number for key, number in missed.items() if key[1] == group)
        print(f"{group}: {bad} / {count} {word}")


def answered(function: Any, inputs: tuple[Any, ...]) -> Any:
    """Call a function; division by zero and the like are answers here."""
    with np.errstate(all="ignore"):
        return function(*(item.copy() for item in inputs))


if __name__ == "__main__":
    main()
