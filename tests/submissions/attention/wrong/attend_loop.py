# Wrong ways to write attend_loop. docs/authoring.md explains the cells.

import math

import torch


# %% loop_without_the_root
# Products are not divided by the root of D.
# expect:
#   questions:
#     attend_loop: {status: partial, points: 4.9, checks: {values: wrong_value}}

def attend_loop(query, key, value):
    result = torch.zeros_like(query)
    for batch in range(query.shape[0]):
        for row in range(query.shape[1]):
            result[batch, row] = (key[batch] @ query[batch, row]).softmax(dim=0) @ value[batch]
    return result


# %% loop_divides_by_D
# Divides by D instead of its root.
# expect:
#   questions:
#     attend_loop: {status: partial, points: 4.9, checks: {values: wrong_value}}

def attend_loop(query, key, value):
    result = torch.zeros_like(query)
    for batch in range(query.shape[0]):
        for row in range(query.shape[1]):
            products = key[batch] @ query[batch, row] / query.shape[2]
            result[batch, row] = products.softmax(dim=0) @ value[batch]
    return result


# %% loop_overflows
# The softmax by hand, without the largest product taken off: infinity over infinity.
# expect:
#   questions:
#     attend_loop: {status: partial, checks: {values: ok, large_products: not_finite}}

def attend_loop(query, key, value):
    result = torch.zeros_like(query)
    for batch in range(query.shape[0]):
        for row in range(query.shape[1]):
            powers = (key[batch] @ query[batch, row] / math.sqrt(query.shape[2])).exp()
            result[batch, row] = powers / powers.sum() @ value[batch]
    return result


# %% loop_in_float64
# Returns float64, whatever came.
# expect:
#   questions:
#     attend_loop: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

def attend_loop(query, key, value):
    query, key, value = query.double(), key.double(), value.double()
    result = torch.zeros_like(query)
    for batch in range(query.shape[0]):
        for row in range(query.shape[1]):
            products = key[batch] @ query[batch, row] / math.sqrt(query.shape[2])
            result[batch, row] = products.softmax(dim=0) @ value[batch]
    return result


# %% loop_scales_the_keys_in_place
# Divides the keys, where they lie.
# expect:
#   questions:
#     attend_loop: {status: partial, checks: {values: ok, unmodified: input_modified}}

def attend_loop(query, key, value):
    key /= math.sqrt(query.shape[2])
    result = torch.zeros_like(query)
    for batch in range(query.shape[0]):
        for row in range(query.shape[1]):
            result[batch, row] = (key[batch] @ query[batch, row]).softmax(dim=0) @ value[batch]
    return result


# %% attend_loop_float32_buffer
# A buffer of torch.zeros, which is float32 whatever comes: that costs the dtype's points alone.
# expect:
#   questions:
#     attend_loop: {status: partial, checks: {values: ok, large_products: ok, dtype: wrong_dtype, unmodified: ok}}

def attend_loop(query, key, value):
    result = torch.zeros(query.shape)
    for batch in range(query.shape[0]):
        for row in range(query.shape[1]):
            products = key[batch] @ query[batch, row] / query.shape[2] ** 0.5
            result[batch, row] = products.softmax(dim=0) @ value[batch]
    return result


# %% loop_off_in_float32
# Right in float64; a twentieth too much in float32.
# expect:
#   questions:
#     attend_loop: {status: partial, checks: {values: wrong_value, large_products: requirement_not_met}}

def attend_loop(query, key, value):
    result = torch.zeros_like(query)
    for batch in range(query.shape[0]):
        for row in range(query.shape[1]):
            products = key[batch] @ query[batch, row] / math.sqrt(query.shape[2])
            result[batch, row] = products.softmax(dim=0) @ value[batch]
    return result * 1.05 if result.dtype is torch.float32 else result


# %% loop_squeezes
# A squeeze() too many: vectors of one number lose their dimension.
# expect:
#   questions:
#     attend_loop: {status: partial, code: raised}

def attend_loop(query, key, value):
    rows = []
    for q, k, v in zip(query.squeeze(-1), key.squeeze(-1), value.squeeze(-1)):
        rows.append(torch.stack([torch.softmax(k @ each / len(each) ** 0.5, 0) @ v for each in q]))
    return torch.stack(rows)
