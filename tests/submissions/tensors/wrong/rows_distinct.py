# Picks each row once.
# expect:
#   questions:
#     rows_at: {status: failed, checks: {rows: wrong_shape}}

import torch


def rows_at(x, index):
    return x[index.long().unique()]
