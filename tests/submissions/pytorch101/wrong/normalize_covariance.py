# The deviations are on the diagonal of the covariance.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: ok, no_mean_or_std: forbidden_call}}

import torch


def normalize_columns(x):
    c = x - x.sum(0)/x.shape[0]
    return c / torch.cov(x.t()).reshape(x.shape[1],x.shape[1]).diag().sqrt()
