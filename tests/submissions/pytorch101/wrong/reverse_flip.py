# torch.flip, which is not allowed.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, no_flip: forbidden_call}}

import torch


def reverse_rows(x):
    return torch.flip(x, [0])
