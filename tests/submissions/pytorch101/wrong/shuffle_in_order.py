# Columns 0, 0, 1, 2.
# expect:
#   questions:
#     shuffle_cols: {status: failed, checks: {values: wrong_value}}

import torch


def shuffle_cols(x):
    return x[:, [0, 0, 1, 2]]
