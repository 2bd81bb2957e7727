# A classifier that computes its own distances, and cross-validation that does not use check_accuracy.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def predict_labels(dists, y_train, k=1):
    num_test = dists.shape[1]
    y_pred = y_train.new_zeros(num_test)
    for j in range(num_test):
        labels, counts = y_train[dists[:, j].topk(k, largest=False)[1]].unique(return_counts=True)
        y_pred[j] = labels[counts == counts.max()].min()
    return y_pred


class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x_train = x_train.flatten(1)
        self.y_train = y_train

    def predict(self, x_test, k=1):
        return predict_labels(torch.cdist(self.x_train, x_test.flatten(1)), self.y_train, k)


def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    out = {}
    rows = torch.arange(len(x_train)).view(num_folds, -1)
    for k in k_choices:
        out[k] = []
        for fold in rows:
            rest = torch.ones(len(x_train), dtype=torch.bool)
            rest[fold] = False
            pred = KnnClassifier(x_train[rest], y_train[rest]).predict(x_train[fold], k=k)
            out[k].append((pred == y_train[fold]).float().mean().item() * 100)
    return out
