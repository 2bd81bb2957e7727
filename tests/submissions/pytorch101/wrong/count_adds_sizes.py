# Adds the sizes up instead of multiplying them.
# expect:
#   questions:
#     count_tensor_elements: {status: failed, checks: {count: wrong_value}}

import torch


def count_tensor_elements(x):
    return sum(x.shape)
