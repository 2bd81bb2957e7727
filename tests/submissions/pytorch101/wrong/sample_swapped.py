# The two numbers are in each other's places.
# expect:
#   questions:
#     create_sample_tensor: {status: failed, checks: {values: wrong_value}}

import torch


def create_sample_tensor():
    x = torch.zeros(3, 2)
    x[1, 0] = 10
    x[0, 1] = 100
    return x
