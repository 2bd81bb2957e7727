# Right ways to write several functions. docs/authoring.md explains the cells.

import torch


# %% distances_of_all_points
# All products of all points with all others, and then the part that is asked for; votes by mode.
# expect:
#   questions:
#     "*": {status: passed}

def compute_distances_no_loops(x_train, x_test):
    points = torch.cat([x_train, x_test]).flatten(1)
    products = points @ points.T
    squares = products.diagonal()
    return (squares[:, None] + squares - 2 * products)[: len(x_train), len(x_train) :]


# %% classifier_without_the_functions
# A classifier that computes its own distances, and cross-validation that does not use check_accuracy.
# expect:
#   questions:
#     "*": {status: passed}

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


# %% mean_times_number
# A mean, times the number of its terms.
# expect:
#   questions:
#     compute_distances_two_loops: {status: passed}
#     compute_distances_one_loop: {status: passed}
#     "*": {status: passed}

def compute_distances_two_loops(x_train, x_test):
    d = x_train.new_zeros(len(x_train), len(x_test))
    for i in range(len(x_train)):
        for j in range(len(x_test)):
            e = x_train[i] - x_test[j]
            d[i, j] = (e**2).mean() * e.numel()
    return d


def compute_distances_one_loop(x_train, x_test):
    d = x_train.new_zeros(len(x_train), len(x_test))
    a, b = x_train.flatten(1), x_test.flatten(1)
    for i in range(len(a)):
        d[i] = ((b - a[i])**2).mean(1) * a.shape[1]
    return d


# %% plain
# One way for each function, as short as it gets.
# expect:
#   questions:
#     "*": {status: passed}

def compute_distances_two_loops(x_train, x_test):
    return torch.stack([torch.stack([((a - b) ** 2).sum() for b in x_test]) for a in x_train])


def compute_distances_one_loop(x_train, x_test):
    return torch.stack([((x_test - a) ** 2).flatten(1).sum(1) for a in x_train])


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a * a).sum(1, keepdim=True) + (b * b).sum(1) - 2 * a @ b.T


def predict_labels(dists, y_train, k=1):
    return y_train[dists.argsort(dim=0)[:k]].mode(dim=0).values


class KnnClassifier:
    def __init__(self, x_train, y_train):
        self.x, self.y = x_train, y_train

    def predict(self, x_test, k=1):
        return predict_labels(compute_distances_no_loops(self.x, x_test), self.y, k)

    def check_accuracy(self, x_test, y_test, k=1, quiet=False):
        return 100.0 * (self.predict(x_test, k) == y_test).double().mean().item()


def knn_cross_validate(x_train, y_train, num_folds=5, k_choices=None):
    if k_choices is None:
        k_choices = [1, 3, 5, 8, 10, 12, 15, 20, 50, 100]
    xs, ys = torch.chunk(x_train, num_folds), torch.chunk(y_train, num_folds)
    result = {k: [0.0] * num_folds for k in k_choices}
    for i in range(num_folds):
        rest = KnnClassifier(torch.cat(xs[:i] + xs[i + 1 :]), torch.cat(ys[:i] + ys[i + 1 :]))
        for k in k_choices:
            result[k][i] = rest.check_accuracy(xs[i], ys[i], k, quiet=True)
    return result


def knn_get_best_k(k_to_accuracies):
    return min(k_to_accuracies, key=lambda k: (-sum(k_to_accuracies[k]) / len(k_to_accuracies[k]), k))
