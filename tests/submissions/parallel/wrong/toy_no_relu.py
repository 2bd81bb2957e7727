# The ReLU is missing.
# expect:
#   questions:
#     ToyModel: {status: failed, checks: {outputs: wrong_value, gradients: wrong_value, updated: wrong_value, placed: requirement_not_met, ran_on: requirement_not_met, moves: requirement_not_met, nothing_else_moves: requirement_not_met}}

import torch
from torch import nn


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = self.net1(x.to("cuda:0"))
        return self.net2(x.to("cuda:1"))
