# The same as a method.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, no_flip: forbidden_call}}

import torch


def reverse_rows(x):
    return x.flip(0)
