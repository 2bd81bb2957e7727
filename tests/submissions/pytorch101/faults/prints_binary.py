# Prints what is no text: raw bytes, control sequences, lone surrogates.
# expect:
#   questions:
#     "*": {status: passed}

import sys

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    print("\x1b[31mred\x00\r\x07 \ud800 \N{FIRE}", file=sys.stderr)
    print("\x1b]0;title\x07")
    mean = x.sum(dim=0) / x.shape[0]
    return (x - mean) / torch.sqrt(((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
