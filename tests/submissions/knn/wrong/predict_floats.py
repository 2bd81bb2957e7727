# The right labels in float32.
# expect:
#   questions:
#     predict_labels: {status: partial, checks: {labels: ok, ties: ok, dtype: wrong_dtype}}

import torch


def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1])
    for j in range(dists.shape[1]):
        nearest = torch.topk(dists[:, j], k, largest=False).indices
        y_pred[j] = torch.bincount(y_train[nearest]).argmax()
    return y_pred
