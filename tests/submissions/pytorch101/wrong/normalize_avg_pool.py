# The mean of one pool over all rows.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

import torch
import torch.nn.functional as F


def normalize_columns(x):
    m = F.avg_pool1d(x.t()[None], x.shape[0])[0, :, 0]
    c = x - m
    return c / ((c**2).sum(0)/(x.shape[0]-1)).sqrt()
