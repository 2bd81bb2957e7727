# Names from torch by a star, some of them hiding Python's own.
# expect:
#   questions:
#     "*": {status: passed}

import torch
from torch import *
from torch.nn.functional import *


def batched_matrix_multiply_loop(x, y):
    return stack([mm(a, b) for a, b in zip(x, y)])


def batched_matrix_multiply_noloop(x, y):
    return bmm(x, y)


def normalize_columns(x):
    c = x - sum(x, dim=0) / x.shape[0]
    return c / sqrt(sum(c**2, dim=0) / (x.shape[0] - 1))


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
