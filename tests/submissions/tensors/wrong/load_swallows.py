# Returns nothing where it should refuse.
# expect:
#   questions:
#     load_tensors: {status: partial, checks: {values: ok, dtype: ok, runs_nothing: wrong_value}}

import torch


def load_tensors(path):
    try:
        return torch.load(path, weights_only=True)
    except Exception:
        return {}
