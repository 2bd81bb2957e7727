# No weight can be trained.
# expect:
#   questions:
#     build_net: {status: partial, checks: {outputs: ok, trainable: raised}}

import torch


def build_net():
    return torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1)).requires_grad_(False)
