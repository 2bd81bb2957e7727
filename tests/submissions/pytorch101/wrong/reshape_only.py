# A reshape alone keeps the order.
# expect:
#   questions:
#     reshape_practice: {status: failed, checks: {values: wrong_value}}

import torch


def reshape_practice(x):
    return x.reshape(3, 8)
