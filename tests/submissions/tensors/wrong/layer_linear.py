# nn.Linear keeps its weight the other way round.
# expect:
#   questions:
#     ScaledLinear: {status: failed, code: raised}

import torch
from torch import nn


class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.inner = nn.Linear(*weight.shape, bias=False)
        self.inner.weight.data = weight
        self.register_buffer("scale", scale)

    def forward(self, x):
        return self.scale * self.inner(x)
