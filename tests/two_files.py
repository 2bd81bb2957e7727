"""A small assignment whose questions stand in two files, one of which imports the other."""

from __future__ import annotations

from pathlib import Path

from grader.run.materials import Materials, load_materials

LINEAR, NET = "linear_classifier.py", "two_layer_net.py"

SPEC = """\
schema: torchgrade/assignment/v1
id: nets
version: "1"
title: Two classifiers
hand_in: [linear_classifier.py, two_layer_net.py]
limits: {seconds: 5}
questions:
  - id: scores
    title: Scores
    points: 3
    cases:
      - {id: example, args: {W: {tensor: [[1.0, 2.0]]}, X: {tensor: [[3.0], [4.0]]}}}
      - {id: drawn, dims: {N: [3, 6], D: [2, 5], C: 3}, visibility: hidden,
         args: {W: {randn: [D, C]}, X: {randn: [N, D]}}}
    checks:
      - {id: values, kind: close, points: 2, rtol: 1e-4, atol: 1e-5}
      - {id: no_loops, kind: loops, mode: none, points: 1, cases: [drawn], requires: [values],
         claim: true}
  - id: predict
    title: Classes
    points: 2
    cases:
      - {id: example, args: {W: {tensor: [[1.0, 2.0]]}, X: {tensor: [[3.0], [-4.0]]}}}
    checks:
      - {id: values, kind: exact, points: 2}
  - id: net_scores
    title: Scores of a net
    points: 3
    file: two_layer_net.py
    cases:
      - {id: made, dims: {N: [3, 6]}, generate: net_cases, repeats: 2}
    checks:
      - {id: values, kind: close, points: 2, rtol: 1e-4, atol: 1e-5}
      - {id: no_loops, kind: loops, mode: none, points: 1, requires: [values], claim: true}
  - id: Net
    title: A net
    points: 2
    file: two_layer_net.py
    cases:
      - {id: played, scenario: widths, args: {n: 3}}
    checks:
      - {id: values, kind: exact, points: 2}
"""

SCENARIO = """\
from grader.scenario_process import actor


def widths(n):
    net = actor.keep("Net", n)
    return actor.method(net, "width")
"""

LINEAR_REFERENCE = '''\
"""A linear classifier."""


def scores(W, X):
    """The score of each class for each row.

    Hint:
        One product does it.
    """
    # BEGIN SOLUTION
    return X @ W
    # END SOLUTION


def predict(W, X):
    """The class with the highest score, for each row."""
    # BEGIN SOLUTION
    return scores(W, X).argmax(1)
    # END SOLUTION
'''

NET_REFERENCE = '''\
"""A net of two layers."""

import torch

from linear_classifier import scores


def net_scores(W1, W2, X):
    """The score of each class for each row.

    Hint:
        The linear classifier's scores help, twice.
    """
    # BEGIN SOLUTION
    return scores(W2, scores(W1, X).clamp(min=0))
    # END SOLUTION


class Net:
    """A net."""

    def __init__(self, n):
        self.n = n

    def width(self):
        """Its width."""
        # BEGIN SOLUTION
        return 2 * self.n
        # END SOLUTION


# BEGIN HIDDEN
def net_cases(seed, N):
    draw = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(*size, generator=draw) for size in ((4, 5), (5, 3), (N, 4)))
# END HIDDEN
'''

MISTAKES = """\
# %% without_relu
# says: You left out the ReLU between the layers.

from linear_classifier import scores


def net_scores(W1, W2, X):
    return scores(W2, scores(W1, X))

# %% transposed
# says: You multiplied from the other side.

def scores(W, X):
    return (W.T @ X.T).T + W.sum()
"""

RIGHT = {
    LINEAR: LINEAR_REFERENCE,
    NET: NET_REFERENCE[: NET_REFERENCE.index("# BEGIN HIDDEN")],
}

NET_ALONE = RIGHT[NET].replace(
    "from linear_classifier import scores\n", "def scores(W, X):\n    return X @ W\n"
)
"""A right second file that rests on nothing of the first."""


def course(root: Path) -> Path:
    """Write the assignment below a folder; return its file."""
    files = {
        "assignments/nets/assignment.yml": SPEC,
        "assignments/nets/scenario.py": SCENARIO,
        f"reference/nets/{LINEAR}": LINEAR_REFERENCE,
        f"reference/nets/{NET}": NET_REFERENCE,
        "reference/nets/mistakes.py": MISTAKES,
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root / "assignments" / "nets" / "assignment.yml"


def materials(root: Path) -> Materials:
    """Write the assignment below a folder, and read it."""
    return load_materials(course(root))
