# Rows first, then columns.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, checks: {values: ok, views: ok, one_index_each: too_many_calls}}

import torch


def slice_indexing_practice(x):
    last_row = x[x.shape[0] - 1]
    third_col = x[:, 2:3]
    corner = x[0:2][:, 0:3]
    even_odd = x[::2][:, 1::2]
    return last_row, third_col, corner, even_odd
