# Writes into x, at a place that none of the four parts shows.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, checks: {values: ok, views: ok, unmodified: input_modified}}

import torch


def slice_indexing_practice(x):
    parts = x[-1], x[:, 2:3], x[:2, :3], x[::2, 1::2]
    x[1, 3] = 1234
    return parts
