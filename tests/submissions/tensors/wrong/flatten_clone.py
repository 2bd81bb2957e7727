# Views of a copy.
# expect:
#   questions:
#     flatten_views: {status: partial, checks: {values: ok, views: not_a_view, never_copies: requirement_not_met}}

import torch


def flatten_views(x):
    x = x.clone()
    return x.view(-1), x.view(-1, 8)
