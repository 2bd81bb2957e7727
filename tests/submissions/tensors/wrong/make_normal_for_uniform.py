# Normal numbers where uniform ones are asked for.
# expect:
#   questions:
#     make_tensors: {status: partial, checks: {values: ok, shapes: ok, dtypes: ok, random: wrong_value}}

import torch


def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.randn(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.int64),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like, dtype=torch.float32),
    }
