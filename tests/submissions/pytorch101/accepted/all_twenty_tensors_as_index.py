# Tensors, ranges and numpy arrays as indices; float64 in places where the dtype is free.
# expect:
#   questions:
#     "*": {status: passed}

import numpy as np
import torch


def create_sample_tensor():
    x = torch.zeros((3, 2), dtype=torch.float64)
    x[[0, 1], [1, 0]] = torch.tensor([10.0, 100.0], dtype=torch.float64)
    return x


def mutate_tensor(x, indices, values):
    for k in range(len(indices)):
        x[indices[k][0]][indices[k][1]] = values[k]
    return x


def count_tensor_elements(x):
    return int(np.prod(x.shape))


def create_tensor_of_pi(M, N):
    return torch.ones(M, N, dtype=torch.float64) * 3.14


def multiples_of_ten(start, stop):
    x = torch.arange(start, stop + 1)
    return x[x % 10 == 0].to(torch.float64)


def slice_indexing_practice(x):
    M, N = x.shape
    return x[M - 1, :], x[:, 2:3], x[0:2, 0:3], x[0:M:2, 1:N:2]


def slice_assignment_practice(x):
    x[0:2, 0:1] = 0
    x[0:2, 1:2] = 1
    x[0:2, 2:6] = 2
    x[2:4, [0, 2]] = 3
    x[2:4, [1, 3]] = 4
    x[2:4, 4:6] = 5
    return x


def shuffle_cols(x):
    index = torch.tensor([0, 0, 2, 1])
    return x[:, index]


def reverse_rows(x):
    return x[torch.arange(x.shape[0] - 1, -1, -1)]


def take_one_elem_per_col(x):
    return x[torch.tensor([1, 0, 3]), torch.arange(3)]


def make_one_hot(x):
    y = torch.zeros((len(x), max(x) + 1), dtype=torch.float32)
    y[range(len(x)), x] = 1
    return y


def sum_positive_entries(x):
    mask = x > 0
    return int(torch.sum(x[mask]))


def reshape_practice(x):
    return x.reshape(2, 3, 4).permute(1, 0, 2).reshape(3, 8)


def zero_row_min(x):
    y = torch.clone(x)
    y[np.arange(x.shape[0]), torch.min(x, dim=1).indices] = 0
    return y


def batched_matrix_multiply_loop(x, y):
    B, N, _ = x.shape
    z = torch.zeros((B, N, y.shape[2]), dtype=x.dtype)
    for b in range(B):
        z[b] = x[b].mm(y[b])
    return z


def batched_matrix_multiply_noloop(x, y):
    return torch.einsum("bnm,bmp->bnp", x, y)


def normalize_columns(x):
    M = x.size(0)
    mu = torch.sum(x, dim=0, keepdim=True) / M
    var = torch.sum(torch.square(x - mu), dim=0, keepdim=True) / (M - 1)
    return (x - mu) / torch.sqrt(var)


def mm_on_gpu(x, w):
    device = torch.device("cuda")
    return torch.mm(x.to(device), w.to(device)).to("cpu")


def challenge_mean_tensors(xs, ls):
    total = torch.cat(xs).double().cumsum(0)
    ends = ls.cumsum(0) - 1
    sums = total[ends]
    sums[1:] -= total[ends[:-1]]
    return (sums / ls).float()


def challenge_get_uniques(x):
    order = torch.argsort(x, stable=True)
    v = x[order]
    new = torch.ones(len(v), dtype=torch.bool)
    new[1:] = v[1:] != v[:-1]
    return v[new], order[new]
