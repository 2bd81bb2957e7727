# torch.masked.mean, of which no mode of torch's is told.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

import torch


def normalize_columns(x):
    c = x - torch.masked.mean(x, 0)
    return c / ((c**2).sum(0)/(x.shape[0]-1)).sqrt()
