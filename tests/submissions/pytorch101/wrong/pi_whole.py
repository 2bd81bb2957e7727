# The dtype of the ones cuts the number down to 3.
# expect:
#   questions:
#     create_tensor_of_pi: {status: failed, checks: {values: wrong_value}}

import torch


def create_tensor_of_pi(M, N):
    return torch.ones(M, N, dtype=torch.int64).fill_(int(3.14))
