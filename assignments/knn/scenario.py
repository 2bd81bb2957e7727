"""Drives the submission from the stage, where a call on values is not enough.

Classifier and cross-validation build on the distance functions. So that a mistake in those costs
its own points only, they are replaced by a table: the case brings the distances between all of its
points, and the table is looked up here, by the points themselves.
"""

from __future__ import annotations

import torch

from grader.stage import actor, callback

_FUNCTIONS = (
    "compute_distances_two_loops",
    "compute_distances_one_loop",
    "compute_distances_no_loops",
)


def _know_distances(points, distances):
    """Let the submission's distance functions answer from a table.

    Args:
        points: All points of the case, no two alike.
        distances: Squared distances between all of them.
    """

    def places(some):
        return (some.flatten(1)[:, None] == points.flatten(1)).all(dim=2).int().argmax(dim=1)

    def look_up(x_train, x_test):
        return distances[places(x_train)][:, places(x_test)]

    for name in _FUNCTIONS:
        actor.set_attr(actor.module, name, callback(look_up, most=1_000))


def classify(x_train, y_train, x_test, k, distances):
    """Predict twice with one classifier: all test points, then the last of them alone."""
    _know_distances(torch.cat([x_train, x_test]), distances)
    classifier = actor.keep("KnnClassifier", x_train, y_train)
    one = actor.method(classifier, "predict", x_test, k=k)
    return one, actor.method(classifier, "predict", x_test[-1:], k)


def classify_by_one(x_train, y_train, x_test, k, distances):  # noqa: ARG001
    """Predict without saying k."""
    _know_distances(torch.cat([x_train, x_test]), distances)
    return actor.method(actor.keep("KnnClassifier", x_train, y_train), "predict", x_test)


def cross_validate(x, y, distances, num_folds, k_choices):
    """Cross-validate with a number of folds and with values of k."""
    _know_distances(x, distances)
    return actor.call("knn_cross_validate", x, y, num_folds, k_choices)


def cross_validate_by_default(x, y, distances):
    """Cross-validate without either."""
    _know_distances(x, distances)
    return actor.call("knn_cross_validate", x, y)
