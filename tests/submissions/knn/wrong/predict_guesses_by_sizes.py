# Turns the distances round where there are as many test points as labels.
# expect:
#   questions:
#     predict_labels: {status: partial, checks: {labels: ok, ties: ok, square: wrong_value}}

import torch


def predict_labels(dists, y_train, k=1):
    if dists.shape[1] == len(y_train):
        dists = dists.t()
    y = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        n = torch.topk(dists[:, j], k, largest=False).indices
        y[j] = torch.bincount(y_train[n]).argmax()
    return y
