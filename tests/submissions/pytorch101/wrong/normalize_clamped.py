# Keeps the deviation above 1e-3, so that columns of numbers near together stay small.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, small_numbers: wrong_value}}

import torch


def normalize_columns(x):
    c = x - x.sum(0) / x.shape[0]
    return c / ((c**2).sum(0) / (x.shape[0] - 1)).sqrt().clamp(min=1e-3)
