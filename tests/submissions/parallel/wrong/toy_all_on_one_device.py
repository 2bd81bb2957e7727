# Everything is on cuda:0.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: wrong_device, ran_on: ran_elsewhere, moves: wrong_transfers, nothing_else_moves: ok}}

import torch
from torch import nn


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:0")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0")))
        return self.net2(x.to("cuda:0"))
