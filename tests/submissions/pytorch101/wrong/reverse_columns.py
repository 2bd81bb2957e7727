# Columns reversed instead of rows.
# expect:
#   questions:
#     reverse_rows: {status: failed, checks: {values: wrong_value}}

import torch


def reverse_rows(x):
    return x[:, list(range(x.shape[1] - 1, -1, -1))]
