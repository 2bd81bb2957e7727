# Zeros in float32, where int64 is asked for.
# expect:
#   questions:
#     make_tensors: {status: partial, checks: {values: ok, shapes: ok, dtypes: wrong_dtype, random: ok}}

import torch


def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like, dtype=torch.float32),
    }
