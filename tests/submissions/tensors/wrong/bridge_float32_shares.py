# Converts without a copy where the array is float32 already.
# expect:
#   questions:
#     numpy_bridge: {status: partial, checks: {values: ok, dtypes: ok, shared: ok, own: shares_memory}}

import torch


def numpy_bridge(a):
    return {"shared": torch.from_numpy(a), "own": torch.from_numpy(a).float()}
