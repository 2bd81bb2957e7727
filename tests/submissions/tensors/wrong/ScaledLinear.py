# Wrong ways to write ScaledLinear. docs/authoring.md explains the cells.

import torch
from torch import nn


# %% layer_detached
# Computes outside autograd: nothing is trained.
# expect:
#   questions:
#     ScaledLinear: {status: partial, checks: {output: ok, trained: wrong_value, state: ok, step: wrong_value}}

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return self.scale * (x @ self.weight.data)


# %% layer_frozen
# The weight is frozen.
# expect:
#   questions:
#     ScaledLinear: {status: partial, checks: {output: ok, trained: wrong_value, state: ok, step: wrong_value}}

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return self.scale * (x @ self.weight)


# %% layer_linear
# nn.Linear keeps its weight the other way round.
# expect:
#   questions:
#     ScaledLinear: {status: failed, code: raised}

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.inner = nn.Linear(*weight.shape, bias=False)
        self.inner.weight.data = weight
        self.register_buffer("scale", scale)

    def forward(self, x):
        return self.scale * self.inner(x)


# %% layer_no_super
# Forgets super().__init__().
# expect:
#   questions:
#     ScaledLinear: {status: partial, code: raised}

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return self.scale * (x @ self.weight)


# %% layer_plain_scale
# The scale is a plain attribute, and no part of the state.
# expect:
#   questions:
#     ScaledLinear: {status: partial, checks: {output: ok, trained: ok, state: wrong_type, step: ok}}

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.scale = scale

    def forward(self, x):
        return self.scale * (x @ self.weight)


# %% layer_plain_weight
# The weight requires gradients, but is no parameter: no optimiser hears of it.
# expect:
#   questions:
#     ScaledLinear: {status: partial, checks: {output: ok, trained: wrong_value, state: wrong_type, step: wrong_value}}

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = weight.requires_grad_()
        self.register_buffer("scale", scale)

    def forward(self, x):
        return self.scale * (x @ self.weight)


# %% layer_scale_not_saved
# The scale is a buffer that is not saved.
# expect:
#   mistakes: [layer_plain_scale]
#   questions:
#     ScaledLinear: {status: partial, checks: {output: ok, trained: ok, state: wrong_type, step: ok}}

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale, persistent=False)

    def forward(self, x):
        return self.scale * (x @ self.weight)


# %% layer_trains_the_scale
# The scale is a parameter, too.
# expect:
#   questions:
#     ScaledLinear: {status: partial, checks: {output: ok, trained: wrong_value, state: ok, step: wrong_value}}

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.scale = nn.Parameter(scale)

    def forward(self, x):
        return self.scale * (x @ self.weight)


# %% layer_unscaled
# Forgets the scale.
# expect:
#   questions:
#     ScaledLinear: {status: partial, checks: {output: wrong_value}}

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("scale", scale)

    def forward(self, x):
        return x @ self.weight


# %% layer_scale_frozen
# The scale is a parameter, too, that no step changes: it is among parameters() all the same.
# expect:
#   questions:
#     ScaledLinear: {status: partial, checks: {output: ok, trained: ok, parameters: wrong_value, state: ok, converts: ok, step: ok}}

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.scale = nn.Parameter(scale, requires_grad=False)

    def forward(self, x):
        return self.scale * (x @ self.weight)


# %% layer_scale_written_by_hand
# The scale is an attribute that state_dict() is given by hand: no conversion finds it.
# expect:
#   questions:
#     ScaledLinear: {status: partial, checks: {output: ok, trained: ok, parameters: ok, state: ok, converts: wrong_dtype, step: ok}}

class ScaledLinear(nn.Module):
    def __init__(self, weight, scale):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.scale = scale

    def state_dict(self, *args, **kwargs):
        return {**super().state_dict(*args, **kwargs), "scale": self.scale}

    def forward(self, x):
        return self.scale * (x @ self.weight)
