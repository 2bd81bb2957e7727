"""Files that hand-ins leave: read in a guest of their own, whatever is in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import toy_starter

from grader.errors import AssignmentError
from grader.guest.api import unpack
from grader.observation import Claims, Observation, Outcome
from grader.report.model import Report
from grader.run.artifacts import MAX_BYTES, MAX_FILES, read_artifacts
from grader.run.grade import Grader, Options
from grader.run.materials import load_materials
from grader.run.observe import QuestionRun
from grader.run.plan import make_plan
from grader.sandbox.base import Sandbox
from grader.wire.messages import Call
from grader.wire.values import Artifact, Value

h5py = pytest.importorskip("h5py", reason="the extra “assignments” is not installed")

SPEC = """\
schema: torchgrade/assignment/v1
id: toy
version: "1"
title: Toy
hand_in: [toy.py]
limits: {seconds: 5, memory_mb: 512}
questions:
  - id: save
    title: Save
    points: 4
    needs: {packages: [h5py]}
    cases:
      - id: saved
        scenario: play
        readers: {numbers: read_numbers, state: read_state, logs: read_logs}
        args: {x: {randn: [2, 3]}}
    checks:
      - {id: numbers, kind: exact, item: numbers.x, points: 1}
      - {id: state, kind: exact, item: state, points: 1}
      - {id: logs, kind: exact, item: logs, points: 1}
      - {id: returned, kind: exact, item: returned, points: 1}
"""
REFERENCE = """\
import h5py
import torch


def save(x):
    with h5py.File("x.h5", "w") as file:
        file["x"] = x.numpy()
    torch.save({"x": x}, "x.pt")
    for number in range(2):
        with open(f"log.{number}.txt", "w") as file:
            file.write(str(number))
    return 1
"""
SCENARIO = """\
from grader.guest.api import artifact, artifacts


def play(student, x):
    returned = student.save(x)
    return {
        "returned": returned,
        "numbers": artifact("x.h5"),
        "state": artifact("x.pt"),
        "logs": artifacts("log.*.txt"),
    }
"""
READER = """\
import sys

import h5py
import torch

from grader.guest.api import unpack


def read_numbers(file):
    if "toy" in sys.modules:
        raise RuntimeError("a hand-in is beside the reader")
    with h5py.File(unpack(file)) as content:
        return {"x": torch.from_numpy(content["x"][...])}


def read_state(file):
    return torch.load(unpack(file), weights_only=True)


def read_logs(files):
    return [bytes(file.data).decode() for file in files]
"""
FILES = {
    "assignments/toy/assignment.yml": SPEC,
    "assignments/toy/scenario.py": SCENARIO,
    "assignments/toy/reader.py": READER,
    "reference/toy/toy.py": REFERENCE,
}
STATE = 'torch.save({"x": x}, "x.pt")'
NUMBERS = 'file["x"] = x.numpy()'


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    # The best walls there are, and a fork-server: a fresh process for each guest takes seconds.
    with toy_starter.lent() as sandbox:
        yield sandbox


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.fixture(scope="module")
def grader(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Grader:
    place = tmp_path_factory.mktemp("toy")
    for name, text in FILES.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    grader = Grader(
        load_materials(place / "assignments/toy/assignment.yml"), sandbox, Options(1, "cpu")
    )
    grader.prepare()
    return grader


def changed(grader: Grader, folder: Path, *edits: tuple[str, str]) -> Report:
    source = REFERENCE
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    folder.mkdir(exist_ok=True)
    (folder / "toy.py").write_text(source)
    return grader.grade(folder, "changed")


def codes(report: Report) -> dict[str, str]:
    return {check.id: check.code.value for check in report.questions[0].checks}


def told(report: Report, name: str) -> str:
    return next(check.message or "" for check in report.questions[0].checks if check.id == name)


ALL = {"numbers": "ok", "state": "ok", "logs": "ok", "returned": "ok"}


def test_files_are_judged_by_what_they_hold(grader: Grader, tmp_path: Path) -> None:
    assert codes(changed(grader, tmp_path)) == ALL
    # The same numbers in another file: what is compared is not the bytes.
    other = changed(grader, tmp_path, (NUMBERS, 'file.create_dataset("x", data=x, chunks=True)'))
    assert codes(other) == ALL
    wrong = changed(grader, tmp_path, (NUMBERS, 'file["x"] = x.numpy() + 1'))
    assert codes(wrong) == {**ALL, "numbers": "wrong_value"}


@pytest.mark.parametrize(
    ("edits", "code", "said"),
    [
        ([('"x.h5"', '"y.h5"')], "missing_file", "No file was found"),
        ([(NUMBERS, 'file["y"] = x.numpy()')], "unreadable_file", "KeyError"),
        ([("torch.save", 'open("x.h5", "wb").write(b"not HDF5")\n    torch.save')],
         "unreadable_file", "OSError"),
        # A few hundred bytes that stand for terabytes.
        ([(NUMBERS, 'file.create_dataset("x", (2**40,), "f4", chunks=True, compression=9)')],
         "unreadable_file", "MemoryError"),
    ],
)  # fmt: skip
def test_a_bad_file_is_its_authors_and_costs_what_rests_on_it(
    grader: Grader, tmp_path: Path, edits: list[tuple[str, str]], code: str, said: str
) -> None:
    report = changed(grader, tmp_path, *edits)

    assert codes(report) == {**ALL, "numbers": code}
    assert said in told(report, "numbers")
    assert {check.owner for check in report.questions[0].checks if check.id == "numbers"} == {
        "student"
    }


PICKLED = """
    class Bomb:
        def __reduce__(self):
            return exec, ("import os; os._exit(7)",)

    torch.save({"x": x, "bomb": Bomb()}, "x.pt")
"""


def test_a_pickle_in_a_checkpoint_does_not_run(grader: Grader, tmp_path: Path) -> None:
    report = changed(grader, tmp_path, (STATE, PICKLED.strip()))

    assert codes(report) == {**ALL, "state": "unreadable_file"}
    assert "UnpicklingError" in told(report, "state")


def test_what_stands_in_a_files_place_never_reaches_a_reader(
    grader: Grader, tmp_path: Path
) -> None:
    swap = f'import grader.guest.api as api\n    api.artifact = lambda path: "text"\n    {STATE}'

    assert codes(changed(grader, tmp_path, (STATE, swap)))["logs"] == "missing_file"


def test_a_reader_that_a_file_takes_down_takes_no_other_file_along(
    root: Path, tmp_path: Path, sandbox: Sandbox
) -> None:
    path = root / "assignments/toy/reader.py"
    path.write_text(READER.replace("weights_only=True", "weights_only=False"))
    careless = Grader(
        load_materials(root / "assignments/toy/assignment.yml"), sandbox, Options(1, "cpu")
    )
    careless.prepare()

    report = changed(careless, tmp_path / "hand_in", (STATE, PICKLED.strip()))

    assert codes(report) == {**ALL, "state": "unreadable_file"}
    assert "exit status 7" in told(report, "state")


class Recorder:
    """Stands for a session whose guest never answers, and counts the questions put to it."""

    loaded = failed_load = None

    def __init__(self) -> None:
        self.asked: list[str] = []

    def prepare(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass

    def call_fairly(self, call: Call, _: float) -> Observation:
        self.asked.append(call.entry)
        return Observation(Outcome.TIMED_OUT, detail="no answer")


def test_a_file_that_is_endless_to_read_is_tried_once(root: Path) -> None:
    file = root / "assignments/toy/assignment.yml"
    file.write_text(SPEC.replace("scenario: play", "scenario: play\n        repeats: 9"))
    assignment = load_materials(file).assignment
    plan = make_plan(assignment, assignment.questions, 1, lambda *_: ())
    left: Value = {"numbers": Artifact("x.h5", b""), "state": None, "logs": [Artifact("a", b"")]}
    seen = Observation(Outcome.COMPLETED, claims=Claims(left))
    run = QuestionRun("save", None, None, {case.key: seen for case in plan[0].cases})
    recorder = Recorder()

    runs = read_artifacts(recorder, plan, {"save": run}, assignment.limits_of)  # type: ignore[arg-type]

    assert recorder.asked == ["read_numbers", "read_logs"]
    outcomes = [
        {name: reading.outcome.value for name, reading in seen.unread.items()}
        for seen in runs["save"].observations.values()
    ]
    assert outcomes == [{"numbers": "timed_out", "state": "raised", "logs": "timed_out"}] * 9


FORGED = """
    import sys

    guest = sys._getframe(2).f_globals
    to_wire = guest["to_wire"]
    forged = {"numbers.x": x, "state": {"x": x}, "logs": ["0", "1"], "returned": 1}
    forged |= {EXTRA}
    guest["to_wire"] = lambda _, *rest: to_wire(forged, *rest)
"""


@pytest.mark.parametrize("extra", ['"": 0', '"numbers": 0', '"numbers": {"x": x}'])
def test_a_result_without_a_file_is_not_judged_without_its_reader(
    grader: Grader, tmp_path: Path, extra: str
) -> None:
    report = changed(grader, tmp_path, (STATE, FORGED.replace("EXTRA", extra).strip()))

    assert codes(report) == {**dict.fromkeys(ALL, "missing_file"), "returned": "ok"}
    assert {check.owner for check in report.questions[0].checks[:3]} == {"student"}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([Artifact("a", b"")] * (MAX_FILES + 1), "65 files"),
        ([Artifact("a", bytes(MAX_BYTES)), Artifact("b", b"1")], f"{MAX_BYTES + 1} bytes"),
    ],
)
def test_more_than_may_be_read_is_refused_before_a_guest_sees_it(
    root: Path, files: list[Value], said: str
) -> None:
    assignment = load_materials(root / "assignments/toy/assignment.yml").assignment
    plan = make_plan(assignment, assignment.questions, 1, lambda *_: ())
    seen = Observation(Outcome.COMPLETED, claims=Claims({"logs": files}))
    recorder = Recorder()
    run = QuestionRun("save", None, None, {"saved": seen})

    runs = read_artifacts(recorder, plan, {"save": run}, assignment.limits_of)  # type: ignore[arg-type]

    fault = runs["save"].observations["saved"].unread["logs"].claims.fault
    assert fault is not None
    assert said in fault.message
    assert recorder.asked == []


def test_a_file_is_unpacked_where_no_import_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["h5py.py", "../h5py.py", "/h5py.py", "..", ""]

    paths = [unpack(Artifact(name, b"x")) for name in names]

    assert {path.parent.parent for path in paths} == {tmp_path}
    assert len({path.parent for path in paths}) == len(names)
    assert all(path.read_bytes() == b"x" for path in paths)


@pytest.mark.parametrize(
    ("name", "edit", "said"),
    [
        ("reader", ('content["x"][...]', 'content["z"][...]'),
         ["assignments/toy/reader.py:13: save.saved: ", "“read_numbers” failed", "KeyError"]),
        ("reader", ("def read_logs", "def raed_logs"),
         ["assignments/toy/reader.py: save.saved: ", "“read_logs” is not defined",
          "did you mean “raed_logs”?"]),
        ("reader", ("import sys\n", "import sys\nimport no_such\n1 / 0\n"),
         ["assignments/toy/reader.py:3: save.saved: ", "ZeroDivisionError"]),
        ("scenario", ('"logs": ', '"log": '),
         ["assignments/toy/scenario.py: save.saved: ",
          "“play” returned no dict with the item “logs”"]),
    ],
)  # fmt: skip
def test_on_the_references_own_file_it_is_the_instructors(
    root: Path, sandbox: Sandbox, name: str, edit: tuple[str, str], said: list[str]
) -> None:
    path = root / f"assignments/toy/{name}.py"
    assert edit[0] in path.read_text()
    path.write_text(path.read_text().replace(*edit, 1))
    materials = load_materials(root / "assignments/toy/assignment.yml")

    with pytest.raises(AssignmentError) as caught:
        Grader(materials, sandbox, Options(1, "cpu")).prepare()

    for part in said:
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
    grader = Grader(load_materials(file), sandbox, Options(1, "cpu", questions))
    grader.prepare()
    return grader


def test_without_the_package_the_question_waits_and_says_why(root: Path, sandbox: Sandbox) -> None:
    report = lacking_one(root, sandbox).grade(root / "reference/toy", "reference")

    assert set(codes(report).values()) == {"no_package"}
    assert (report.score, report.pending) == (1, 4)
    assert "no_such_package (ModuleNotFoundError: " in told(report, "state")


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
    path = root / "hand_in.py"
    path.write_text(f"{first}\n\n\ndef plain():\n    return 1\n")

    plain = grader.grade(path, "hand_in").questions[1]

    assert [check.code.value for check in plain.checks] == [code]
    assert (plain.score, plain.pending) == (float(code == "ok"), float(code == "no_package"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("scenario: play\n", "visibility: visible\n", "only a scenario can return a file"),
        ("kind: exact, item: numbers.x", "kind: envelope, item: numbers.x",
         "“numbers” is read from a file"),
        ("[h5py]", "['import os']", "packages[0]: "),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_said_with_its_line(
    root: Path, old: str, new: str, said: str
) -> None:
    file = root / "assignments/toy/assignment.yml"
    file.write_text(SPEC.replace(old, new))

    with pytest.raises(AssignmentError) as caught:
        load_materials(file)

    assert said in str(caught.value)


def test_readers_without_their_file(root: Path) -> None:
    (root / "assignments/toy/reader.py").unlink()

    with pytest.raises(AssignmentError, match=r"no reader\.py beside assignment\.yml"):
        load_materials(root / "assignments/toy/assignment.yml")


def test_the_readers_file_counts_in_the_digest(root: Path) -> None:
    file = root / "assignments/toy/assignment.yml"
    before = load_materials(file).digest
    (root / "assignments/toy/reader.py").write_text(READER + "\n")

    assert load_materials(file).digest != before
