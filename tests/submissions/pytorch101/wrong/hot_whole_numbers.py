# int64, which F.one_hot returns.
# expect:
#   questions:
#     make_one_hot: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

import torch
import torch.nn.functional as F


def make_one_hot(x):
    return F.one_hot(torch.tensor(x))
