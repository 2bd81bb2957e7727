# The places are missing.
# expect:
#   questions:
#     challenge_get_uniques: {status: failed, checks: {values_and_places: wrong_type, no_unique: forbidden_call}}

import torch


def challenge_get_uniques(x):
    return torch.unique(x)
