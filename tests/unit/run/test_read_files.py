"""Files that submissions leave: read in a process of their own, whatever is in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import toy_starter

from grader.errors import AssignmentError
from grader.grading import Grader, Options
from grader.report.messages.catalogue import words_in
from grader.report.model import Report
from grader.run.materials import load_materials
from grader.run.scenario_relay import ScenarioRelay
from grader.sandbox.host.processes import Sandbox
from grader.verdict import Message, Param

h5py = pytest.importorskip("h5py", reason="the extra “assignments” is not installed")

SPEC = """\
schema: torchgrade/assignment/v1
id: toy
version: "1"
title: Toy
hand_in: [toy.py]
limits: {seconds: 5, memory_mb: 512}
questions:
  - id: save_numbers
    title: HDF5
    points: 1
    needs: {packages: [h5py]}
    cases: [{id: saved, scenario: numbers, args: {x: {randn: [2, 3]}}}]
    checks: [{id: values, kind: exact, item: content.x, points: 1}]
  - id: save_state
    title: A checkpoint
    points: 1
    cases: [{id: saved, scenario: state, args: {x: {randn: [2, 3]}}, repeats: 9}]
    checks: [{id: values, kind: exact, points: 1}]
"""
REFERENCE = """\
import torch


def save_numbers(x, path):
    import h5py

    with h5py.File(path, "w") as file:
        file["x"] = x.numpy()


def save_state(x, path):
    torch.save({"x": x}, path)
"""
SCENARIO = """\
import sys

import torch

from grader.scenario_process import actor, folder, read


def numbers(x):
    path = folder(write=True) / "x.h5"
    actor.call("save_numbers", x, str(path))
    return {"content": read(read_numbers, path)}


def read_numbers(path):
    import h5py

    if "toy" in sys.modules:
        raise RuntimeError("a submission is beside the parser")
    with h5py.File(path) as content:
        return {"x": torch.from_numpy(content["x"][...])}


def state(x):
    path = folder(write=True) / "x.pt"
    actor.call("save_state", x, str(path))
    return read(read_state, path)


def read_state(path):
    return torch.load(path, weights_only=True)
"""
FILES = {
    "assignments/toy/assignment.yml": SPEC,
    "assignments/toy/scenario.py": SCENARIO,
    "reference/toy/toy.py": REFERENCE,
}
STATE = 'torch.save({"x": x}, path)'
NUMBERS = 'file["x"] = x.numpy()'
OPENED = 'with h5py.File(path, "w") as file:\n        '


def write(root: Path) -> Path:
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def prepared(root: Path, sandbox: Sandbox, questions: tuple[str, ...] = ()) -> Grader:
    materials = load_materials(root / "assignments/toy/assignment.yml")
    grader = Grader(materials, sandbox, Options(1, "cpu", questions))
    grader.prepare()
    return grader


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    # The best walls there are, and a fork-server: a fresh process for each process takes seconds.
    with toy_starter.lent() as sandbox:
        yield sandbox


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path)


@pytest.fixture(scope="module")
def grader(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Grader:
    return prepared(write(tmp_path_factory.mktemp("toy")), sandbox)


def changed(grader: Grader, folder: Path, *edits: tuple[str, str]) -> Report:
    source = REFERENCE
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    folder.mkdir(exist_ok=True)
    (folder / "toy.py").write_text(source)
    return grader.grade(folder, "changed")


def codes(report: Report) -> list[str]:
    return [check.code.value for question in report.questions for check in question.checks]


def told(report: Report, number: int) -> str:
    return report.questions[number].checks[0].message or ""


def test_files_are_judged_by_what_they_hold(grader: Grader, tmp_path: Path) -> None:
    assert codes(changed(grader, tmp_path)) == ["ok", "ok"]
    # The same numbers in another file: what is compared is not the bytes.
    other = changed(grader, tmp_path, (NUMBERS, 'file.create_dataset("x", data=x, chunks=True)'))
    assert codes(other) == ["ok", "ok"]
    wrong = changed(grader, tmp_path, (NUMBERS, 'file["x"] = x.numpy() + 1'))
    assert codes(wrong) == ["wrong_value", "ok"]


@pytest.mark.parametrize(
    ("edit", "code", "said"),
    [
        (("File(path,", 'File("y.h5",'), "missing_file", "No file was found"),
        ((NUMBERS, 'file["y"] = x.numpy()'), "unreadable_file", "KeyError"),
        ((OPENED + NUMBERS, 'open(path, "wb").write(b"not HDF5")'), "unreadable_file", "OSError"),
        # A few hundred bytes that stand for terabytes.
        ((NUMBERS, 'file.create_dataset("x", (2**40,), "f4", chunks=True, compression=9)'),
         "unreadable_file", "MemoryError"),
    ],
)  # fmt: skip
def test_a_bad_file_is_its_authors_and_costs_what_rests_on_it(
    grader: Grader, tmp_path: Path, edit: tuple[str, str], code: str, said: str
) -> None:
    report = changed(grader, tmp_path, edit)

    assert codes(report) == [code, "ok"]
    assert said in told(report, 0)
    assert report.questions[0].checks[0].owner == "student"


def test_a_scenarios_sentence_on_a_file_is_told_in_the_readers_language(
    root: Path, sandbox: Sandbox
) -> None:
    path = root / "assignments/toy/scenario.py"
    spoken = "raise WrongFileError(en='The file is empty.', ko='빈 파일입니다.')"
    loads = "return torch.load(path, weights_only=True)"
    assert loads in SCENARIO
    text = SCENARIO.replace("actor, folder, read", "WrongFileError, actor, folder, read")
    asks = f"if path.stat().st_size == 0:\n        {spoken}\n    {loads}"
    path.write_text(text.replace(loads, asks), encoding="utf-8")

    report = changed(prepared(root, sandbox), root / "own", (STATE, 'open(path, "w").close()'))

    assert codes(report) == ["ok", "unreadable_file"]
    assert told(report, 1).endswith("The file is empty.")
    found = report.questions[1].checks[0]
    said = Message("unreadable_file", cast("dict[str, Param]", found.params))
    assert words_in("ko").render(said) == "빈 파일입니다."


PICKLED = """
    class Bomb:
        def __reduce__(self):
            return exec, ("CODE",)

    torch.save({"x": x, "bomb": Bomb()}, path)
"""
EXITS, STAYS = (PICKLED.strip().replace("CODE", f"import os; {code}") for code in
                ("os._exit(7)", "exec('while True: pass')"))  # fmt: skip


def test_a_pickle_in_a_checkpoint_does_not_run(grader: Grader, tmp_path: Path) -> None:
    report = changed(grader, tmp_path, (STATE, EXITS))

    assert codes(report) == ["ok", "unreadable_file"]
    assert "UnpicklingError" in told(report, 1)


@pytest.fixture(scope="module")
def careless(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Grader:
    root = write(tmp_path_factory.mktemp("careless"))
    path = root / "assignments/toy/scenario.py"
    path.write_text(SCENARIO.replace("weights_only=True", "weights_only=False"))
    spec = root / "assignments/toy/assignment.yml"
    spec.write_text(SPEC.replace("seconds: 5", "seconds: 1"))
    return prepared(root, sandbox)


def test_a_parser_that_a_file_takes_down_takes_no_other_file_along(
    careless: Grader, tmp_path: Path
) -> None:
    report = changed(careless, tmp_path / "first", (STATE, EXITS))

    assert codes(report) == ["ok", "unreadable_file"]
    assert codes(changed(careless, tmp_path / "second")) == ["ok", "ok"]


def test_a_file_that_is_endless_to_read_costs_no_more_than_two_cases(
    careless: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, tried = ScenarioRelay._read, []

    def counted(self: ScenarioRelay, *args: Any) -> Any:
        tried.append(args)
        return read(self, *args)

    monkeypatch.setattr(ScenarioRelay, "_read", counted)
    report = changed(careless, tmp_path, (STATE, STAYS))

    assert codes(report) == ["ok", "unreadable_file"]
    # Of the nine cases two, each perhaps twice on a busy machine, and that of the other question.
    assert len(tried) <= 6


@pytest.mark.parametrize(
    ("edit", "line", "said"),
    [
        (('content["x"][...]', 'content["z"][...]'), 20, "KeyError"),
        (("File(path)", 'File("y.h5")'), 19, "FileNotFoundError"),
    ],
)
def test_on_the_references_own_file_it_is_the_instructors(
    root: Path, sandbox: Sandbox, edit: tuple[str, str], line: int, said: str
) -> None:
    path = root / "assignments/toy/scenario.py"
    assert edit[0] in SCENARIO
    path.write_text(SCENARIO.replace(*edit))

    with pytest.raises(AssignmentError) as caught:
        prepared(root, sandbox)

    for part in (f"scenario.py:{line}: save_numbers.saved: ", "“numbers” failed", said):
        assert part in str(caught.value)


PLAIN = """
  - id: plain
    title: Plain
    points: 1
    cases: [{id: only}]
    checks: [{id: value, kind: exact, points: 1}]
"""


def lacking_one(root: Path, sandbox: Sandbox, questions: tuple[str, ...] = ()) -> Grader:
    file = root / "assignments/toy/assignment.yml"
    file.write_text(SPEC.replace("[h5py]", "[h5py, no_such_package]") + PLAIN)
    with (root / "reference/toy/toy.py").open("a") as stream:
        stream.write("\n\ndef plain():\n    return 1\n")
    return prepared(root, sandbox, questions)


def test_without_the_package_the_question_waits_and_says_why(root: Path, sandbox: Sandbox) -> None:
    report = lacking_one(root, sandbox).grade(root / "reference/toy", "reference")

    assert codes(report) == ["no_package", "ok", "ok"]
    assert (report.score, report.pending) == (2, 1)
    assert "no_such_package (ModuleNotFoundError: " in told(report, 0)


@pytest.mark.parametrize(
    ("first", "code"),
    [
        ("import no_such_package", "ok"),
        ("import no_such_package\n\nclass A(no_such_package.B.c): pass", "no_package"),
        ("from no_such_package.a import b\n\ndef f(x: b.c): pass", "no_package"),
        ("import no_such_package_\n\nclass A(no_such_package_.B.c): pass", "import_failed"),
        ("import no_such_package\n\nclass A(", "syntax_error"),
    ],
)
@pytest.mark.parametrize("questions", [(), ("plain",)])
def test_an_import_that_gets_stuck_for_the_lack_of_it_costs_nothing(
    root: Path, sandbox: Sandbox, first: str, code: str, questions: tuple[str, ...]
) -> None:
    grader = lacking_one(root, sandbox, questions)
    path = root / "submission.py"
    path.write_text(f"{first}\n\n\ndef plain():\n    return 1\n")

    plain = grader.grade(path, "submission").questions[-1]

    assert [check.code.value for check in plain.checks] == [code]
    assert (plain.score, plain.pending) == (float(code == "ok"), float(code == "no_package"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("scenario: numbers", "scenario: numbers, readers: {content: read_numbers}",
         "“readers” is gone; let the scenario read the file: return read(function, path)"),
        ("[h5py]", "['import os']", "packages[0]: "),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_for_is_said_with_its_line(
    root: Path, old: str, new: str, said: str
) -> None:
    file = root / "assignments/toy/assignment.yml"
    file.write_text(SPEC.replace(old, new))

    with pytest.raises(AssignmentError) as caught:
        load_materials(file)

    assert "assignment.yml:1" in str(caught.value)
    assert said in str(caught.value)
