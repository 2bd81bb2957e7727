# Right ways that call other functions otherwise than the starter does. docs/authoring.md explains
# the cells.
# right: compute_distances_two_loops, compute_distances_one_loop, compute_distances_no_loops, predict_labels

import torch


# %% classifier_by_name
# Calls by name; its methods build on what its constructor leaves.
# expect:
#   questions:
#     "*": {status: passed}

class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.data = {"x_train": x_train}
        self.labels = y_train

    def predict(self, x_test, k=1, chatty=False):
        dists = compute_distances_no_loops(x_test=x_test, **self.data)
        if chatty:
            print(dists.shape)
        return predict_labels(y_train=self.labels, dists=dists, k=k)

    def right_ones(self, x_test, y_test, k):
        assert len(self.labels) == len(self.data["x_train"])
        return (self.predict(x_test=x_test, k=k, chatty=False) == y_test).double()


def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    k_choices = k_choices or [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    size, found = len(x_train) // num_folds, {k: [] for k in k_choices}
    for start in range(0, len(x_train), size):
        out = torch.zeros(len(x_train), dtype=torch.bool)
        out[start : start + size] = True
        classifier = KnnClassifier(y_train=y_train[~out], x_train=x_train[~out])
        for k in k_choices:
            found[k].append(100 * classifier.right_ones(x_train[out], y_train[out], k).mean().item())
    return found


# %% folds_without_a_classifier
# Cross-validation by distances and votes alone.
# expect:
#   questions:
#     "*": {status: passed}

def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    k_choices = k_choices or [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    places, found = torch.arange(len(x_train)).chunk(num_folds), {}
    for part in places:
        rest = torch.tensor([place for place in range(len(x_train)) if place not in part.tolist()])
        dists = compute_distances_no_loops(x_train[rest], x_train[part])
        for k in k_choices:
            right = (predict_labels(dists, y_train[rest], k) == y_train[part]).sum()
            found.setdefault(k, []).append(100.0 * right.item() / len(part))
    return found
