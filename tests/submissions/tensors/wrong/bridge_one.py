# One tensor in place of two.
# expect:
#   questions:
#     numpy_bridge: {status: failed, checks: {values: raised}}

import torch


def numpy_bridge(a):
    return torch.from_numpy(a)
