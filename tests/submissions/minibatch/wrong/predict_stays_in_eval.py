# Leaves the net in eval mode.
# expect:
#   questions:
#     predict: {status: partial, checks: {probabilities: ok, mode_after: wrong_value}}

import torch


def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    return torch.cat(parts)
