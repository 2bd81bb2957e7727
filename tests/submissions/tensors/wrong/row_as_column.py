# Adds a column.
# expect:
#   questions:
#     add_row: {status: failed, checks: {values: raised}}

import torch


def add_row(x, v):
    return x + v.view(-1, 1)
