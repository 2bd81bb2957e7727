# The right number as a float.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, type: wrong_type}}

import torch


def count_tensor_elements(x):
    return torch.ones(x.shape).sum().item()
