# The last row is the third in the example, and only there.
# expect:
#   questions:
#     slice_indexing_practice: {status: failed, checks: {values: wrong_value}}

import torch


def slice_indexing_practice(x):
    return x[2], x[:, 2:3], x[:2, :3], x[::2, 1::2]
