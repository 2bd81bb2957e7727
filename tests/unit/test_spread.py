"""All tests of a file run on one worker."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from spread import scope_of

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("test", "scope"),
    [
        ("tests/unit/test_a.py::test_b", "tests/unit/test_a.py"),
        ("tests/unit/test_a.py::test_b[knn/wrong/c]", "tests/unit/test_a.py"),
        ("tests/test_submissions.py::test_b", "tests/test_submissions.py"),
        ("tests/test_submissions.py::test_b[knn/wrong/c]", "tests/test_submissions.py knn"),
        ("tests/test_submissions.py::test_b[knn]", "tests/test_submissions.py knn"),
        ("tests/test_submissions.py::test_b[mac.zip-]", "tests/test_submissions.py"),
        ("tests/containers/test_engine.py::test_b", "tests/containers/"),
        (
            "tests/vgpu/gpu_scripts/test_scripts.py::test_b[fsdp]",
            "tests/vgpu/gpu_scripts/test_scripts.py fsdp",
        ),
    ],
)
def test_a_scope_is_a_file_an_assignment_or_a_folder(test: str, scope: str) -> None:
    assert scope_of(test) == scope


def test_each_file_has_one_worker(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take seconds to import
    for name in ("conftest.py", "spread.py", "forked_of_one.py"):
        (pytester.path / name).write_bytes((TESTS / name).read_bytes())
    body = "import pytest\n\n@pytest.mark.parametrize('n', range(6))\ndef test_it(n): pass\n"
    pytester.makepyfile(test_one=body, test_two=body, test_three=body)
    outcome = pytester.runpytest_subprocess("-p", "xdist", "-n", "2", "-v")
    outcome.assert_outcomes(passed=18)
    workers = defaultdict(set)
    for worker, path in re.findall(r"\[(gw\d)\].* PASSED (\w+\.py)", outcome.stdout.str()):
        workers[path].add(worker)
    assert sorted(map(len, workers.values())) == [1, 1, 1]
