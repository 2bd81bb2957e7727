# Sorts the caller's labels away: the constructor shifts them in place to begin at 0, predict shifts back.
# expect:
#   questions:
#     KnnClassifier: {status: partial, checks: {nearest: ok, votes: ok, unmodified: input_modified}}

import torch


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T


def predict_labels(dists, y_train, k=1):
    return y_train[torch.topk(dists, k, dim=0, largest=False).indices].mode(dim=0).values


class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.least = int(y_train.min())
        self.x_train, self.y_train = x_train, y_train.sub_(self.least)

    def predict(self, x_test, k=1):
        dists = compute_distances_no_loops(self.x_train, x_test)
        return predict_labels(dists, self.y_train, k) + self.least
