# Rarer ways that are right all the same: einsum, one product of longer vectors, one-hot votes.
# expect:
#   questions:
#     "*": {status: passed}

import numpy as np
import torch
from torch import Tensor


def _rows(x: Tensor) -> Tensor:
    return x.flatten(start_dim=1)


def _squared(a: Tensor, b: Tensor) -> Tensor:
    return (a - b).square().sum(dim=-1)


def compute_distances_two_loops(x_train, x_test):
    a, b = _rows(x_train), _rows(x_test)
    dists = torch.empty((len(a), len(b)), dtype=a.dtype)
    for i, left in enumerate(a):
        for j, right in enumerate(b):
            dists[i, j] = _squared(left, right)
    return dists


def compute_distances_one_loop(x_train, x_test):
    a, b = _rows(x_train), _rows(x_test)
    rows = []
    for left in a:
        rows.append(_squared(left, b))
    return torch.stack(rows)


def compute_distances_no_loops(x_train, x_test):
    a, b = _rows(x_train), _rows(x_test)
    ones_a, ones_b = a.new_ones(len(a), 1), b.new_ones(len(b), 1)
    left = torch.cat([-2 * a, torch.einsum("nd,nd->n", a, a)[:, None], ones_a], dim=1)
    right = torch.cat([b, ones_b, torch.einsum("nd,nd->n", b, b)[:, None]], dim=1)
    return left @ right.T


def predict_labels(dists, y_train, k=1):
    votes = y_train[torch.topk(dists.T, k, largest=False).indices]
    classes, places = torch.unique(y_train, return_inverse=True)
    counts = torch.zeros(votes.shape[0], len(classes))
    where = torch.searchsorted(classes, votes)
    counts.scatter_add_(1, where, torch.ones_like(where, dtype=counts.dtype))
    return classes[counts.argmax(dim=1)]


class KnnClassifier:
    def __init__(self, x_train: Tensor, y_train: Tensor) -> None:
        self.data = (x_train, y_train)

    def predict(self, x_test: Tensor, k: int = 1) -> Tensor:
        x_train, y_train = self.data
        return predict_labels(compute_distances_two_loops(x_train, x_test), y_train, k)

    def check_accuracy(self, x_test, y_test, k=1, quiet=False):
        right = torch.eq(self.predict(x_test, k=k), y_test)
        return right.sum().item() / len(right) * 100


def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    k_choices = k_choices or [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds = list(x_train.split(len(x_train) // num_folds))
    y_folds = list(y_train.split(len(y_train) // num_folds))

    def accuracy(k, fold):
        x_rest, y_rest = x_folds[:], y_folds[:]
        x_val, y_val = x_rest.pop(fold), y_rest.pop(fold)
        return KnnClassifier(torch.cat(x_rest), torch.cat(y_rest)).check_accuracy(x_val, y_val, k)

    return {k: [accuracy(k, fold) for fold in range(num_folds)] for k in k_choices}


def knn_get_best_k(k_to_accuracies):
    ks = sorted(k_to_accuracies)
    means = [np.mean(k_to_accuracies[k]) for k in ks]
    return ks[int(np.argmax(means))]
