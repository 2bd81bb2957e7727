# No ReLU: two linear layers are one.
# expect:
#   questions:
#     build_net: {status: partial, checks: {shapes: ok, outputs: wrong_value}}

import torch


def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.Linear(30, 1))
