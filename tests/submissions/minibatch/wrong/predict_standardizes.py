# Centres X itself, and puts it back; but not quite.
# expect:
#   questions:
#     predict: {status: partial, checks: {unmodified: input_modified}}

import torch


def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    X += 1e-3
    return torch.cat(parts)
