# The last step is missing.
# expect:
#   questions:
#     reshape_practice: {status: failed, checks: {values: wrong_shape}}

import torch


def reshape_practice(x):
    return x.view(2, 3, 4).transpose(0, 1)
