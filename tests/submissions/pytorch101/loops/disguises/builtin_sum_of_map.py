# sum() of a map: the builtin is no loop, the map is.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    return sum(map(lambda k: x[:, :, k : k + 1] * y[:, k : k + 1, :], range(x.shape[2])))
