# A more exact pi than was asked for.
# expect:
#   questions:
#     create_tensor_of_pi: {status: failed, checks: {values: wrong_value}}

import math

import torch


def create_tensor_of_pi(M, N):
    return torch.full((M, N), math.pi)
