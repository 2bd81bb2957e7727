# A copy that stays float64.
# expect:
#   questions:
#     numpy_bridge: {status: partial, checks: {values: ok, dtypes: wrong_dtype, shared: ok, own: ok}}

import torch


def numpy_bridge(a):
    return {"shared": torch.from_numpy(a), "own": torch.tensor(a)}
