# Right ways to write MultiHeadAttention. docs/authoring.md explains the cells.

import math

import torch
from torch import nn


def attend(query, key, value, mask=None):
    products = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    if mask is not None:
        products = products.masked_fill(~mask, -math.inf)
    return products.softmax(dim=2) @ value


# %% heads_in_a_loop
# One head after the other, each by attend.
# expect:
#   questions:
#     "*": {status: passed}

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.size = dim // num_heads
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.value, self.output = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        layers = (self.query, self.key, self.value)
        parts = zip(*(layer(x).split(self.size, dim=2) for layer in layers))
        return self.output(torch.cat([attend(*part, mask) for part in parts], dim=2))
