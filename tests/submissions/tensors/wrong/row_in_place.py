# Adds into the input.
# expect:
#   questions:
#     add_row: {status: partial, checks: {values: ok, unmodified: input_modified}}

import torch


def add_row(x, v):
    x += v
    return x
