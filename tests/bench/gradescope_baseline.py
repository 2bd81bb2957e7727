"""What a course would write with gradescope-utils alone: one fresh process for each submission.

Same functions, same inputs (a JSON file made by ``peers.py``), same thread count as ours; the
submission and the reference share the interpreter with the tests, as they do in such graders.

Usage: python gradescope_baseline.py HAND_IN REFERENCE CASES RESULTS
"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

import torch
from gradescope_utils.autograder_utils.decorators import weight
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner
from peer_cases import compare, load, read_cases


def main() -> None:
    torch.set_num_threads(1)
    hand_in, reference, cases, results = sys.argv[1:5]
    student, solution = load(hand_in, "student"), load(reference, "solution")
    tests = {}
    for number, case in enumerate(read_cases(cases)):

        def test(self: unittest.TestCase, case: dict = case) -> None:
            name = case["entry"]
            compare(getattr(student, name), getattr(solution, name), case["args"])

        test.__doc__ = f"{case['entry']} {number}"
        tests[f"test_{number:02d}"] = weight(1)(test)
    case_class = type("Tests", (unittest.TestCase,), tests)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case_class)
    with Path(results).open("w") as stream:
        JSONTestRunner(visibility="visible", stream=stream).run(suite)


if __name__ == "__main__":
    main()
