# Columns and rows mixed up; a square example would not show it.
# expect:
#   questions:
#     create_tensor_of_pi: {status: failed, checks: {values: wrong_shape}}

import torch


def create_tensor_of_pi(M, N):
    return torch.full((N, M), 3.14)
