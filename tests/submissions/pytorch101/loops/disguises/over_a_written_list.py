# As many turns as are written out, each with one product; larger batches take more of them.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    out = torch.zeros(len(x), x.shape[1], y.shape[2])
    for i in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]:
        if i < len(x):
            out[i] = x[i] @ y[i]
    if len(x) > 24:
        out[24:] = x[24:] @ y[24:]
    return out
