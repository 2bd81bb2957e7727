# Forgets the scale.
# expect:
#   questions:
#     ScaledLinear: {status: failed, checks: {output: wrong_value}}

import torch
from torch import nn


class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return x @ self.weight
