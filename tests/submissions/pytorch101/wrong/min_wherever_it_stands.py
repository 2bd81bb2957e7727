# Sets each row's minimum to zero wherever it stands, in other rows too.
# expect:
#   questions:
#     zero_row_min: {status: failed, checks: {values: wrong_value}}

import torch


def zero_row_min(x):
    # every row's minimum, wherever it stands in the matrix
    m = x.min(dim=1).values
    return torch.where(torch.isin(x, m), torch.zeros_like(x), x)
