# Gradients are recorded, and cut off at the end.
# expect:
#   questions:
#     predict: {status: partial, checks: {probabilities: ok, no_gradient: wrong_value}}

import torch


def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.enable_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    return torch.cat(parts).detach()
