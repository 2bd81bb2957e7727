# scatter_reduce by a mean.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

import torch


def normalize_columns(x):
    i = torch.zeros(x.shape, dtype=torch.int64)
    m = torch.zeros(1, x.shape[1], dtype=x.dtype).scatter_reduce(0, i, x, "mean", include_self=False)
    c = x - m
    return c / ((c**2).sum(0)/(x.shape[0]-1)).sqrt()
