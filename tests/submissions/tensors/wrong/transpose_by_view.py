# view with the sizes swapped: another order of the numbers.
# expect:
#   questions:
#     transpose_without_copy: {status: failed, checks: {values: wrong_value}}

import torch


def transpose_without_copy(x):
    return x.reshape(*x.shape[:-2], x.shape[-1], x.shape[-2])
