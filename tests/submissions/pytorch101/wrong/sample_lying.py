# Two rows of three instead of three rows of two.
# expect:
#   questions:
#     create_sample_tensor: {status: failed, checks: {values: wrong_shape}}

import torch


def create_sample_tensor():
    return torch.tensor([[0, 10, 0], [100, 0, 0]])
