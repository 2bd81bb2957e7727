"""k nearest neighbours: distances, votes, a classifier, and the choice of k.

Hand in this file. Keep the names and the order of the parameters: functions and classes are found
by name and called with arguments in that order.

Words used below: there are ``num_train`` training points and ``num_test`` test points. A point may
have any shape (D1, …, Dk), such as (3, 32, 32) for an image: D is the number of its entries. Labels
are whole numbers from 0 up. No function may change its inputs.
"""

# BEGIN HIDDEN
import numpy as np

# END HIDDEN
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
    # BEGIN SOLUTION
    distances = x_train.new_zeros((x_train.shape[0], x_test.shape[0]))
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            distances[i, j] = ((x_train[i] - x_test[j]) ** 2).sum()
    return distances
    # END SOLUTION


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
    # BEGIN SOLUTION
    train, test = x_train.flatten(1), x_test.flatten(1)
    distances = train.new_zeros((train.shape[0], test.shape[0]))
    for i in range(train.shape[0]):
        distances[i] = ((test - train[i]) ** 2).sum(dim=1)
    return distances
    # END SOLUTION


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
    # BEGIN SOLUTION
    train, test = x_train.flatten(1), x_test.flatten(1)
    train_squares = (train**2).sum(dim=1, keepdim=True)
    test_squares = (test**2).sum(dim=1)
    return train_squares + test_squares - 2 * train.mm(test.t())
    # END SOLUTION


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
    # BEGIN SOLUTION
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        nearest = torch.topk(dists[:, j], k, largest=False).indices
        y_pred[j] = torch.bincount(y_train[nearest]).argmax()
    return y_pred
    # END SOLUTION


class KnnClassifier:
    """Predicts labels from the k nearest training points."""

    def __init__(self, x_train: Tensor, y_train: Tensor) -> None:
        """Remember the training data; there is nothing else to train.

        Args:
            x_train: Shape (num_train, D1, …, Dk), a floating dtype.
            y_train: Shape (num_train,), dtype int64.
        """
        # BEGIN SOLUTION
        self.x_train = x_train
        self.y_train = y_train
        # END SOLUTION

    def predict(self, x_test: Tensor, k: int = 1) -> Tensor:
        """Predict labels, by ``compute_distances_no_loops`` and ``predict_labels``.

        Args:
            x_test: Shape (num_test, D1, …, Dk).
            k: How many neighbours vote.

        Returns:
            Shape (num_test,), dtype int64.
        """
        # BEGIN SOLUTION
        dists = compute_distances_no_loops(self.x_train, x_test)
        return predict_labels(dists, self.y_train, k=k)
        # END SOLUTION

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
    # BEGIN SOLUTION
    x_parts, y_parts = x_train.chunk(num_folds), y_train.chunk(num_folds)
    accuracies: dict[int, list[float]] = {k: [] for k in k_choices}
    for fold in range(num_folds):
        x_rest = torch.cat(x_parts[:fold] + x_parts[fold + 1 :])
        y_rest = torch.cat(y_parts[:fold] + y_parts[fold + 1 :])
        classifier = KnnClassifier(x_rest, y_rest)
        for k in k_choices:
            accuracy = classifier.check_accuracy(x_parts[fold], y_parts[fold], k=k, quiet=True)
            accuracies[k].append(accuracy)
    return accuracies
    # END SOLUTION


def knn_get_best_k(k_to_accuracies: dict[int, list[float]]) -> int:
    """Choose the k with the highest mean accuracy.

    Args:
        k_to_accuracies: For each k a list of accuracies in percent, as from
            ``knn_cross_validate``. Its keys may come in any order.

    Returns:
        The best k. Of those with the same mean, the smallest.
    """
    # BEGIN SOLUTION
    means = {k: sum(values) / len(values) for k, values in k_to_accuracies.items()}
    best = max(means.values())
    return min(k for k, mean in means.items() if mean == best)
    # END SOLUTION


# BEGIN HIDDEN
_LABELS = (0, 1, 2, 4, 11, 37)


def _distinct_columns(dice, num_train, num_test):
    """Distances of which no two in a column are alike."""
    columns = [dice.permutation(num_train) + 1 for _ in range(num_test)]
    return torch.from_numpy(np.stack(columns, axis=1) * 0.5)


def votes(seed, num_train, num_test, k):
    """Distances and labels for a vote that often ties, with labels above 9."""
    dice = np.random.default_rng(seed)
    labels = torch.from_numpy(dice.choice(_LABELS, num_train))
    return _distinct_columns(dice, num_train, num_test), labels, k


def clear_votes(seed, num_train, num_test, k):
    """Distances and two labels above 9, for a vote of an odd number, which never ties."""
    dice = np.random.default_rng(seed)
    labels = torch.from_numpy(dice.choice(_LABELS[-2:], num_train))
    return _distinct_columns(dice, num_train, num_test), labels, k


def tied_votes(seed, num_train, num_test):
    """Two votes that always tie: each of k = 2 neighbours is for a label of its own."""
    dice = np.random.default_rng(seed)
    dists = _distinct_columns(dice, num_train, num_test)
    return dists, torch.from_numpy(dice.permutation(num_train) + 3), 2


def _images(dice, num):
    return torch.from_numpy(dice.standard_normal((num, 3, 3, 4)))


def _clear(dists, labels, k):
    """Whether no vote of k neighbours ties, so that the rule for ties plays no part."""
    nearest = labels[torch.topk(dists, k, dim=0, largest=False).indices]
    counts = (nearest[..., None] == torch.tensor(_LABELS)).sum(dim=0)
    first, second = counts.topk(2, dim=1).values.T
    return bool((first > second).all())


def classification(seed, k):
    """Images, labels, new images, k, and all distances; k neighbours vote otherwise than one."""
    dice = np.random.default_rng(seed)
    x = _images(dice, 30)
    dists = compute_distances_two_loops(x, x)
    while True:
        labels = torch.from_numpy(dice.choice(_LABELS[-3:], 24))
        seen = dists[:24, 24:]
        one, many = predict_labels(seen, labels, 1), predict_labels(seen, labels, k)
        if _clear(seen, labels, k) and (k == 1 or bool((one != many).any())):
            return x[:24], labels, x[24:], k, dists


def folds(seed, num_folds, per_fold):
    """Images, labels, all distances, the number of folds and three k, out of order."""
    dice = np.random.default_rng(seed)
    x = _images(dice, num_folds * per_fold)
    labels = torch.from_numpy(dice.choice(_LABELS[-3:], len(x)))
    return x, labels, compute_distances_two_loops(x, x), num_folds, [7, 1, 4]


def default_folds(seed):
    """Images enough for k = 100 and five folds; labels, and all distances."""
    dice = np.random.default_rng(seed)
    x = _images(dice, 130)
    labels = torch.from_numpy(dice.choice(_LABELS[-3:], len(x)))
    return x, labels, (x.flatten(1)[:, None] - x.flatten(1)).square().sum(dim=2)


def accuracies_example(seed):  # noqa: ARG001  # an example, whatever the seed
    """Three k, the best in the middle."""
    return ({1: [25.0, 30.0, 20.0], 3: [35.0, 30.0, 40.0], 5: [30.0, 30.0, 30.0]},)


def accuracies_tied(seed):  # noqa: ARG001
    """Two best k, the greater of them first."""
    return ({8: [50.0, 50.0], 2: [50.0, 50.0]},)


def accuracies_tied_in_order(seed):
    """Two best k, the smaller of them first."""
    dice = np.random.default_rng(seed)
    least, other, greatest = sorted(dice.choice(np.arange(2, 30), 3, replace=False).tolist())
    low, high = (dice.integers(60, 180, 2) / 2).tolist()
    return ({least: [low, high], other: [10.0, 15.0], greatest: [high, low]},)


def accuracies_tied_means(seed):  # noqa: ARG001
    """Two best k whose lists differ; the first by any order of single numbers is the other."""
    return ({9: [70.0, 10.0, 40.0], 4: [40.0, 40.0, 40.0], 1: [39.5, 40.0, 40.0]},)


def accuracies_zero(seed):  # noqa: ARG001
    """Nothing was ever right; the least k comes last."""
    return ({7: [0.0, 0.0], 3: [0.0, 0.0]},)


def accuracies_zero_folds(seed):  # noqa: ARG001
    """The best k has a fold of 0; without the folds of 0 another would be best."""
    return ({5: [0.0, 95.0, 0.0], 8: [90.0, 0.0, 90.0], 2: [50.0, 50.0, 50.0]},)


def accuracies_one_good_fold(seed):  # noqa: ARG001
    """The k with the best single fold is not the one with the best mean."""
    return ({1: [90.0, 10.0, 15.0, 20.0], 6: [40.0, 45.0, 35.0, 40.0]},)


def accuracies(seed, K, folds):
    """K lists of halves of percents, out of order; no other way to choose finds the best k."""
    dice = np.random.default_rng(seed)
    while True:
        table, keys = dice.integers(20, 140, (K, folds)) / 2, dice.permutation(K) + 1
        means = table.mean(1)
        ways = (table.max(1), table.min(1), table[:, 0], table[:, -1], -means, keys, -keys)
        alone = np.count_nonzero(means == means.max()) == 1
        if alone and means.argmax() not in {0, *(way.argmax() for way in ways)}:
            return ({int(k): row.tolist() for k, row in zip(keys, table, strict=True)},)


# END HIDDEN
