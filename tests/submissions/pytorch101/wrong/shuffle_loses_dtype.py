# Fills a tensor of zeros, which is float32 whatever x is.
# expect:
#   questions:
#     shuffle_cols: {status: partial, checks: {dtype: wrong_dtype, unmodified: ok}}

import torch


def shuffle_cols(x):
    y = torch.zeros(x.shape[0], 4, dtype=torch.float64)
    y[:, :] = x[:, [0, 0, 2, 1]]
    return y
