# Wrong ways to write MultiHeadAttention. docs/authoring.md explains the cells.

import math

import torch
from torch import nn


def attend(query, key, value, mask=None):
    products = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    if mask is not None:
        products = products.masked_fill(~mask, -math.inf)
    return products.softmax(dim=2) @ value


# %% heads_layers_of_other_names
# The layers have other names: their weights cannot be set.
# expect:
#   questions:
#     MultiHeadAttention: {status: partial, checks: {shapes: wrong_type, layers: requirement_not_met}}

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        batch, places, dim = x.shape

        def heads(layer):
            parts = layer(x).view(batch, places, self.num_heads, dim // self.num_heads)
            return parts.transpose(1, 2).flatten(0, 1)

        seen = attend(heads(self.q), heads(self.k), heads(self.v), mask)
        seen = seen.view(batch, self.num_heads, places, -1).transpose(1, 2)
        return self.out(seen.reshape(batch, places, dim))


# %% heads_interleaved
# Each head takes every H-th number.
# expect:
#   questions:
#     MultiHeadAttention: {status: partial, checks: {layers: ok, values: wrong_value}}

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.value, self.output = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        batch, places, dim = x.shape

        def heads(layer):
            parts = layer(x).view(batch, places, dim // self.num_heads, self.num_heads)
            return parts.permute(0, 3, 1, 2).flatten(0, 1)

        seen = attend(heads(self.query), heads(self.key), heads(self.value), mask)
        seen = seen.view(batch, self.num_heads, places, -1).permute(0, 2, 3, 1)
        return self.output(seen.reshape(batch, places, dim))


# %% heads_root_of_dim
# Divides by the root of all entries, not of a head's.
# expect:
#   questions:
#     MultiHeadAttention: {status: partial, checks: {layers: ok, values: wrong_value}}

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.value, self.output = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        batch, places, dim = x.shape

        def heads(layer):
            return layer(x).view(batch, places, self.num_heads, -1).transpose(1, 2)

        products = heads(self.query) @ heads(self.key).transpose(2, 3) / math.sqrt(dim)
        if mask is not None:
            products = products.masked_fill(~mask, -math.inf)
        seen = products.softmax(dim=3) @ heads(self.value)
        return self.output(seen.transpose(1, 2).reshape(batch, places, dim))


# %% heads_forget_the_mask
# The mask is not passed on.
# expect:
#   questions:
#     MultiHeadAttention: {status: partial, checks: {layers: ok, values: ok, masked: wrong_value}}

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.value, self.output = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        batch, places, dim = x.shape

        def heads(layer):
            parts = layer(x).view(batch, places, self.num_heads, dim // self.num_heads)
            return parts.transpose(1, 2).flatten(0, 1)

        seen = attend(heads(self.query), heads(self.key), heads(self.value))
        seen = seen.view(batch, self.num_heads, places, -1).transpose(1, 2)
        return self.output(seen.reshape(batch, places, dim))


# %% heads_cut_the_gradient
# Weights of the softmax are detached.
# expect:
#   questions:
#     MultiHeadAttention: {status: partial, checks: {values: ok, masked: ok, gradients: wrong_value}}

class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.value, self.output = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        batch, places, dim = x.shape

        def heads(layer):
            return layer(x).view(batch, places, self.num_heads, -1).transpose(1, 2)

        query, key = heads(self.query), heads(self.key)
        products = query @ key.transpose(2, 3) / math.sqrt(query.shape[3])
        if mask is not None:
            products = products.masked_fill(~mask, -math.inf)
        seen = products.softmax(dim=3).detach() @ heads(self.value)
        query_and_key = 0 * (query.sum() + key.sum())
        return self.output(seen.transpose(1, 2).reshape(batch, places, dim)) + query_and_key


# %% heads_layers_forget_the_bias
# The layers are the file's own: they have a bias, and do not add it.
# expect:
#   questions:
#     MultiHeadAttention: {status: failed, checks: {shapes: ok, layers: wrong_value, values: wrong_value}}

class Layer(nn.Linear):
    def forward(self, x):
        return x @ self.weight.T


class MultiHeadAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query, self.key = Layer(dim, dim), Layer(dim, dim)
        self.value, self.output = Layer(dim, dim), Layer(dim, dim)

    def forward(self, x, mask=None):
        batch, places, dim = x.shape

        def heads(layer):
            parts = layer(x).view(batch, places, self.num_heads, dim // self.num_heads)
            return parts.transpose(1, 2).flatten(0, 1)

        seen = attend(heads(self.query), heads(self.key), heads(self.value), mask)
        seen = seen.view(batch, self.num_heads, places, -1).transpose(1, 2)
        return self.output(seen.reshape(batch, places, dim))
