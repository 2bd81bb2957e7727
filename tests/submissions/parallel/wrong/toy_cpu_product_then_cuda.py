# Layers are where they belong, and never compute: both products are made on the CPU.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: ok, updated: ok, placed: requirement_not_met, ran_on: ran_elsewhere, moves: requirement_not_met, nothing_else_moves: requirement_not_met}}

import torch
from torch import nn


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(x.cpu() @ self.net1.weight.cpu().T + self.net1.bias.cpu())
        x = x @ self.net2.weight.cpu().T + self.net2.bias.cpu()
        return x.cuda(1)
