"""k nearest neighbours: distances, votes, a classifier, and the choice of k.

Hand in this file. Keep the names and the order of the parameters: functions and classes are found
by name and called with arguments in that order.

Words used below: there are ``num_train`` training points and ``num_test`` test points. A point may
have any shape (D1, …, Dk), such as (3, 32, 32) for an image: D is the number of its entries. Labels
are whole numbers from 0 up. No function may change its inputs.
"""

import torch
from torch import Tensor


def compute_distances_two_loops(x_train: Tensor, x_test: Tensor) -> Tensor:
    """Compute the squared distance of each training point to each test point, one pair at a time.

    Write two loops, one inside the other: they are worth half of the points. Not allowed: ``norm``,
    ``dist``, ``cdist``, and whatever ``torch.nn`` has.

    Args:
        x_train: Shape (num_train, D1, …, Dk), a floating dtype.
        x_test: Shape (num_test, D1, …, Dk), the same dtype.

    Returns:
        Shape (num_train, num_test) and the dtype of ``x_train``. Entry ``[i, j]`` is the sum of the
        squared differences between training point i and test point j. **No square root.**

    Hint:
        The order of the points is the same with and without a root; without, it is cheaper.
    """
    raise NotImplementedError("compute_distances_two_loops is not written yet")


def compute_distances_one_loop(x_train: Tensor, x_test: Tensor) -> Tensor:
    """Compute the same squared distances with one loop, over the training points.

    Not allowed: a second loop, ``norm``, ``dist``, ``cdist``, and whatever ``torch.nn`` has. That
    there is this one loop is worth half of the points.

    Args:
        x_train: Shape (num_train, D1, …, Dk), a floating dtype.
        x_test: Shape (num_test, D1, …, Dk), the same dtype.

    Returns:
        Shape (num_train, num_test) and the dtype of ``x_train``; see
        ``compute_distances_two_loops``.

    Hint:
        Points of any rank become vectors by ``x.flatten(1)``, or by ``x.view(num, -1)``.
    """
    raise NotImplementedError("compute_distances_one_loop is not written yet")


def compute_distances_no_loops(x_train: Tensor, x_test: Tensor) -> Tensor:
    """Compute the same squared distances without a loop, and without much memory.

    No loop of any kind: that is worth half of the points, some of them for speed. Nothing in
    between may have num_train × num_test × D entries; num_train × num_test are fine. Not allowed:
    ``norm``, ``dist``, ``cdist``, and whatever ``torch.nn`` has; but for ``norm``, these cost the
    half for the loops, too.

    Args:
        x_train: Shape (num_train, D1, …, Dk), a floating dtype.
        x_test: Shape (num_test, D1, …, Dk), the same dtype.

    Returns:
        Shape (num_train, num_test) and the dtype of ``x_train``; see
        ``compute_distances_two_loops``. Rounding may differ.

    Hint:
        Multiply out ``(a - b)**2`` for two vectors. One of the three terms is a matrix product, the
        others need one sum for each point.
    """
    raise NotImplementedError("compute_distances_no_loops is not written yet")


def predict_labels(dists: Tensor, y_train: Tensor, k: int = 1) -> Tensor:
    """Let the k nearest training points of each test point vote on its label.

    A loop over the test points is allowed.

    Args:
        dists: Shape (num_train, num_test): squared distances, no two alike in a column.
        y_train: Shape (num_train,), dtype int64: labels of the training points. Any from 0 up: do
            not count on 10 of them.
        k: How many vote, from 1 to num_train.

    Returns:
        Shape (num_test,), dtype int64: for each test point the label with the most votes. Of those
        that tie, the **smallest label**.

    Hints:
        * ``torch.topk`` finds the least numbers too, if asked.
        * ``torch.bincount`` counts labels. ``argmax`` takes the first of the greatest.
    """
    raise NotImplementedError("predict_labels is not written yet")


class KnnClassifier:
    """Predicts labels from the k nearest training points."""

    def __init__(self, x_train: Tensor, y_train: Tensor) -> None:
        """Remember the training data; there is nothing else to train.

        Args:
            x_train: Shape (num_train, D1, …, Dk), a floating dtype.
            y_train: Shape (num_train,), dtype int64.
        """
        raise NotImplementedError("KnnClassifier.__init__ is not written yet")

    def predict(self, x_test: Tensor, k: int = 1) -> Tensor:
        """Predict labels, by ``compute_distances_no_loops`` and ``predict_labels``.

        Args:
            x_test: Shape (num_test, D1, …, Dk).
            k: How many neighbours vote.

        Returns:
            Shape (num_test,), dtype int64.
        """
        raise NotImplementedError("KnnClassifier.predict is not written yet")

    def check_accuracy(
        self, x_test: Tensor, y_test: Tensor, k: int = 1, quiet: bool = False
    ) -> float:
        """Tell how many labels are predicted rightly. Given: nothing to do here.

        Args:
            x_test: Shape (num_test, D1, …, Dk).
            y_test: Shape (num_test,), dtype int64: the true labels.
            k: How many neighbours vote.
            quiet: Print nothing.

        Returns:
            Percent, from 0 to 100.
        """
        y_pred = self.predict(x_test, k=k)
        num_correct = int((y_pred == y_test).sum())
        accuracy = 100.0 * num_correct / len(y_test)
        if not quiet:
            print(f"{num_correct} of {len(y_test)} are right: {accuracy:.2f} %")
        return accuracy


def knn_cross_validate(
    x_train: Tensor, y_train: Tensor, num_folds: int = 5, k_choices: list[int] | None = None
) -> dict[int, list[float]]:
    """Measure the accuracy of several k by cross-validation.

    The data are cut into ``num_folds`` parts of equal length, in order. Each part once plays the
    test data, while all others together are the training data.

    Args:
        x_train: Shape (num_train, C, H, W); ``num_folds`` divides num_train.
        y_train: Shape (num_train,), dtype int64.
        num_folds: Number of parts, at least 2.
        k_choices: Values of k to try; 1, 3, 5, 8, 10, 12, 15, 20, 50 and 100 if not given.

    Returns:
        For each k the list of ``num_folds`` accuracies in percent, as ``check_accuracy`` returns
        them; number i of them is from the fold in which part i played the test data.

    Hint:
        ``torch.chunk`` cuts, ``torch.cat`` joins.
    """
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    raise NotImplementedError("knn_cross_validate is not written yet")


def knn_get_best_k(k_to_accuracies: dict[int, list[float]]) -> int:
    """Choose the k with the highest mean accuracy.

    Args:
        k_to_accuracies: For each k a list of accuracies in percent, as from
            ``knn_cross_validate``. Its keys may come in any order.

    Returns:
        The best k. Of those with the same mean, the smallest.
    """
    raise NotImplementedError("knn_get_best_k is not written yet")
