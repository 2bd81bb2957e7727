# Copies also where nothing needs to be copied.
# expect:
#   questions:
#     make_contiguous: {status: partial, checks: {values: ok, contiguous: ok, no_needless_copy: not_a_view}}

import torch


def make_contiguous(x):
    return x.contiguous().clone()
