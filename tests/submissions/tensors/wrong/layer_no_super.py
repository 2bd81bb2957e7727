# Forgets super().__init__().
# expect:
#   questions:
#     ScaledLinear: {status: failed, code: raised}

import torch
from torch import nn


class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return self.scale * (x @ self.weight)
