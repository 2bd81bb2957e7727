# The lecture's mistake: what is left after the loop is the last batch, 108 of 12396 rows.
# expect:
#   questions:
#     predict: {status: failed, checks: {probabilities: wrong_shape, all_rows: wrong_shape}}

import torch


def predict(net, X, batch_size):
    was_training = net.training
    net.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(X), batch_size):
            yyhat = torch.sigmoid(net(X[start : start + batch_size]))
    net.train(was_training)
    return yyhat
