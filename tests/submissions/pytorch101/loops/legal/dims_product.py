# Multiplies sizes in loops over the shape, and by recursion over it.
# expect: ok

import functools

import torch


def count(shape):
    return 1 if not shape else shape[0] * count(shape[1:])


def batched_matrix_multiply_noloop(x, y):
    entries, strides = 1, []
    for d in reversed(range(x.dim())):
        strides.insert(0, entries)
        entries *= x.size(d)
    rest = 1
    for s in x.shape[1:]:
        rest *= s
    assert entries == count(x.shape) == len(x) * rest
    columns = functools.reduce(lambda a, b: a * b, y.shape[2:], 1)
    x = x.reshape(len(x), rest).as_strided(x.shape, strides)
    return torch.bmm(x, y.reshape(*y.shape[:2], columns))
