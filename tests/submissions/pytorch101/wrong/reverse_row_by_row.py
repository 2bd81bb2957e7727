# One index for each row.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, one_index: too_many_calls}}

import torch


def reverse_rows(x):
    return torch.stack([x[i] for i in range(x.shape[0] - 1, -1, -1)])
