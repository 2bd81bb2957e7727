# Compares the addresses of the first entries.
# expect:
#   questions:
#     same_storage: {status: failed, code: wrong_value}

import torch


def same_storage(x, y):
    return x.data_ptr() == y.data_ptr()
