# torch.tensor copies both.
# expect:
#   questions:
#     numpy_bridge: {status: partial, checks: {values: ok, dtypes: ok, shared: not_a_view, own: ok}}

import torch


def numpy_bridge(a):
    return {"shared": torch.tensor(a), "own": torch.tensor(a, dtype=torch.float32)}
