# x.mean, which is not allowed.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

import torch


def normalize_columns(x):
    centred = x - x.mean(dim=0, keepdim=True)
    return centred / (centred.square().sum(dim=0) / (x.shape[0] - 1)).sqrt()
