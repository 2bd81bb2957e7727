# Lets the vector line up with the columns' size: an error, or a row where the matrix is square.
# expect:
#   questions:
#     add_column: {status: failed, checks: {values: raised}}

import torch


def add_column(x, w):
    return x + w
