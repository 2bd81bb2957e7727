"""Plain ``pytest`` in a starter folder, by the plugin that torchgrade brings with it."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
import toy_starter
from toy_starter import fill

Run = Callable[..., pytest.RunResult]


def test_a_fresh_starter_is_red_and_names_the_next_step(run: Run) -> None:
    result = run()
    # Each check that waits for another one that failed is skipped, not a failure more.
    result.assert_outcomes(failed=3, skipped=5)
    result.stdout.fnmatch_lines(
        [
            "Not implemented yet: double.",
            "double   0 / 4  not implemented yet",
            "         0 / 10",
            "Next: double in toy.py, line 9.",
            "A self-check on the public cases, not a score: hidden cases are graded as well.",
        ]
    )


def test_an_item_is_a_check_and_given_code_is_none(run: Run) -> None:
    result = run("--collect-only", "-q")
    names = [line for line in result.outlines if "::" in line]
    assert names == [
        "toy.py::double::values",
        "toy.py::double::dtype",
        "toy.py::double::surprise",
        "toy.py::mean_of::values",
        "toy.py::mean_of::shape",
        "toy.py::mean_of::no_loops",
        "toy.py::Counter::total",
        "toy.py::Counter::later",
    ]


def test_one_function_written_turns_green(run: Run, folder: Path) -> None:
    fill(folder, "double", "    return 2 * x")
    result = run("-k", "double", "-rs")
    result.assert_outcomes(passed=2, skipped=1, deselected=5)
    result.stdout.fnmatch_lines(
        ["double  3 + 1? / 4", "        3 + 1? / 4", "*cases are not public*"]
    )
    assert not any("mean_of" in line for line in result.outlines)


@pytest.mark.parametrize("name", ["toy.py", "toy.py::double", "toy.py::double::values"])
def test_an_item_can_be_named(name: str, run: Run, folder: Path) -> None:
    fill(folder, "double", "    return 2 * x")
    assert run(name).parseoutcomes()["passed"] >= 1


def test_a_wrong_answer_is_told_as_in_the_report(run: Run, folder: Path) -> None:
    fill(folder, "double", "    return 3 * x")
    lines = run("-k", "double and values").outlines
    wrong = next(line for line in lines if line.startswith("Case example:"))
    assert "Mismatched elements: 4 / 4 (100.0%). Greatest absolute difference: 4" in wrong
    assert not any("Traceback" in line or "grader/" in line for line in lines)


def test_what_waits_for_another_check_is_skipped_with_the_reason(run: Run, folder: Path) -> None:
    fill(folder, "double", "    return 3 * x")
    result = run("-k", "double", "-rs")
    result.assert_outcomes(failed=1, skipped=2, deselected=5)
    result.stdout.fnmatch_lines(["double  0 / 4", "SKIPPED * Counts only once values passes."])


def test_last_failed_runs_what_failed(run: Run, folder: Path) -> None:
    fill(folder, "double", "    return 2 * x")
    run()
    run("--last-failed").assert_outcomes(failed=2)


def test_points_are_in_the_junit_file(run: Run, folder: Path) -> None:
    fill(folder, "double", "    return 2 * x")
    run("--junitxml=found.xml", "-k", "double")
    cases = ET.parse(folder / "found.xml").getroot().findall(".//testcase")
    found = {
        case.get("name"): {item.get("name"): item.get("value") for item in case.iter("property")}
        for case in cases
    }
    assert found["values"] == {
        "points": "2", "max_points": "2", "pending_points": "0", "code": "ok"
    }  # fmt: skip
    assert found["surprise"]["pending_points"] == "1"
    assert {case.get("classname") for case in cases} == {"toy.double"}


def test_what_is_in_the_way_is_told_once(run: Run, folder: Path) -> None:
    (folder / "toy.ipynb").unlink()
    (folder / "toy.py").rename(folder / "toy2.py")
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*“toy2.py” is there: rename it to toy.py.*"])


def test_a_syntax_error_is_told_once(run: Run, folder: Path) -> None:
    with (folder / "toy.py").open("a") as file:
        file.write("x = (1,\n")
    line = len((folder / "toy.py").read_text().splitlines())
    result = run()
    result.assert_outcomes(errors=1)
    assert result.stdout.str().count(f"Syntax error in toy.py, line {line}, column 5") == 1


def test_a_missing_torch_is_an_error_not_a_failure(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    result = run("-k", "double")
    result.assert_outcomes(errors=3, deselected=5)
    result.stdout.fnmatch_lines(["PyTorch is not installed for the Python that runs this*"])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert "engine.py" not in result.stdout.str()


def test_other_tests_beside_the_starter_run_as_ever(run: Run, folder: Path) -> None:
    (folder / "test_own.py").write_text("def test_one():\n    assert True\n")
    assert run("-k", "test_one").parseoutcomes()["passed"] == 1


def test_elsewhere_the_plugin_does_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one():\n    assert True\n")
    code = (
        "import sys, pytest; pytest.main(['-q', '-p', 'no:hypothesispytest']); "
        "print(sorted(name for name in sys.modules if name.startswith('grader')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=pytester.path
    )
    assert "1 passed" in done.stdout
    mine = ["pytest_plugin", "pytest_vgpu"]
    names = ["grader", "grader.integrations", *(f"grader.integrations.{name}" for name in mine)]
    assert done.stdout.splitlines()[-1] == str(names)


@pytest.mark.heavy
def test_from_the_folder_alone_in_a_process_of_its_own(tmp_path: Path) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    fill(folder, "double", "    return 2 * x")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    assert re.search(r"2 failed, 2 passed, 4 skipped", done.stdout), done.stdout + done.stderr
