"""Lint, mutants and labelled submissions where questions stand in two files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import toy_starter
import two_files
from two_files import LINEAR, NET

from grader.assignment.cells import labelled_submissions
from grader.authoring.labelled import write_proposals
from grader.authoring.lint import lint_assignment
from grader.authoring.mutants import Mutant, Tally, mutants_of, try_mutants
from grader.authoring.starter import build_starter, write_starter
from grader.grading import Grader, Options
from grader.run.materials import Materials
from grader.sandbox.host.processes import Sandbox
from grader.verdict import Status

WRONG = """\
# Wrong ways to write both files.

# %% from_the_other_side
# expect:
#   questions:
#     scores: {status: failed, checks: {values: wrong_value}}

def scores(W, X):
    return X @ W + 1

# %% in_turns
# expect:
#   questions:
#     scores: {status: partial, checks: {no_loops: loop_found}}

import torch


def scores(W, X):
    rows = []
    for row in X:
        rows.append(row @ W)
    return torch.stack(rows)

# %% net_without_relu
# right: Net
# expect:
#   mistakes: [without_relu]
#   questions:
#     net_scores: {status: failed, checks: {values: wrong_value}}
#     Net: {status: passed}

from linear_classifier import scores


def net_scores(W1, W2, X):
    return scores(W2, scores(W1, X))

# %% narrow
# expect:
#   questions:
#     Net: {status: failed, checks: {values: wrong_value}}

class Net:
    def __init__(self, n):
        self.n = n

    def width(self):
        return self.n
"""


BROKEN = """\
# The net is right and rests on nothing of this file, which Python cannot read.
# expect:
#   questions:
#     scores: {status: failed, code: syntax_error}
#     predict: {status: failed, code: syntax_error}
#     net_scores: {status: passed}
#     Net: {status: passed}

def scores(W, X)
    return X @ W
"""
EMPTY_NET = """\
# The other file is empty.
# expect:
#   questions:
#     net_scores: {status: failed, code: bad_submission, says: two_layer_net.py is empty}
#     Net: {status: failed, code: bad_submission, says: two_layer_net.py is empty}
#     "*": {status: passed}
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with toy_starter.lent() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> Materials:
    materials = two_files.materials(tmp_path_factory.mktemp("nets"))
    files = build_starter(materials.assignment, materials.folder, materials.reference_folder)
    write_starter(files, materials.starter)
    folder = materials.root / "tests" / "submissions" / "nets" / "wrong"
    folder.mkdir(parents=True)
    (folder / "both.py").write_text(WRONG)
    for name, linear, net in (
        ("syntax_error_beside", BROKEN, two_files.NET_ALONE),
        ("empty_beside", EMPTY_NET + two_files.RIGHT[LINEAR], ""),
    ):
        (folder / name).mkdir()
        (folder / name / LINEAR).write_text(linear)
        (folder / name / NET).write_text(net)
    return materials


def test_a_cell_lies_in_its_own_file_beside_the_solutions(nets: Materials, tmp_path: Path) -> None:
    folder = nets.root / "tests" / "submissions" / "nets" / "wrong"
    texts = {name: data.decode() for name, data in nets.reference.items()}
    found = {each.name: each for each in labelled_submissions(folder, texts, nets.assignment.asked)}
    assert found["in_turns"].file == LINEAR
    assert found["net_without_relu"].file == NET
    placed = found["net_without_relu"].placed(tmp_path)
    assert (placed / LINEAR).read_text() == texts[LINEAR]
    assert "class Net" in (placed / NET).read_text()
    assert "net_cases" not in (placed / NET).read_text()


def test_lint_names_the_checks_that_no_wrong_submission_fails(
    nets: Materials, sandbox: Sandbox
) -> None:
    found = [finding.where for finding in lint_assignment(nets, sandbox)]
    # A loop in one file costs the other's question, too, which calls it: lint says that, last. No
    # label is about that, so that a check of it is failed by none.
    assert found == ["predict.values", "net_scores.no_loops", "net_scores"]


def test_mutants_of_each_file_are_tried_and_proposed(nets: Materials, sandbox: Sandbox) -> None:
    tallies = try_mutants(nets, sandbox, Options(5, "virtual", ("predict", "Net")))
    caught = {tally.question: tally for tally in tallies}
    assert set(caught) == {"predict", "Net"}
    assert caught["Net"].caught == caught["Net"].total > 1
    survivor = _mutant(nets)
    (path,) = write_proposals([Tally("Net", 0, (survivor,))], nets)
    texts = {name: data.decode() for name, data in nets.reference.items()}
    (proposed,) = labelled_submissions(path.parent, texts, nets.assignment.asked)
    assert proposed.file == NET
    grader = Grader(nets, sandbox, Options(5, "virtual", ("Net",)))
    grader.prepare()
    report = grader.grade(proposed.placed(path.parent), "proposed", clock=False)
    assert [question.score for question in report.questions] == [0, 0, 0, 0]
    assert report.questions[3].status is Status.FAILED


def _mutant(nets: Materials) -> Mutant:
    found = mutants_of(nets.reference[NET].decode(), NET)
    return next(each for each in found if each.function == "Net")
