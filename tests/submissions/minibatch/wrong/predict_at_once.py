# All rows at once, whatever the batch size.
# expect:
#   questions:
#     predict: {status: partial, checks: {probabilities: ok, in_batches: wrong_value}}

import torch


def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    with torch.no_grad():
        result = torch.sigmoid(net(X))
    net.train(was_training)
    return result
