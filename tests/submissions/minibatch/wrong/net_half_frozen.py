# The first layer cannot be trained.
# expect:
#   questions:
#     build_net: {status: partial, checks: {outputs: ok, trainable: wrong_value}}

import torch


def build_net():
    net = torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))
    net[0].requires_grad_(False)
    return net
