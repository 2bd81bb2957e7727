"""Every labelled submission gets the verdicts that its label names."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import toy_starter
from labels import ROOT, SUBMISSIONS, TAKES_LONG, read_label, submissions_of

from grader.assignment.cells import LabelledSubmission
from grader.assignment.types import Assignment
from grader.authoring.labelled import checks_to_fail, failed_in, told_mistakes
from grader.authoring.labels import Label, waits
from grader.grading import Grader, Options
from grader.report.model import report_bytes
from grader.run.materials import Materials, load_materials
from grader.sandbox.host.processes import Sandbox
from grader.verdict import Code

GROUPS = ("accepted", "wrong", "faults", "formats", "showcase")
# pytorch101 has tests of its own for its exploits, in tests/exploits.
LABELLED = [
    (assignment, submission)
    for assignment in sorted(path.name for path in SUBMISSIONS.iterdir())
    for submission in submissions_of(
        assignment, *GROUPS, *(("exploits",) if assignment != "pytorch101" else ())
    )
]
# Training takes seconds a hand-in: these each time, the others with what is heavy.
LIGHT_MINIBATCH = {
    "load_without_optimizer", "predict_last_batch", "predict_train_mode",
    "save_without_optimizer",
}  # fmt: skip
RIGHT = SUBMISSIONS / "pytorch101" / "showcase" / "right.py"
SAMPLE = {
    "pool_in_order_of_completion", "ddp_without_set_epoch", "ddp_one_rank_fails",
    "resnet_activation_not_moved", "toy_all_on_one_device", "toy_activation_not_moved",
    "toy_cpu_product_then_cuda", "toy_parameters_copied", "toy_half_unused",
    "toy_all_on_the_cpu", "toy_result_sent_back",
    "step_label_on_the_wrong_device", "step_returns_a_tensor", "average_unweighted",
    "best_last_of_equals", "time_waits_for_one_gpu", "data_parallel_only_moved",
}  # fmt: skip
"""Of `parallel`, what is graded wherever tests run; 50 layers and waiting processes take time."""

LIGHT = {"parallel": SAMPLE, "minibatch": LIGHT_MINIBATCH}
"""By assignment, for those whose hand-ins take seconds each; of the others, all are light."""

WAITS_FOR_A_LIMIT = {
    "endless_loop_at_import", "endless_str", "ignores_sigterm", "sleeps",
    "best_hangs", "folds_hang_in_one_case", "folds_slowly", "folds_sleep", "sleeps_in_each_call",
}  # fmt: skip
"""What passes time until a limit ends it, like ``endless_loop``, which is graded each time."""

WORKS_LONG = {"numbers_one_by_one", "element_by_element", "find_the_worst_choice"}
"""What computes for many seconds by itself, or by the known mistakes that it is compared with."""

LIMITS = {
    "pytorch101": {"seconds": 1.0, "memory_mb": 384},
    "minibatch": {"seconds": 8.0},
}
"""By assignment, where its functions take a small part of its limit: what never ends is ended soon.

A machine may take seconds to hand out the memory that the assignment itself allows."""


MENDED = {
    "block_is_narrower", "block_norms_of_their_own", "classifier_swaps_points",
    "data_parallel_model_left_on_the_cpu", "data_parallel_only_moved",
    "data_parallel_parts_out_of_order", "data_parallel_results_of_one", "find_too_short_a_step",
    "freeze_freezes_all", "full_no_zero_grad_and_loss_after_step", "gpu_labels_at_home",
    "log_other_tags", "net_two_outputs", "one_sums_too_little", "plot_always_png",
    "pool_in_order_of_completion", "pool_iterator", "predict_float32_only", "predict_indices",
    "predict_rows", "predict_shuffled", "predict_ten_classes", "resnet_fc_left_behind",
    "resnet_not_flattened", "toy_activation_not_moved", "train_asks_for_one_row_more",
    "train_detaches", "train_normalizes_in_place", "train_own_optimizer",
    "train_zero_grad_too_late", "two_vectors_only",
}  # fmt: skip
"""Of other assignments than the next, what is wrong and earns points once a slip is mended."""

ALL_MENDED = {"pytorch101", "tensors"}
"""Where slips are tried in all that is wrong, which shows that they give nothing undue.

It takes two thirds of the time, so elsewhere it is done for those above, and for what is not
plainly wrong."""


def _may_be_mended(assignment: str, submission: LabelledSubmission) -> bool:
    if submission.group == "wrong":
        return assignment in ALL_MENDED or submission.name in MENDED
    return submission.name != "endless_loop"  # each try takes a whole limit


Grade = Callable[[Path], dict[str, Any]]


def _with_limits(materials: Materials, changed: dict[str, float]) -> Materials:
    """Let what never ends cost less time: each of its cases takes a whole limit."""
    limits = materials.assignment.limits.model_copy(update=changed)
    assignment = materials.assignment.model_copy(update={"limits": limits})
    return replace(materials, assignment=assignment)


class Graders:
    """One grader an assignment, prepared when the first of its hand-ins is graded.

    Args:
        sandbox: Where all of them run submissions.
        folder: Where cells are written.
        tests: All tests of this run.
    """

    def __init__(self, sandbox: Sandbox, folder: Path, tests: Sequence[pytest.Item]) -> None:
        self._sandbox = sandbox
        self._folder = folder
        self._tests = tests
        self._ready: dict[str, Grader] = {}
        self.failed: dict[str, dict[str, set[str]]] = {}
        """By assignment and wrong submission that was graded, the checks that it failed."""

    def of(self, assignment: str) -> Grader:
        """Return the prepared grader of an assignment."""
        if assignment not in self._ready:
            materials = load_materials(ROOT / "assignments" / assignment / "assignment.yml")
            if assignment in LIMITS:
                materials = _with_limits(materials, LIMITS[assignment])
            judged = self._judged(materials.assignment) if assignment in LIGHT else ()
            # Labels say what is found on virtual GPUs, whatever this machine has.
            grader = Grader(materials, self._sandbox, Options(5, "virtual", judged))
            grader.prepare()
            self._ready[assignment] = grader
        return self._ready[assignment]

    def _judged(self, assignment: Assignment) -> tuple[str, ...]:
        """Return the questions that a test of this run judges; nothing where it may be any.

        The reference of one question, and of a heavy one alone, can take longer than all others.
        """
        here = (test for test in self._tests if test.path.name == Path(__file__).name)
        given = [test.callspec.params for test in here if hasattr(test, "callspec")]
        ours = [params for params in given if params.get("assignment") == assignment.id]
        if any("submission" not in params for params in ours):
            return ()
        labels = [read_label(params["submission"]) for params in ours]
        judged = {name for label in labels for name in label.judged(assignment)}
        return tuple(each.id for each in assignment.questions if each.id in judged)

    def __call__(
        self, assignment: str, submission: LabelledSubmission, label: Label | None = None
    ) -> dict[str, Any]:
        """Return the report on a submission; with a label, on the questions that it judges."""
        path = submission.placed(self._folder)
        grader = self.of(assignment)
        if label is not None:
            grader = grader.with_questions(label.judged(grader.assignment))
            grader.mends = _may_be_mended(assignment, submission)
        report = grader.grade(path, submission.name)
        if submission.group == "wrong":
            self.failed.setdefault(assignment, {})[submission.name] = set(failed_in(report))
        content: dict[str, Any] = json.loads(report_bytes(report))
        return content


@pytest.fixture(scope="session")
def graders(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Graders]:
    with toy_starter.lent() as sandbox:
        yield Graders(sandbox, tmp_path_factory.mktemp("cells"), request.session.items)


@pytest.fixture
def grade(graders: Graders) -> Grade:
    return lambda path: graders("pytorch101", LabelledSubmission(path.stem, path))


_ONE_OF = 4
"""Of the wrong submissions and attacks of assignments that take long, ``make test-all`` grades one
of so many, and ``make test-release`` the others."""


def _labelled() -> Iterator[Any]:
    of_a_group: Counter[tuple[str, str]] = Counter()
    for assignment, submission in LABELLED:
        marks = []
        group = assignment, submission.group
        if _is_heavy(assignment, submission.name):
            left_out = submission.group in ("wrong", "exploits") and of_a_group[group] % _ONE_OF
            for_release = assignment in TAKES_LONG and left_out
            marks = [pytest.mark.release if for_release else pytest.mark.heavy]
            of_a_group[group] += 1
        name = f"{assignment}/{submission.group}/{submission.name}"
        yield pytest.param(assignment, submission, id=name, marks=marks)


def _is_heavy(assignment: str, name: str) -> bool:
    light = LIGHT.get(assignment)
    return name in WAITS_FOR_A_LIMIT | WORKS_LONG or (light is not None and name not in light)


def _assignments(slow: pytest.MarkDecorator) -> Iterator[Any]:
    for name in sorted({assignment for assignment, _ in LABELLED}):
        yield pytest.param(name, marks=[slow] if name in LIGHT else [])


# Right, and a person looks: no log shows work in Python, NumPy or sparse tensors.
IN_NO_LOG = {
    "lists_alone", "numpy_in_each_turn", "means_by_a_sparse_matrix",
    "means_by_compressed_rows",
}  # fmt: skip


@pytest.mark.parametrize(("assignment", "submission"), list(_labelled()))
def test_a_labelled_submission_gets_what_its_label_says(
    assignment: str, submission: LabelledSubmission, graders: Graders
) -> None:
    label = read_label(submission)
    report = graders(assignment, submission, label)
    absent = [item["id"] for item in report["questions"] if waits(item, Code.NO_PACKAGE)]
    if absent and {*label.questions} & {*absent}:
        pytest.skip(f"needs a package that is not installed: {', '.join(absent)}")
    assert label.misses(report) == []
    if submission.module is not None:
        # A cell has one mistake. Where a known mistake of another name is told, the sentence is
        # false, but for those that the label names.
        assert told_mistakes(report) <= {submission.name, *label.mistakes}


@pytest.mark.parametrize("assignment", list(_assignments(pytest.mark.release)))
def test_each_check_is_failed_by_a_wrong_submission(assignment: str, graders: Graders) -> None:
    # Grader lint asks the same, and grades all of them once more.
    wrong = [
        each
        for name, each in LABELLED
        if name == assignment and each.group == "wrong" and each.name not in WORKS_LONG
    ]
    graded = graders.failed.get(assignment, {})
    left = [each for each in wrong if each.name not in graded]
    if len(left) > len(wrong) / 2:
        pytest.skip("too few wrong submissions were graded in this run")
    for submission in left:
        graders(assignment, submission, read_label(submission))
    failed = set().union(*graders.failed[assignment].values())
    assert set(checks_to_fail(graders.of(assignment).assignment)) <= failed


def test_a_labelled_mistake_is_named(graders: Graders) -> None:
    names = {"normalize_by_m", "shuffle_rows", "gpu_never_returns"}
    named = {
        submission.name: told_mistakes(graders("pytorch101", submission))
        for assignment, submission in LABELLED
        if assignment == "pytorch101" and submission.name in names
    }
    assert named == {name: {name} for name in names}


_SPEED = {"vectorised": "not_timed", "speedup": "no_device"}
"""What waits for the clock, or for a real GPU, in this file."""


@pytest.mark.parametrize("assignment", list(_assignments(pytest.mark.heavy)))
def test_the_reference_earns_all_and_the_starter_nothing(assignment: str, graders: Graders) -> None:
    grader = graders.of(assignment)
    full = grader.grade(ROOT / "reference" / assignment, "reference")
    assert full.score + full.pending == full.max_score
    checks = [check for question in full.questions for check in question.checks]
    for check in checks:
        allowed = {_SPEED.get(check.kind, "no_permission"), "no_package"}
        assert not check.pending or check.code.value in allowed, check
    assert grader.grade(ROOT / "starter" / assignment, "starter").score == 0


def test_accepted_earns_all_and_wrong_does_not() -> None:
    for _, submission in LABELLED:
        label = read_label(submission)
        if submission.group == "accepted":
            assert "*" in label.questions, submission
        if submission.group in ("accepted", "wrong"):
            # Where witnesses disagree, a person decides: that counts as caught.
            loses = any(question.loses for question in label.questions.values())
            loses &= submission.name not in IN_NO_LOG
            assert loses == (submission.group == "wrong"), submission


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
