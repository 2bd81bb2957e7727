# A tensor of rank 0 instead of an int.
# expect:
#   questions:
#     count_tensor_elements: {status: failed, checks: {count: wrong_type}}

import torch


def count_tensor_elements(x):
    return torch.prod(torch.tensor(x.shape))
