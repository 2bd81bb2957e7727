# The places are missing.
# expect:
#   questions:
#     challenge_get_uniques: {status: failed, code: wrong_type}

import torch


def challenge_get_uniques(x):
    return torch.unique(x)
