# More parameters than asked for, all of them optional; others are renamed.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(a, b, *, out=None):
    out = out or [m.mm(n) for m, n in zip(a, b)]
    return torch.stack(out)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(data, ddof=1, eps=0.0):
    n = len(data)
    data = data - data.sum(0) / n
    return data / ((data**2).sum(0) / (n - ddof) + eps).sqrt()


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
