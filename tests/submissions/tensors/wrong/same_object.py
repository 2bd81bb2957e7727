# Asks whether the two are one object.
# expect:
#   questions:
#     same_storage: {status: failed, code: wrong_value}

import torch


def same_storage(x, y):
    return x is y
