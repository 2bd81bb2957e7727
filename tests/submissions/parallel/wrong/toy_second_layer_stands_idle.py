# net2 lies on cuda:1 and is copied to cuda:0, where everything is computed.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: ok, ran_on: ran_elsewhere, moves: wrong_transfers, nothing_else_moves: wrong_transfers}}

import torch
from torch import nn


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        weight, bias = self.net2.weight.to("cuda:0"), self.net2.bias.to("cuda:0")
        return nn.functional.linear(x, weight, bias).to("cuda:1")
