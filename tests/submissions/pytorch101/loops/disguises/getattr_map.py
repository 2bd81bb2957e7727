# map, found by a name put together at run time.
# expect: loop_found

import builtins

import torch


def batched_matrix_multiply_noloop(x, y):
    each = getattr(builtins, "m" + "ap")
    return torch.stack(list(each(torch.mm, x, y)))
