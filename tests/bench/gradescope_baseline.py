"""What a course would write with gradescope-utils alone: one fresh process for each hand-in.

Same functions, same inputs (a JSON file made by ``throughput.py``), same thread count as ours; the
hand-in and the reference share the interpreter with the tests, as they do in such graders.

Usage: python gradescope_baseline.py HAND_IN REFERENCE CASES RESULTS
"""

from __future__ import annotations

import importlib.util
import json
import sys
import unittest
from pathlib import Path
from types import ModuleType

import torch
from gradescope_utils.autograder_utils.decorators import weight
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner


def load(path: str, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    torch.set_num_threads(1)
    hand_in, reference, cases, results = sys.argv[1:5]
    student, solution = load(hand_in, "student"), load(reference, "solution")
    tests = {}
    for number, case in enumerate(json.loads(Path(cases).read_text())):
        args = [
            torch.tensor(item["data"], dtype=getattr(torch, item["dtype"])).reshape(item["shape"])
            for item in case["args"]
        ]

        def test(self: unittest.TestCase, case: dict = case, args: list = args) -> None:
            mine = [item.clone() for item in args]
            actual = getattr(student, case["entry"])(*mine)
            expected = getattr(solution, case["entry"])(*args)
            torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)
            for before, after in zip(args, mine, strict=True):
                torch.testing.assert_close(before, after, rtol=0, atol=0)

        test.__doc__ = f"{case['entry']} {number}"
        tests[f"test_{number:02d}"] = weight(1)(test)
    case_class = type("Tests", (unittest.TestCase,), tests)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case_class)
    with Path(results).open("w") as stream:
        JSONTestRunner(visibility="visible", stream=stream).run(suite)


if __name__ == "__main__":
    main()
