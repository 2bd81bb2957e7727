# Rows in float32.
# expect:
#   questions:
#     rows_at: {status: partial, checks: {rows: ok, any_dtype: ok, dtype: wrong_dtype}}

import torch


def rows_at(x, index):
    return x[index.long()].float()
