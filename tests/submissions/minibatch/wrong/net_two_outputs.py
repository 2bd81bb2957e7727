# Two outputs.
# expect:
#   questions:
#     build_net: {status: failed, checks: {shapes: wrong_value, outputs: requirement_not_met}}

import torch


def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 2))
