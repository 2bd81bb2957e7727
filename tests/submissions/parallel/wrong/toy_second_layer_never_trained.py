# The second layer computes under no_grad: half of the model learns nothing.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: wrong_type, updated: wrong_value, placed: wrong_device, ran_on: ok, moves: ok, nothing_else_moves: ok}}

import torch
from torch import nn


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.net1(x.to("cuda:0"))).to("cuda:1")
        return nn.functional.linear(x, self.net2.weight.detach(), self.net2.bias)
