# Wrong ways to write KnnClassifier. docs/authoring.md explains the cells.
# right: compute_distances_no_loops, predict_labels

import torch


# %% classifier_default_is_five
# k is 5 if it is not given.
# expect:
#   questions:
#     KnnClassifier: {status: partial, checks: {nearest: wrong_value, votes: ok}}

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x_train, self.y_train = x_train, y_train

    def predict(self, x_test, k=5):
        return predict_labels(compute_distances_no_loops(self.x_train, x_test), self.y_train, k)


# %% classifier_forgets_its_data
# The constructor stores nothing.
# expect:
#   questions:
#     KnnClassifier: {status: failed, code: raised}

class KnnClassifier:
    def __init__(self, x_train, y_train):
        pass

    def predict(self, x_test, k=1):
        dists = compute_distances_no_loops(self.x_train, x_test)
        return predict_labels(dists, self.y_train, k)


# %% classifier_ignores_k
# predict takes k and forgets it.
# expect:
#   questions:
#     KnnClassifier: {status: partial, points: 2.5, checks: {nearest: ok, votes: wrong_value, unmodified: ok}}

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x_train, self.y_train = x_train, y_train

    def predict(self, x_test, k=1):
        return predict_labels(compute_distances_no_loops(self.x_train, x_test), self.y_train)


# %% classifier_normalizes_the_data
# Sorts the caller's labels away: the constructor shifts them in place to begin at 0, predict shifts back.
# expect:
#   questions:
#     KnnClassifier: {status: partial, checks: {nearest: ok, votes: ok, unmodified: input_modified}}

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.least = int(y_train.min())
        self.x_train, self.y_train = x_train, y_train.sub_(self.least)

    def predict(self, x_test, k=1):
        dists = compute_distances_no_loops(self.x_train, x_test)
        return predict_labels(dists, self.y_train, k) + self.least


# %% classifier_stub
# predict left as the starter has it.
# right: none
# expect:
#   questions:
#     KnnClassifier: {status: failed, code: not_implemented}

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x_train, self.y_train = x_train, y_train

    def predict(self, x_test, k=1):
        raise NotImplementedError("KnnClassifier.predict is not written yet")


# %% classifier_swaps_points
# Distances from test to training points: rows and columns mixed up.
# expect:
#   questions:
#     KnnClassifier: {status: partial}

def predict_labels(dists, y_train, k=1):
    k = min(k, len(dists))
    return y_train[torch.topk(dists, k, dim=0, largest=False).indices].mode(dim=0).values


class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x_train, self.y_train = x_train, y_train

    def predict(self, x_test, k=1):
        dists = compute_distances_no_loops(x_test, self.x_train)
        return predict_labels(dists, self.y_train, k)


# %% classifier_wrong_costs_itself_alone
# predict takes k and forgets it. Cross-validation gets right predictions.
# right: compute_distances_no_loops, predict_labels, knn_cross_validate
# expect:
#   mistakes: [classifier_ignores_k]
#   questions:
#     KnnClassifier: {status: partial, points: 2.5, checks: {nearest: ok, votes: wrong_value, unmodified: ok}}
#     knn_cross_validate: {status: passed}

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x_train, self.y_train = x_train, y_train

    def predict(self, x_test, k=1):
        return predict_labels(compute_distances_no_loops(self.x_train, x_test), self.y_train)

    def check_accuracy(self, x_test, y_test, k=1, quiet=False):
        return 100.0 * int((self.predict(x_test, k=k) == y_test).sum()) / len(y_test)
