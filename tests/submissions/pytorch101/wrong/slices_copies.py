# Right values, but copies instead of views.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, checks: {values: ok, views: not_a_view}}

import torch


def slice_indexing_practice(x):
    return x[-1].clone(), x[:, 2:3].clone(), x[:2, :3].clone(), x[::2, 1::2].clone()
