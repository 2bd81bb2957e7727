# t() knows matrices only.
# expect:
#   questions:
#     transpose_without_copy: {status: failed, checks: {values: raised}}

import torch


def transpose_without_copy(x):
    return x.t()
