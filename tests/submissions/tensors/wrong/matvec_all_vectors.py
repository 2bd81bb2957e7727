# All three results are vectors.
# expect:
#   questions:
#     matvec_three_ways: {status: failed, checks: {values: wrong_shape}}

import torch


def matvec_three_ways(x, v):
    return x.mv(v), x @ v, torch.matmul(x, v)
