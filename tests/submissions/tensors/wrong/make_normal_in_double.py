# Normal numbers in the dtype of the given tensor: float64 kept, and an error for whole numbers.
# expect:
#   questions:
#     make_tensors: {status: failed, code: raised}

import torch


def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.int64),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like),
    }
