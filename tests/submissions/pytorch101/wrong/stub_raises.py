# Stubs as the starter has them.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: failed, code: not_implemented}
#     batched_matrix_multiply_noloop: {status: failed, code: not_implemented}
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    raise NotImplementedError("batched_matrix_multiply_loop is not written yet")


def batched_matrix_multiply_noloop(x, y):
    raise NotImplementedError


def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
