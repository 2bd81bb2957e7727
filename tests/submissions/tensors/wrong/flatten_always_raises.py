# Refuses every tensor that is no matrix.
# expect:
#   questions:
#     flatten_views: {status: failed, checks: {values: raised}}

import torch


def flatten_views(x):
    if x.dim() != 2 or not x.is_contiguous():
        raise RuntimeError("no view")
    return x.view(-1), x.view(-1, 8)
