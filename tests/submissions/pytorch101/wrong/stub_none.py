# Stubs left as they are in other editions: a result set to None.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: failed, code: not_implemented}
#     normalize_columns: {status: failed, code: not_implemented}
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    z = None
    # Replace "pass" with your code
    pass
    return z


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    y = None
    return y


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
