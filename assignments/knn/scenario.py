"""Drives the submission from the stage, where a call on values is not enough.

Classifier and cross-validation build on distances and votes. So that a mistake in those costs its
own points only, they are replaced: the case brings the distances between all of its points, which
are looked up here, by the points themselves, and the votes are counted here. Cross-validation gets
right predictions likewise.
"""

from __future__ import annotations

import torch

from grader.scenario_process import actor, callback, given

_FUNCTIONS = (
    "compute_distances_two_loops",
    "compute_distances_one_loop",
    "compute_distances_no_loops",
)


_RIGHT = {}
"""Name of a student's function → what puts a right one in its place. Empty in a self-check."""


def _put_right(name, *args):
    """Put a right function in the place of the submission's; a self-check asks the student's."""
    if name in _RIGHT:
        _RIGHT[name](*args)


# BEGIN HIDDEN
# These would show students how theirs are written.
def _vote(dists, y_train, k=1):
    # Of those that come as often, the smallest label.
    return y_train[dists.argsort(dim=0)[:k]].mode(dim=0).values


def _right_votes():
    actor.set_attr(actor.module, "predict_labels", callback(_vote, most=1_000))


def _right_classifier(look_up):
    def predict(x_train, y_train, x_test, k):
        return _vote(look_up(x_train, x_test), y_train, k)

    answers = callback(predict, most=1_000)
    classifier = given("classifier", actor.module, answers, keep=True)
    actor.set_attr(actor.module, "KnnClassifier", classifier)


_RIGHT |= {"predict_labels": _right_votes, "KnnClassifier": _right_classifier}


# END HIDDEN
def _know_distances(points, distances):
    """Let right functions answer in the place of the submission's; return what tells distances.

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
    _put_right("predict_labels")
    return look_up


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
    _put_right("KnnClassifier", _know_distances(x, distances))
    return actor.call("knn_cross_validate", x, y, num_folds, k_choices)


def cross_validate_by_default(x, y, distances):
    """Cross-validate without either."""
    _put_right("KnnClassifier", _know_distances(x, distances))
    return actor.call("knn_cross_validate", x, y)
