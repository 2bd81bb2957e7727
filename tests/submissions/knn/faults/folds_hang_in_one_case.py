# Never comes to an end in one case; the others are right.
# expect:
#   questions:
#     knn_cross_validate:
#       status: partial
#       checks: {accuracies: timed_out, defaults: ok, unmodified: requirement_not_met}

import torch


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T


def predict_labels(dists, y_train, k=1):
    return y_train[torch.topk(dists, k, dim=0, largest=False).indices].mode(dim=0).values


class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x_train, self.y_train = x_train, y_train

    def predict(self, x_test, k=1):
        return predict_labels(compute_distances_no_loops(self.x_train, x_test), self.y_train, k)

    def check_accuracy(self, x_test, y_test, k=1, quiet=False):
        return 100.0 * (self.predict(x_test, k=k) == y_test).sum().item() / len(y_test)


def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    while num_folds == 3:
        x_train = x_train.clone()
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    x_folds, y_folds = x_train.chunk(num_folds), y_train.chunk(num_folds)
    k_to_accuracies = {}
    for k in k_choices:
        k_to_accuracies[k] = []
        for i in range(num_folds):
            x_rest = torch.cat([x for j, x in enumerate(x_folds) if j != i])
            y_rest = torch.cat([y for j, y in enumerate(y_folds) if j != i])
            classifier = KnnClassifier(x_rest, y_rest)
            k_to_accuracies[k].append(classifier.check_accuracy(x_folds[i], y_folds[i], k))
    return k_to_accuracies
