# Column by column.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: loop_found, no_mean_or_std: ok}}

import torch


def normalize_columns(x):
    y = x.clone()
    rows = x.shape[0]
    for j in range(x.shape[1]):
        y[:, j] -= x[:, j].sum() / rows
        y[:, j] /= ((y[:, j] ** 2).sum() / (rows - 1)) ** 0.5
    return y
