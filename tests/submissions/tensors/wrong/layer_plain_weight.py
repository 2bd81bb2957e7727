# The weight requires gradients, but is no parameter: no optimiser hears of it.
# expect:
#   questions:
#     ScaledLinear: {status: partial, checks: {output: ok, trained: wrong_value, state: wrong_type, step: wrong_value}}

import torch
from torch import nn


class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = weight.requires_grad_()
        self.register_buffer("scale", scale)

    def forward(self, x):
        return self.scale * (x @ self.weight)
