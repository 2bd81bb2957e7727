# Odd rows and even columns.
# expect:
#   questions:
#     slice_indexing_practice: {status: failed, code: wrong_shape}

import torch


def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:2, :3], x[1::2, ::2]
