# By way of half precision.
# expect:
#   questions:
#     numpy_bridge: {status: failed, checks: {values: wrong_value}}

import torch


def numpy_bridge(a):
    return {"shared": torch.from_numpy(a), "own": torch.tensor(a).half().float() + 0.001}
