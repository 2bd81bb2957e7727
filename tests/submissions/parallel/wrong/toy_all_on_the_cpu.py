# Nothing is on a GPU; the result is sent there at the end.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: requirement_not_met, ran_on: ran_elsewhere, moves: requirement_not_met, nothing_else_moves: requirement_not_met}}

import torch
from torch import nn


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10)
        self.net2 = nn.Linear(10, 5)

    def forward(self, x):
        x = torch.relu(self.net1(x.cpu()))
        return self.net2(x).to("cuda:1")
