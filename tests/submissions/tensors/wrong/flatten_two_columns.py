# Eight rows in place of eight columns.
# expect:
#   questions:
#     flatten_views: {status: failed, checks: {values: wrong_shape}}

import torch


def flatten_views(x):
    return x.view(-1), x.view(8, -1)
