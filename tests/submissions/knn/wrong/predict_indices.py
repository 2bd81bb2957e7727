# Which neighbour won, not its label.
# expect:
#   questions:
#     predict_labels: {status: failed, checks: {labels: wrong_value}}

import torch


def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        y_pred[j] = dists[:, j].argsort()[:k].min()
    return y_pred
