# Takes the index as it comes: uint8 is a mask, float32 an error.
# expect:
#   questions:
#     rows_at: {status: partial, checks: {rows: ok, any_dtype: raised, dtype: ok}}

import torch


def rows_at(x, index):
    return x[index]
