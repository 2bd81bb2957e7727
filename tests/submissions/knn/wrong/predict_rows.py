# Takes rows for test points.
# expect:
#   questions:
#     predict_labels: {status: failed}

import torch


def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[0], dtype=torch.int64)
    for j in range(dists.shape[0]):
        y_pred[j] = y_train[dists[j].argsort()[:k] % len(y_train)].mode().values
    return y_pred
