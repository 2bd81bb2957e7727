# The activation leaves torch on its way: it goes to the other GPU as a NumPy array.
# expect:
#   questions:
#     ToyModel: {status: partial, checks: {outputs: ok, gradients: wrong_type, updated: wrong_value, again: not_repeated, on_gpus: requirement_not_met, placed: requirement_not_met, ran_on: requirement_not_met, moves: requirement_not_met, no_detour: requirement_not_met, nothing_else_moves: requirement_not_met}}

import torch
from torch import nn


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        hidden = torch.relu(self.net1(x.to("cuda:0"))).detach().cpu().numpy()
        return self.net2(torch.from_numpy(hidden).to("cuda:1"))
