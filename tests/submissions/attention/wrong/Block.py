# Wrong ways to write Block. docs/authoring.md explains the cells.

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.value, self.output = nn.Linear(dim, dim), nn.Linear(dim, dim)


class _Layers(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = MultiHeadAttention(dim, num_heads)
        self.wide, self.narrow = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)


# %% block_norms_afterwards
# The norms come after the sums.
# expect:
#   questions:
#     Block: {status: partial, checks: {layers: ok, values: wrong_value}}

class Block(_Layers):
    def forward(self, x, mask=None):
        y = self.norm1(x + self.attention(x, mask))
        return self.norm2(y + self.narrow(torch.relu(self.wide(y))))


# %% block_adds_once
# The second part replaces what is there.
# expect:
#   questions:
#     Block: {status: partial, checks: {layers: ok, values: wrong_value}}

class Block(_Layers):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return self.narrow(torch.relu(self.wide(self.norm2(y))))


# %% block_one_norm_for_both
# The same norm twice.
# expect:
#   questions:
#     Block: {status: partial, checks: {layers: ok, values: wrong_value}}

class Block(_Layers):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return y + self.narrow(torch.relu(self.wide(self.norm1(y))))


# %% block_forgets_the_mask
# The mask is not passed on.
# expect:
#   questions:
#     Block: {status: partial, checks: {layers: ok, values: ok, masked: wrong_value}}

class Block(_Layers):
    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x))
        return y + self.narrow(torch.relu(self.wide(self.norm2(y))))


# %% block_is_narrower
# Twice as wide, not four times.
# expect:
#   questions:
#     Block: {status: partial, checks: {shapes: wrong_value, layers: requirement_not_met}}

class Block(_Layers):
    def __init__(self, dim, num_heads):
        super().__init__(dim, num_heads)
        self.wide, self.narrow = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return y + self.narrow(torch.relu(self.wide(self.norm2(y))))


# %% block_norms_of_their_own
# The norms subtract the mean and divide by nothing.
# expect:
#   questions:
#     Block: {status: partial, checks: {shapes: ok, layers: wrong_value, values: wrong_value}}

class Centre(nn.LayerNorm):
    def forward(self, x):
        return (x - x.mean(dim=-1, keepdim=True)) * self.weight + self.bias


class Block(_Layers):
    def __init__(self, dim, num_heads):
        super().__init__(dim, num_heads)
        self.norm1, self.norm2 = Centre(dim), Centre(dim)

    def forward(self, x, mask=None):
        y = x + self.attention(self.norm1(x), mask)
        return y + self.narrow(torch.relu(self.wide(self.norm2(y))))
