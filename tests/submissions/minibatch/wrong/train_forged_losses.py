# Nothing is trained; the list of losses looks as if.
# expect:
#   questions:
#     train_minibatch: {status: failed, code: wrong_value}

import torch


def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    return [0.7 * 0.9**epoch for epoch in range(epochs)]
