# All three results are columns.
# expect:
#   questions:
#     matvec_three_ways: {status: failed, checks: {values: wrong_shape}}

import torch


def matvec_three_ways(x, v):
    column = x.mm(v.view(-1, 1))
    return column, column, column
