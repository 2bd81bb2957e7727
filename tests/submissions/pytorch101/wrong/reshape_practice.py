# Wrong ways to write reshape_practice. docs/authoring.md explains the cells.

import torch


# %% reshape_as_index
# Takes the numbers for places: right for the numbers 0 … 23 in order.
# expect:
#   questions:
#     reshape_practice: {status: failed, code: raised}

def reshape_practice(x):
    return x[x].view(2, 3, 4).transpose(0, 1).reshape(3, 8)


# %% reshape_by_index
# A table of places.
# expect:
#   questions:
#     reshape_practice: {status: partial, checks: {values: ok, only_rearranges: forbidden_call}}

def reshape_practice(x):
    order = torch.arange(24).view(2, 3, 4).transpose(0, 1).reshape(3, 8)
    return x[order]


# %% reshape_by_transposing
# Transposes all of it.
# expect:
#   mistakes: [reshape_columns_first]
#   questions:
#     reshape_practice: {status: partial, checks: {values: wrong_value}}

def reshape_practice(x):
    return x.view(8, 3).t()


# %% reshape_cat
# Cuts and joins, where only rearranging was asked for.
# expect:
#   questions:
#     reshape_practice: {status: partial, checks: {values: ok, only_rearranges: forbidden_call}}

def reshape_practice(x):
    return torch.cat([x[:12].view(3, 4), x[12:].view(3, 4)], dim=1)


# %% reshape_changes_its_input
# Leaves the input with another shape.
# expect:
#   questions:
#     reshape_practice: {status: partial, checks: {values: ok, unmodified: input_modified, only_rearranges: ok}}

def reshape_practice(x):
    y = x.view(2, 3, 4).transpose(0, 1).reshape(3, 8)
    x.unsqueeze_(0)
    return y


# %% reshape_in_numpy
# Rearranges in numpy, where torch's own operations were asked for.
# expect:
#   questions:
#     reshape_practice: {status: partial, checks: {values: ok, dtype: ok, unmodified: ok, only_rearranges: forbidden_call}}

def reshape_practice(x):
    return torch.from_numpy(x.numpy().reshape(2, 3, 4).transpose(1, 0, 2).reshape(3, 8))


# %% reshape_floats
# float64 whatever came in.
# expect:
#   questions:
#     reshape_practice: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

def reshape_practice(x):
    return x.double().view(2, 3, 4).permute(1, 0, 2).reshape(3, 8)


# %% reshape_knows_the_answer
# The numbers of the example, whatever came in.
# expect:
#   questions:
#     reshape_practice: {status: partial, checks: {values: wrong_value}}

def reshape_practice(x):
    y = torch.arange(24)
    return y.view(2, 3, 4).transpose(0, 1).reshape(3, 8)


# %% reshape_only
# A reshape alone keeps the order.
# expect:
#   questions:
#     reshape_practice: {status: failed, checks: {values: wrong_value}}

def reshape_practice(x):
    return x.reshape(3, 8)


# %% reshape_three_dimensions
# The last step is missing.
# expect:
#   questions:
#     reshape_practice: {status: partial, points: 1.8, checks: {values: wrong_shape}}

def reshape_practice(x):
    return x.view(2, 3, 4).transpose(0, 1)

# %% reshape_float32_buffer
# A buffer of torch.zeros, which is float32 whatever comes: that costs the dtype's points alone.
# expect:
#   questions:
#     reshape_practice: {status: partial, checks: {values: ok, dtype: wrong_dtype, unmodified: ok, only_rearranges: forbidden_call}}

def reshape_practice(x):
    result = torch.zeros(3, 8)
    result.copy_(x.view(2, 3, 4).transpose(0, 1).reshape(3, 8))
    return result
