# A second pair of brackets mends the shape of the third column.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, checks: {values: ok, views: ok, one_index_each: too_many_calls}}

import torch


def slice_indexing_practice(x):
    return x[-1], x[:, 2][:, None], x[:2, :3], x[::2, 1::2]
