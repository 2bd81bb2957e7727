# Makes the tensor contiguous before the view, which is a copy where none was contiguous.
# expect:
#   questions:
#     flatten_views: {status: partial, checks: {values: ok, views: ok, never_copies: wrong_type}}

import torch


def flatten_views(x):
    x = x.contiguous()
    return x.view(-1), x.view(-1, 8)
