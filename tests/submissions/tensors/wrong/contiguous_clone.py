# clone() keeps the order of the strides.
# expect:
#   questions:
#     make_contiguous: {status: partial, checks: {values: ok, contiguous: wrong_value, no_needless_copy: requirement_not_met}}

import torch


def make_contiguous(x):
    return x.clone()
