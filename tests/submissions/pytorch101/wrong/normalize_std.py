# torch.std, which is not allowed.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

import torch


def normalize_columns(x):
    return (x - x.sum(dim=0) / x.shape[0]) / torch.std(x, dim=0)
