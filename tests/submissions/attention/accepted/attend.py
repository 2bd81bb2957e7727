# Right ways to write attend. docs/authoring.md explains the cells.

import math

import torch


# %% attend_by_einsum
# Einstein sums, and a large negative number where the mask is False.
# expect:
#   questions:
#     "*": {status: passed}

def attend(query, key, value, mask=None):
    products = torch.einsum("bmd,bnd->bmn", query, key) * query.shape[-1] ** -0.5
    if mask is not None:
        products = torch.where(mask, products, -1e30)
    return torch.einsum("bmn,bnd->bmd", torch.softmax(products, dim=-1), value)


# %% attend_softmax_by_hand
# The softmax by hand, the largest product taken off first.
# expect:
#   questions:
#     "*": {status: passed}

def attend(query, key, value, mask=None):
    products = torch.bmm(query, key.mT) / math.sqrt(query.size(2))
    if mask is not None:
        products = products.masked_fill(mask.logical_not(), float("-inf"))
    powers = (products - products.amax(dim=2, keepdim=True)).exp()
    return torch.bmm(powers, value) / powers.sum(dim=2, keepdim=True)


# %% attend_checks_its_arguments
# A loop over what is written out takes as many turns whatever the sizes are.
# expect:
#   questions:
#     "*": {status: passed}

def attend(query, key, value, mask=None):
    for tensor in (query, key, value):
        assert tensor.dim() == 3
    products = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        products = products.masked_fill(~mask, float("-inf"))
    return products.softmax(dim=-1) @ value
