"""Runs in the guest, beside the hand-in, where a call on values is not enough.

Classifier and cross-validation build on the distance functions. So that a mistake in those costs
its own points only, they are replaced for the time of a call by a table: the case brings the
distances between all of its points, and the table is looked up by the points themselves.
"""

from __future__ import annotations

from contextlib import contextmanager

import torch

_FUNCTIONS = (
    "compute_distances_two_loops",
    "compute_distances_one_loop",
    "compute_distances_no_loops",
)


def _places(some, points):
    """Return where in ``points`` each of ``some`` is."""
    return (some.flatten(1)[:, None] == points.flatten(1)).all(dim=2).int().argmax(dim=1)


@contextmanager
def _known_distances(student, points, distances):
    """Let the hand-in's distance functions answer from a table.

    Args:
        student: The submitted module.
        points: All points of the case, no two alike.
        distances: Squared distances between all of them.
    """

    def look_up(x_train, x_test):
        return distances[_places(x_train, points)][:, _places(x_test, points)]

    own = {name: vars(student)[name] for name in _FUNCTIONS if name in vars(student)}
    vars(student).update(dict.fromkeys(_FUNCTIONS, look_up))
    try:
        yield
    finally:
        for name in _FUNCTIONS:
            del vars(student)[name]
        vars(student).update(own)


def classify(student, x_train, y_train, x_test, k, distances):
    """Predict twice with one classifier: all test points, then the last of them alone."""
    with _known_distances(student, torch.cat([x_train, x_test]), distances):
        classifier = student.KnnClassifier(x_train, y_train)
        return classifier.predict(x_test, k=k), classifier.predict(x_test[-1:], k)


def classify_by_one(student, x_train, y_train, x_test, k, distances):  # noqa: ARG001
    """Predict without saying k."""
    with _known_distances(student, torch.cat([x_train, x_test]), distances):
        return student.KnnClassifier(x_train, y_train).predict(x_test)


def cross_validate(student, x, y, distances, num_folds, k_choices):
    """Cross-validate with a number of folds and with values of k."""
    with _known_distances(student, x, distances):
        return student.knn_cross_validate(x, y, num_folds, k_choices)


def cross_validate_by_default(student, x, y, distances):
    """Cross-validate without either."""
    with _known_distances(student, x, distances):
        return student.knn_cross_validate(x, y)
