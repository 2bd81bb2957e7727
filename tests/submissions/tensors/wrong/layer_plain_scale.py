# The scale is a plain attribute, and no part of the state.
# expect:
#   questions:
#     ScaledLinear: {status: partial, checks: {output: ok, trained: ok, state: wrong_type, step: ok}}

import torch
from torch import nn


class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.scale = scale

    def forward(self, x):
        return self.scale * (x @ self.weight)
