# Multiplies the first and the last size: right for rank 2 alone.
# expect:
#   questions:
#     count_tensor_elements: {status: failed, checks: {count: wrong_value}}

import torch


def count_tensor_elements(x):
    return x.shape[0] * x.shape[-1]
