# Rarer ways that are right all the same, with helpers and aliases.
# expect:
#   questions:
#     "*": {status: passed}

import math
from functools import partial

import torch
import torch as th
from torch import Tensor


def create_sample_tensor() -> Tensor:
    return th.tensor([0, 10, 100, 0, 0, 0]).view(3, 2)


def mutate_tensor(x: Tensor, indices, values) -> Tensor:
    i = 0
    while i < len(indices):
        x[indices[i]] = values[i]
        i += 1
    return x


def count_tensor_elements(x: Tensor) -> int:
    return math.prod(x.size())


def create_tensor_of_pi(M, N):
    t = torch.empty(M, N)
    t[:] = 3.14
    return t


def multiples_of_ten(start, stop):
    first, last = math.ceil(start / 10), math.floor(stop / 10)
    if last < first:
        return torch.zeros(0, dtype=torch.double)
    return torch.arange(first * 10, last * 10 + 1, 10).double()


def slice_indexing_practice(x):
    last_row = x[-1, :]
    third_col = x[..., 2:3]
    corner = x[slice(0, 2), slice(0, 3)]
    even_odd = x[0::2, 1::2]
    return [last_row, third_col, corner, even_odd]


def slice_assignment_practice(x):
    x[:4, :6] = 5
    x[:2, 2:6] = 2
    x[0:2, 0] = 0
    x[0:2, 1] = 1
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    return x


def shuffle_cols(x):
    idx = [0, 0, -x.shape[1] + 2, 1]
    return x[:, idx]


def reverse_rows(x):
    return x[list(reversed(range(len(x))))]


def take_one_elem_per_col(x):
    cols = range(3)
    rows = (1, 0, 3)
    return x[rows, cols]


def make_one_hot(x):
    labels = torch.tensor(x).unsqueeze(1)
    return torch.zeros(len(x), int(labels.max()) + 1).scatter_(1, labels, 1.0)


def sum_positive_entries(x):
    return x[torch.gt(x, 0)].sum().tolist()


def reshape_practice(x):
    return x.view(2, 3, 4).swapaxes(0, 1).contiguous().view(3, -1)


def zero_row_min(x):
    return x.scatter(1, x.argmin(dim=1, keepdim=True), 0)


def _pairs(x, y):
    for i in range(len(x)):
        yield torch.matmul(x[i], y[i])


def batched_matrix_multiply_loop(x, y):
    return torch.stack(list(_pairs(x, y)), dim=0)


def batched_matrix_multiply_noloop(x, y):
    return (x.unsqueeze(3) * y.unsqueeze(1)).sum(dim=2)


def normalize_columns(x):
    t = x.t()
    m = t.shape[1]
    centred = t - (t.sum(1) / m).reshape(-1, 1)
    scale = torch.pow(torch.pow(centred, 2).sum(1) / (m - 1), 0.5)
    return (centred / scale.view(-1, 1)).t()


def mm_on_gpu(x, w):
    to_gpu = partial(Tensor.to, device="cuda")
    return torch.matmul(to_gpu(x), to_gpu(w)).cpu()


def challenge_mean_tensors(xs, ls):
    owner = torch.repeat_interleave(torch.arange(len(xs)), ls)
    return torch.zeros(len(xs)).scatter_add_(0, owner, torch.cat(xs)) / ls


def challenge_get_uniques(x):
    big = x - x.min()
    key = big * len(x) + torch.arange(len(x))
    key = key.sort().values
    value, place = key // len(x), key % len(x)
    keep = torch.ones_like(value, dtype=torch.bool)
    keep[1:] = value[1:] > value[:-1]
    return (value[keep] + x.min()).flip(0), place[keep].flip(0)
