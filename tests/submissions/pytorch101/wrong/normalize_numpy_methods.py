# numpy's mean and std: as methods of an array.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

import torch


def normalize_columns(x):
    a = x.numpy()
    return torch.from_numpy((a - a.mean(0)) / a.std(0, ddof=1))
