# Of tied labels, the one of the nearest neighbour.
# expect:
#   questions:
#     predict_labels: {status: partial, checks: {labels: ok, ties: wrong_value}}

import torch


def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        labels = y_train[dists[:, j].argsort()[:k]].tolist()
        y_pred[j] = max(labels, key=labels.count)
    return y_pred
