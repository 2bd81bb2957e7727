# Wrong ways to write predict_labels. docs/authoring.md explains the cells.

import torch


# %% predict_crosses_out
# Crosses out the nearest by an infinite distance, in the caller's tensor.
# expect:
#   questions:
#     predict_labels: {status: partial, checks: {labels: ok, ties: ok, unmodified: input_modified}}

def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        labels = []
        for _ in range(k):
            i = dists[:, j].argmin()
            labels.append(y_train[i].item())
            dists[i, j] = float("inf")
        y_pred[j] = min(labels, key=lambda label: (-labels.count(label), label))
    return y_pred


# %% predict_farthest
# The farthest points vote.
# expect:
#   questions:
#     predict_labels: {status: partial, points: 2.5}

def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        y_pred[j] = y_train[torch.topk(dists[:, j], k).indices].mode().values
    return y_pred


# %% predict_floats
# The right labels in float32.
# expect:
#   questions:
#     predict_labels: {status: partial, checks: {labels: ok, ties: ok, dtype: wrong_dtype}}

def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1])
    for j in range(dists.shape[1]):
        nearest = torch.topk(dists[:, j], k, largest=False).indices
        y_pred[j] = torch.bincount(y_train[nearest]).argmax()
    return y_pred


# %% predict_guesses_by_sizes
# Turns the distances round where there are as many test points as labels.
# expect:
#   questions:
#     predict_labels: {status: partial, checks: {labels: ok, ties: ok, square: wrong_value}}

def predict_labels(dists, y_train, k=1):
    if dists.shape[1] == len(y_train):
        dists = dists.t()
    y = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        n = torch.topk(dists[:, j], k, largest=False).indices
        y[j] = torch.bincount(y_train[n]).argmax()
    return y


# %% predict_indices
# Which neighbour won, not its label.
# expect:
#   questions:
#     predict_labels: {status: partial, checks: {labels: wrong_value}}

def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        y_pred[j] = dists[:, j].argsort()[:k].min()
    return y_pred


# %% predict_nearest_only
# Never looks at k.
# expect:
#   questions:
#     predict_labels: {status: partial, points: 2}

def predict_labels(dists, y_train, k=1):
    return y_train[dists.argmin(dim=0)]


# %% predict_rows
# Takes rows for test points.
# expect:
#   questions:
#     predict_labels: {status: partial}

def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[0], dtype=torch.int64)
    for j in range(dists.shape[0]):
        y_pred[j] = y_train[dists[j].argsort()[:k] % len(y_train)].mode().values
    return y_pred


# %% predict_ten_classes
# Counts votes for ten classes, as CIFAR-10 has.
# expect:
#   questions:
#     predict_labels: {status: partial, code: raised}

def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        counts = torch.zeros(10)
        for i in dists[:, j].argsort()[:k]:
            counts[y_train[i]] += 1
        y_pred[j] = counts.argmax()
    return y_pred


# %% predict_ties_by_distance
# Of tied labels, the one of the nearest neighbour.
# expect:
#   questions:
#     predict_labels: {status: partial, points: 4, checks: {labels: ok, square: ok, ties: wrong_value}}

def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        labels = y_train[dists[:, j].argsort()[:k]].tolist()
        y_pred[j] = max(labels, key=labels.count)
    return y_pred


# %% predict_ties_to_greatest
# Of tied labels, the greatest.
# expect:
#   questions:
#     predict_labels: {status: partial, points: 4, checks: {labels: ok, square: ok, ties: wrong_value}}

def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        labels = y_train[dists[:, j].argsort()[:k]].tolist()
        y_pred[j] = max(sorted(labels, reverse=True), key=labels.count)
    return y_pred


# %% predict_wrong_costs_itself_alone
# The farthest vote. Classifier and cross-validation get right votes.
# right: KnnClassifier, knn_cross_validate
# expect:
#   mistakes: [predict_farthest]
#   questions:
#     predict_labels: {status: partial, points: 2.5, checks: {labels: wrong_value}}
#     KnnClassifier: {status: passed}
#     knn_cross_validate: {status: passed}

def predict_labels(dists, y_train, k=1):
    return y_train[dists.argsort(dim=0, descending=True)[:k]].mode(dim=0).values


# %% predict_farthest_in_float
# The farthest points vote, which has a price; the labels are floats besides.
# expect:
#   mistakes: [predict_farthest]
#   questions:
#     predict_labels: {status: partial, points: 2.25, checks: {labels: wrong_value, dtype: wrong_dtype}}

def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1])
    for j in range(dists.shape[1]):
        nearest = torch.topk(dists[:, j], k).indices
        y_pred[j] = torch.bincount(y_train[nearest]).argmax()
    return y_pred
