# Transposes all of it.
# expect:
#   questions:
#     reshape_practice: {status: failed, checks: {values: wrong_value}}

import torch


def reshape_practice(x):
    return x.view(8, 3).t()
