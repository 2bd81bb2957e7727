# Crosses out the nearest by an infinite distance, in the caller's tensor.
# expect:
#   questions:
#     predict_labels: {status: partial, checks: {labels: ok, ties: ok, unmodified: input_modified}}

import torch


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
