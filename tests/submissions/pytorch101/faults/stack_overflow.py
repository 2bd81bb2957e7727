# Recursion without Python's limit, in a thread with a tiny stack: the stack itself overflows.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: crashed}
#     "*": {status: passed}

import sys
import threading

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    sys.setrecursionlimit(2**30)
    threading.stack_size(64 * 2**10)
    deep = None
    for _ in range(100_000):
        deep = [deep]
    # From Python 3.12 on, recursion in C has a limit of its own, for stacks of the usual size.
    thread = threading.Thread(target=repr, args=(deep,))
    thread.start()
    thread.join()
    mean = x.sum(dim=0) / x.shape[0]
    return (x - mean) / torch.sqrt(((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
