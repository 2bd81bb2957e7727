# Converts whole numbers to float32.
# expect:
#   questions:
#     matvec_three_ways: {status: partial, checks: {values: ok, dtype: wrong_dtype, no_loops: ok}}

import torch


def matvec_three_ways(x, v):
    x, v = x.float(), v.float()
    return x.mv(v), x.mm(v.view(-1, 1)), x.matmul(v)
