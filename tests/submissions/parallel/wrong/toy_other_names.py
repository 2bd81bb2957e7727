# The layers have other names than was asked for.
# expect:
#   questions:
#     ToyModel: {status: failed, code: raised}

import torch
from torch import nn


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(10, 10).to("cuda:0")
        self.second = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = torch.relu(self.first(x.to("cuda:0")))
        return self.second(x.to("cuda:1"))
