# Both at once, by another name.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_mean_or_std: forbidden_call}}

from torch import std_mean


def normalize_columns(x):
    std, mean = std_mean(x, dim=0)
    return (x - mean) / std
