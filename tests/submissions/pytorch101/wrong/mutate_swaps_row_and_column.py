# Row and column change places; on most matrices that is out of bounds.
# expect:
#   questions:
#     mutate_tensor: {status: failed, code: raised}

import torch


def mutate_tensor(x, indices, values):
    for (i, j), value in zip(indices, values):
        x[j, i] = value
    return x
