"""Every labelled submission gets the verdicts that its label names."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from labels import read_label, waits

from grader.report.json_file import report_bytes
from grader.run.grade import Grader, Options
from grader.run.materials import load_materials
from grader.sandbox.open import open_sandbox
from grader.verdict import Code

ROOT = Path(__file__).parent / "submissions"
ASSIGNMENTS = Path(__file__).parents[1] / "assignments"
GROUPS = ("accepted", "wrong", "faults", "formats", "showcase")
LABELLED = sorted(path for group in GROUPS for path in ROOT.glob(f"*/{group}/*") if path.is_file())
# pytorch101 has tests of its own for these.
LABELLED += sorted(
    path for name in ("minibatch", "tensors") for path in ROOT.glob(f"{name}/exploits/*")
)
# Training takes seconds a hand-in: these each time, the others with what is heavy.
LIGHT_MINIBATCH = {
    "G_forged_losses", "load_without_optimizer", "loader_labels_stay", "predict_last_batch",
    "predict_train_mode", "save_without_optimizer", "train_no_zero_grad",
}  # fmt: skip
RIGHT = ROOT / "pytorch101" / "showcase" / "right.py"

Grade = Callable[[Path], dict[str, Any]]


@pytest.fixture(scope="session")
def graders() -> Iterator[dict[str, Grader]]:
    with open_sandbox("auto") as sandbox:
        ready = {}
        for assignment in sorted({path.parents[1].name for path in LABELLED}):
            materials = load_materials(ASSIGNMENTS / assignment / "assignment.yml")
            # Labels say what a machine without a GPU finds, whatever this one has.
            ready[assignment] = Grader(materials, sandbox, Options(seed=5, device="cpu"))
            ready[assignment].prepare()
        yield ready


@pytest.fixture
def grade(graders: dict[str, Grader]) -> Grade:
    def graded(path: Path) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(
            report_bytes(graders["pytorch101"].grade(path, path.stem))
        )
        return report

    return graded


def _marks(path: Path) -> list[pytest.MarkDecorator]:
    light = path.parents[1].name != "minibatch" or path.stem in LIGHT_MINIBATCH
    return [] if light else [pytest.mark.heavy]


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=str(path.relative_to(ROOT)), marks=_marks(path)) for path in LABELLED],
)
def test_a_labelled_submission_gets_what_its_label_says(
    path: Path, graders: dict[str, Grader]
) -> None:
    report = json.loads(report_bytes(graders[path.parents[1].name].grade(path, path.stem)))
    label = read_label(path)
    absent = [item["id"] for item in report["questions"] if waits(item, Code.NO_PACKAGE)]
    if absent and {*label.questions} & {*absent}:
        pytest.skip(f"needs a package that is not installed: {', '.join(absent)}")
    assert label.misses(report) == []


@pytest.mark.parametrize("assignment", sorted({path.parents[1].name for path in LABELLED}))
def test_the_reference_earns_all_and_the_starter_nothing(
    assignment: str, graders: dict[str, Grader]
) -> None:
    grader, root = graders[assignment], ASSIGNMENTS.parent
    full = grader.grade(root / "reference" / assignment, "reference")
    assert full.score + full.pending == full.max_score
    report = json.loads(report_bytes(full))
    assert full.pending == sum(item["pending"] for item in report["questions"] if waits(item))
    assert grader.grade(root / "starter" / assignment, "starter").score == 0


def test_accepted_earns_all_and_wrong_does_not() -> None:
    for path in LABELLED:
        label = read_label(path)
        named = {name: question.status for name, question in label.questions.items()}
        if path.parent.name == "accepted":
            assert named == {"*": "passed"}, path
        elif path.parent.name == "wrong" and not path.stem.startswith("gpu_"):
            # Where witnesses disagree, a person decides: that counts as caught.
            assert {"failed", "partial", "deferred"} & {*named.values()}, path


def _zip(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _tar(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _right() -> bytes:
    return RIGHT.read_bytes()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("flat.zip", lambda: _zip({"pytorch101.py": _right()})),
        ("{kim_12345678_A1}.zip", lambda: _zip({"A1/pytorch101.py": _right(), "A1/a.png": b"x"})),
        ("mac.zip", lambda: _zip({"pytorch101.py": _right(), "__MACOSX/._pytorch101.py": b"\0"})),
        ("hand_in.tar.gz", lambda: _tar("kim/pytorch101.py", _right())),
        ("pytorch101 (2).py", _right),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_right_hand_in_is_right_however_it_is_packed(
    name: str, data: Callable[[], bytes], tmp_path: Path, grade: Grade
) -> None:
    (tmp_path / name).write_bytes(data())
    assert read_label(RIGHT).misses(grade(tmp_path / name)) == []


def test_a_folder_is_graded_by_the_file_that_is_asked_for(tmp_path: Path, grade: Grade) -> None:
    (tmp_path / "pytorch101.py").write_bytes(_right())
    (tmp_path / "knn.py").write_text("raise SystemExit('not asked for')")
    assert read_label(RIGHT).misses(grade(tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("empty.zip", lambda: _zip({}), "missing_file"),
        ("other.zip", lambda: _zip({"knn.py": _right()}), "missing_file"),
        ("binary.py", lambda: bytes(range(256)) * 16, "bad_submission"),
        ("pytorch101.py", lambda: _right().decode().encode("utf-16"), "bad_submission"),
        ("torn.zip", lambda: _zip({"pytorch101.py": _right()})[:-40], "bad_submission"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_hand_in_that_cannot_be_read_says_so_and_earns_nothing(
    name: str, data: Callable[[], bytes], code: str, tmp_path: Path, grade: Grade
) -> None:
    (tmp_path / name).write_bytes(data())
    report = grade(tmp_path / name)
    codes = {check["code"] for question in report["questions"] for check in question["checks"]}
    assert (report["score"], codes) == (0, {code})
