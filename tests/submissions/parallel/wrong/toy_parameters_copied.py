# net2 is on cuda:0 and its parameters are copied in every step.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: wrong_device, ran_on: ok, moves: wrong_transfers, nothing_else_moves: wrong_transfers}}

import torch
from torch import nn


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:0")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        weight, bias = self.net2.weight.to("cuda:1"), self.net2.bias.to("cuda:1")
        return nn.functional.linear(x.to("cuda:1"), weight, bias)
