# Returns the first tensor only.
# expect:
#   questions:
#     load_tensors: {status: failed, checks: {values: wrong_type}}

import torch


def load_tensors(path):
    return torch.load(path, weights_only=True)["first"]
