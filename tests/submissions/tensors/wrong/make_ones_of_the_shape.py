# Ones in the shape of the given tensor.
# expect:
#   questions:
#     make_tensors: {status: failed, checks: {values: wrong_shape, shapes: requirement_not_met, dtypes: requirement_not_met, random: requirement_not_met}}

import torch


def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.int64),
        "data": torch.tensor(data),
        "ones": torch.ones_like(like),
        "normal": torch.randn_like(like, dtype=torch.float32),
    }
