# Wrong ways to write attend. docs/authoring.md explains the cells.

import math

import torch
from torch.nn import functional


# %% attend_softmax_over_queries
# The softmax runs over the queries.
# expect:
#   questions:
#     attend: {status: partial, points: 5.5, checks: {values: wrong_value}}

def attend(query, key, value, mask=None):
    products = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    if mask is not None:
        products = products.masked_fill(~mask, -math.inf)
    return products.softmax(dim=1) @ value


# %% attend_overflows
# The softmax by hand: infinity over infinity.
# expect:
#   questions:
#     attend: {status: partial, checks: {values: ok, large_products: not_finite}}

def attend(query, key, value, mask=None):
    powers = (query @ key.transpose(1, 2) / math.sqrt(query.shape[2])).exp()
    if mask is not None:
        powers = powers * mask
    return powers / powers.sum(dim=2, keepdim=True) @ value


# %% attend_mask_the_other_way
# Looks where the mask is False.
# expect:
#   questions:
#     attend: {status: partial, checks: {values: ok, masked: wrong_value}}

def attend(query, key, value, mask=None):
    products = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    if mask is not None:
        products = products.masked_fill(mask, -1e30)
    return products.softmax(dim=2) @ value


# %% attend_masks_by_zero
# A product of 0 is not a weight of 0.
# expect:
#   questions:
#     attend: {status: partial, checks: {values: ok, masked: wrong_value}}

def attend(query, key, value, mask=None):
    products = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    if mask is not None:
        products = products * mask
    return products.softmax(dim=2) @ value


# %% attend_masks_after_the_softmax
# Weights that are left do not add up to 1.
# expect:
#   questions:
#     attend: {status: partial, checks: {values: ok, masked: wrong_value}}

def attend(query, key, value, mask=None):
    weights = (query @ key.transpose(1, 2) / math.sqrt(query.shape[2])).softmax(dim=2)
    if mask is not None:
        weights = weights * mask
    return weights @ value


# %% attend_in_float64
# Returns float64, whatever came.
# expect:
#   questions:
#     attend: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

def attend(query, key, value, mask=None):
    query, key, value = query.double(), key.double(), value.double()
    products = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    if mask is not None:
        products = products.masked_fill(~mask, -math.inf)
    return products.softmax(dim=2) @ value


# %% attend_scales_the_queries_in_place
# Divides the queries, where they lie.
# expect:
#   questions:
#     attend: {status: partial, checks: {values: ok, unmodified: input_modified}}

def attend(query, key, value, mask=None):
    query /= math.sqrt(query.shape[2])
    products = query @ key.transpose(1, 2)
    if mask is not None:
        products = products.masked_fill(~mask, -math.inf)
    return products.softmax(dim=2) @ value


# %% attend_by_a_loop
# A loop over the sequences.
# expect:
#   questions:
#     attend: {status: partial, checks: {values: ok, masked: ok, no_loops: loop_found}}

def attend(query, key, value, mask=None):
    result = torch.zeros_like(query)
    for batch in range(len(query)):
        products = query[batch] @ key[batch].T / math.sqrt(query.shape[2])
        if mask is not None:
            products = products.masked_fill(~mask.expand(len(query), -1, -1)[batch], -math.inf)
        result[batch] = products.softmax(dim=1) @ value[batch]
    return result


# %% attend_by_torch
# Torch does all of it.
# expect:
#   questions:
#     attend: {status: partial, checks: {values: ok, masked: ok, no_loops: requirement_not_met, by_hand: forbidden_call}}

def attend(query, key, value, mask=None):
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)


# %% attend_off_in_float32
# Right in float64; a twentieth too much in float32.
# expect:
#   questions:
#     attend: {status: partial, checks: {values: wrong_value, no_loops: requirement_not_met}}

def attend(query, key, value, mask=None):
    products = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    if mask is not None:
        products = products.masked_fill(~mask, -math.inf)
    result = products.softmax(dim=2) @ value
    return result * 1.05 if result.dtype is torch.float32 else result


# %% attend_wrong_costs_no_heads
# No root in attend; heads and their gradients are asked for with right attention.
# right: MultiHeadAttention
# expect:
#   mistakes: [attend_without_the_root]
#   questions:
#     attend: {status: partial, points: 7.7, checks: {values: wrong_value}}
#     MultiHeadAttention: {status: passed}

def attend(query, key, value, mask=None):
    products = query @ key.transpose(1, 2)
    if mask is not None:
        products = products.masked_fill(~mask, -math.inf)
    return products.softmax(dim=2) @ value
