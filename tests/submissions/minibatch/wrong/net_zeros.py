# All weights begin at zero, and never learn to differ.
# expect:
#   questions:
#     build_net: {status: partial, checks: {outputs: ok, random: wrong_value}}

import torch


def build_net():
    net = torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))
    for weight in net.parameters():
        torch.nn.init.zeros_(weight)
    return net
