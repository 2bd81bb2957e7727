# No biases.
# expect:
#   questions:
#     build_net: {status: failed, checks: {shapes: wrong_type}}

import torch


def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30, bias=False), torch.nn.ReLU(), torch.nn.Linear(30, 1))
