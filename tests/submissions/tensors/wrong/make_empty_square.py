# The uninitialised matrix has rows and columns swapped.
# expect:
#   questions:
#     make_tensors: {status: partial, checks: {values: ok, shapes: wrong_shape, dtypes: ok, random: ok}}

import torch


def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(N, M),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.int64),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like, dtype=torch.float32),
    }
