# The activation is sent, sent back, and sent again.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: ok, ran_on: ok, moves: wrong_transfers, nothing_else_moves: ok}}

import torch
from torch import nn


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        return self.net2(x.to("cuda:1").to("cuda:0").to("cuda:1"))
