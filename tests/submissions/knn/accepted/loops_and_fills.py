# Preallocates and fills; a classifier of other attribute names; tensors for the means; prints.
# expect:
#   questions:
#     "*": {status: passed}

import statistics

import torch


def compute_distances_two_loops(x_train, x_test):
    """두 개의 반복문."""
    num_train, num_test = x_train.shape[0], x_test.shape[0]
    dists = torch.zeros(num_train, num_test, dtype=x_train.dtype)
    for i in range(num_train):
        for j in range(num_test):
            diff = x_train[i].reshape(-1) - x_test[j].reshape(-1)
            dists[i][j] = torch.dot(diff, diff)
    return dists


def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    train, test = x_train.reshape(len(x_train), -1), x_test.reshape(len(x_test), -1)
    i = 0
    while i < len(train):
        dists[i] = torch.sum(torch.pow(test - train[i], 2), dim=1)
        i += 1
    print(dists.shape)
    return dists


def compute_distances_no_loops(x_train, x_test):
    num_train, num_test = x_train.size(0), x_test.size(0)
    train, test = x_train.view(num_train, -1), x_test.view(num_test, -1)
    squares = train.pow(2).sum(dim=1).view(num_train, 1) + test.pow(2).sum(dim=1).view(1, num_test)
    dists = squares.sub(torch.mm(train, test.t()), alpha=2)
    print(dists)
    return dists


def predict_labels(dists, y_train, k=1):
    num_test = dists.shape[1]
    y_pred = torch.zeros(num_test, dtype=torch.int64)
    for j in range(num_test):
        _, idx = torch.sort(dists[:, j])
        votes = {}
        for label in y_train[idx[:k]].tolist():
            votes[label] = votes.get(label, 0) + 1
        best = max(votes.values())
        y_pred[j] = min(label for label, count in votes.items() if count == best)
    return y_pred


class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.features = x_train.clone()
        self.labels = y_train.clone()

    def predict(self, x_test, k=1):
        dists = compute_distances_one_loop(self.features, x_test)
        y_test_pred = predict_labels(dists, self.labels, k=k)
        return y_test_pred

    def check_accuracy(self, x_test, y_test, k=1, quiet=False):
        y_test_pred = self.predict(x_test, k=k)
        num_samples = x_test.shape[0]
        num_correct = (y_test == y_test_pred).sum().item()
        accuracy = 100.0 * num_correct / num_samples
        print(f"Got {num_correct} / {num_samples} correct; accuracy is {accuracy:.2f}%")
        return accuracy


def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    size = x_train.shape[0] // num_folds
    k_to_accuracies = {}
    for k in k_choices:
        accuracies = []
        for fold in range(num_folds):
            start, stop = fold * size, (fold + 1) * size
            mask = torch.ones(len(x_train), dtype=torch.bool)
            mask[start:stop] = False
            classifier = KnnClassifier(x_train[mask], y_train[mask])
            accuracies.append(classifier.check_accuracy(x_train[~mask], y_train[~mask], k=k))
        k_to_accuracies[k] = accuracies
    return k_to_accuracies


def knn_get_best_k(k_to_accuracies):
    best_k, best = 0, -1.0
    for k in sorted(k_to_accuracies.keys()):
        mean = statistics.mean(k_to_accuracies[k])
        if mean > best:
            best_k, best = k, mean
    return best_k
