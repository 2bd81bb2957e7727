# The scale is a buffer that is not saved.
# expect:
#   questions:
#     ScaledLinear: {status: partial, checks: {output: ok, trained: ok, state: wrong_type, step: ok}}

import torch
from torch import nn


class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale, persistent=False)

    def forward(self, x):
        return self.scale * (x @ self.weight)
