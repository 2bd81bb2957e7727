# Turns all dimensions round.
# expect:
#   questions:
#     transpose_without_copy: {status: failed, checks: {values: wrong_shape}}

import torch


def transpose_without_copy(x):
    return x.permute(*range(x.dim() - 1, -1, -1))
