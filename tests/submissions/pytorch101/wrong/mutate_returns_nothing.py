# Writes in place and forgets the return.
# expect:
#   questions:
#     mutate_tensor: {status: failed, code: not_implemented}

import torch


def mutate_tensor(x, indices, values):
    for index, value in zip(indices, values):
        x[index] = value
