# Eval mode forgotten.
# expect:
#   questions:
#     predict: {status: failed, checks: {probabilities: wrong_value, all_rows: wrong_value}}

import torch


def predict(net, X, batch_size):
    was_training = net.training
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    return torch.cat(parts)
