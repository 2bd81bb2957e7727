# Counts votes for ten classes, as CIFAR-10 has.
# expect:
#   questions:
#     predict_labels: {status: failed, code: raised}

import torch


def predict_labels(dists, y_train, k=1):
    y_pred = torch.zeros(dists.shape[1], dtype=torch.int64)
    for j in range(dists.shape[1]):
        counts = torch.zeros(10)
        for i in dists[:, j].argsort()[:k]:
            counts[y_train[i]] += 1
        y_pred[j] = counts.argmax()
    return y_pred
