# One index for each column.
# expect:
#   questions:
#     shuffle_cols: {status: partial, checks: {values: ok, one_index: too_many_calls}}

import torch


def shuffle_cols(x):
    return torch.stack([x[:, 0], x[:, 0], x[:, 2], x[:, 1]], dim=1)
