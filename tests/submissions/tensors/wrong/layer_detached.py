# Computes outside autograd: nothing is trained.
# expect:
#   questions:
#     ScaledLinear: {status: partial, checks: {output: ok, trained: wrong_value, state: ok, step: wrong_value}}

import torch
from torch import nn


class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return self.scale * (x @ self.weight.data)
