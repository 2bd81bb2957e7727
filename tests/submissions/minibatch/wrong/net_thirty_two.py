# 32 hidden numbers.
# expect:
#   questions:
#     build_net: {status: failed, checks: {shapes: wrong_value}}

import torch


def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
