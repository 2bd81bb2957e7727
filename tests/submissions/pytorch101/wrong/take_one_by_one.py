# One index for each entry.
# expect:
#   questions:
#     take_one_elem_per_col: {status: partial, checks: {values: ok, one_index: too_many_calls}}

import torch


def take_one_elem_per_col(x):
    return torch.stack([x[1, 0], x[0, 1], x[3, 2]])
