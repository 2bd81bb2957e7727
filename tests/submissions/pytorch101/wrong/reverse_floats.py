# float64 whatever came in.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

import torch


def reverse_rows(x):
    return x[list(range(x.shape[0] - 1, -1, -1))].double()
