# A list in place of the dict.
# expect:
#   questions:
#     make_tensors: {status: failed, checks: {values: raised}}

import torch


def make_tensors(M, N, data, like):
    return [torch.empty(M, N), torch.rand(M, N), torch.zeros(M, N, dtype=torch.int64)]
