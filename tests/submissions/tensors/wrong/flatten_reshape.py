# reshape where a view is asked for: it copies without a word where no view exists.
# expect:
#   questions:
#     flatten_views: {status: partial, checks: {values: ok, views: ok, never_copies: wrong_type}}

import torch


def flatten_views(x):
    return x.reshape(-1), x.reshape(-1, 8)
