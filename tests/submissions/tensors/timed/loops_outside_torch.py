# Loops of numpy's and of C's own over single numbers, found by names put together at run time.
# They take as long as torch, or far longer than a loop of torch's calls: a person looks.
# expect:
#   questions:
#     "*": {checks: {values: ok, no_loops: needs_review}}

import builtins
import operator

import numpy as np
import torch

each = getattr(builtins, "m" + "ap")
by_item = getattr(np, "vec" + "torize")


def outer_product(v, w):
    product = by_item(operator.mul)(v.numpy()[:, None], w.numpy())
    return torch.from_numpy(product)


def add_column(x, w):
    numbers = each(operator.add, x.flatten().tolist(), w.repeat_interleave(x.shape[1]).tolist())
    return torch.tensor(list(numbers), dtype=x.dtype).view(x.shape)
