# Both converted, and so both copies.
# expect:
#   questions:
#     numpy_bridge: {status: partial, checks: {values: ok, dtypes: wrong_dtype, shared: not_a_view, own: ok}}

import torch


def numpy_bridge(a):
    return {"shared": torch.from_numpy(a).float(), "own": torch.tensor(a, dtype=torch.float32)}
