# The farthest points vote.
# expect:
#   questions:
#     predict_labels: {status: failed}

import torch


def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        y_pred[j] = y_train[torch.topk(dists[:, j], k).indices].mode().values
    return y_pred
