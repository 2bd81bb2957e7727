# Adds into the input.
# expect:
#   questions:
#     add_column: {status: partial, checks: {values: ok, unmodified: input_modified, no_loops: ok}}

import torch


def add_column(x, w):
    return x.add_(w[:, None])
