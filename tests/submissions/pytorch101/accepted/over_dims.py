# Right ways that go through dimensions where no loop is allowed. docs/authoring.md explains the cells.
# right: sum_positive_entries, zero_row_min, batched_matrix_multiply_noloop, normalize_columns

import torch


# %% multiplies_sizes
# Counts entries in loops over sizes.
# expect:
#   questions:
#     "*": {status: passed}

def sum_positive_entries(x):
    n = 1
    for s in x.shape:
        n *= s
    flat = x.reshape(n)
    return flat[flat > 0].sum().item()


def zero_row_min(x):
    strides, step = [], 1
    for d in reversed(range(x.dim())):
        strides.insert(0, step)
        step *= x.shape[d]
    y = x.clone()
    y.view(-1)[torch.arange(x.shape[0]) * strides[0] + x.argmin(dim=1)] = 0
    return y


def batched_matrix_multiply_noloop(x, y):
    rest = 1
    for d in range(1, x.ndim):
        rest = rest * x.size(d)
    return torch.bmm(x.reshape(len(x), rest).view(x.shape), y)


def normalize_columns(x):
    rows = None
    for d, s in enumerate(x.shape):
        if d == 0:
            rows = s
    mean = x.sum(dim=0) / rows
    return (x - mean) / (((x - mean) ** 2).sum(dim=0) / (rows - 1)).sqrt()


# %% counts_by_recursion
# Counts entries by a function that calls itself with the rest of the sizes.
# expect:
#   questions:
#     "*": {status: passed}

def entries(shape):
    return 1 if not shape else shape[0] * entries(shape[1:])


def sum_positive_entries(x):
    flat = x.reshape(entries(x.shape))
    return flat[flat > 0].sum().item()


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x.reshape(len(x), entries(x.shape[1:])).view(x.shape), y)
