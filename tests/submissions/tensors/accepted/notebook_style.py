# Globals, prints and asserts between the functions, as one writes in a notebook.
# expect:
#   questions:
#     "*": {status: passed}

import h5py
import numpy as np
import torch
from torch import *

x = torch.arange(6).view(2, 3)
print(x.t().is_contiguous())
assert x.t().data_ptr() == x.data_ptr()


def storage_facts(x):
    print(x)
    return {"size": tuple(x.size()), "offset": x.storage_offset(), "stride": tuple(x.stride()),
            "contiguous": x.is_contiguous()}


def squeeze_unsqueeze(x):
    M, _, N = x.shape
    return {"all": torch.squeeze(x), "middle": x.view(M, N), "first": x.view(1, M, 1, N),
            "last": torch.unsqueeze(x, 3)}


def rows_at(x, index):
    return x[index.tolist()]


def sum_of_halves(x):
    return torch.sum(x, dtype=float32)


def outer_product(v, w):
    return v[:, None] * w[None, :]


def add_column(x, w):
    y = x.clone()
    y += w.reshape(-1, 1)
    return y


def matvec_three_ways(x, v):
    return x @ v, x @ v[:, None], torch.einsum("ij,j->i", x, v)


print(outer_product(torch.tensor([1, 2]), torch.tensor([3])))
