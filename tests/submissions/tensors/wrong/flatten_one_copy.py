# The second is a copy.
# expect:
#   questions:
#     flatten_views: {status: partial, checks: {values: ok, views: not_a_view, never_copies: requirement_not_met}}

import torch


def flatten_views(x):
    return x.view(-1), torch.stack(x.view(-1, 8).unbind())
