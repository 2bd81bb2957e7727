# Takes the index lists apart in a way that fails where there is nothing to write.
# expect:
#   questions:
#     mutate_tensor: {status: failed, code: raised}

import torch


def mutate_tensor(x, indices, values):
    rows, columns = zip(*indices)
    for row, column, value in zip(rows, columns, values):
        x[row, column] = value
    return x
