# Every call returns the same net.
# expect:
#   questions:
#     build_net: {status: partial, checks: {shapes: ok, random: wrong_value}}

import torch


NET = torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))


def build_net():
    return NET
