# The loop is in a helper.
# expect: loop_found

import torch


def products_of(x, y):
    done = []
    for a, b in zip(x, y):
        done.append(a @ b)
    return done


def batched_matrix_multiply_noloop(x, y):
    return torch.stack(products_of(x, y))
