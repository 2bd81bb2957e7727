# One of the four parts is missing.
# expect:
#   questions:
#     slice_indexing_practice: {status: failed, checks: {values: wrong_type}}

import torch


def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:2, :3]
