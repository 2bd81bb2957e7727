# Nested lists that were never made a tensor.
# expect:
#   questions:
#     create_sample_tensor: {status: failed, checks: {values: wrong_type}}

import torch


def create_sample_tensor():
    return [[0, 10], [100, 0], [0, 0]]
