# A list of batches.
# expect:
#   questions:
#     predict: {status: failed, code: wrong_type}

import torch


def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            parts.append(torch.sigmoid(net(X[start : start + batch_size])))
    net.train(was_training)
    return parts
