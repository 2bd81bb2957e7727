# The batch leaves torch before it is spread, and comes back as a tensor of numbers from a list.
# expect:
#   questions:
#     to_data_parallel: {status: partial, checks: {outputs: ok, gradients: ok, again: not_repeated, placed: requirement_not_met, ran_on: requirement_not_met}}

import torch
from torch import nn


class FromLists(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.parallel = nn.DataParallel(model.to("cuda:0"))

    def forward(self, x):
        return self.parallel(torch.tensor(x.tolist()))


def to_data_parallel(model):
    return FromLists(model)
