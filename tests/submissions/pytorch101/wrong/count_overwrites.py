# Fills the caller's tensor with ones to count them.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, unmodified: input_modified}}

import torch


def count_tensor_elements(x):
    return int(x.fill_(1).sum().item())
