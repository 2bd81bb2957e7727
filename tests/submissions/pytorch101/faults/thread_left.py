# Leaves a thread behind that never ends, and answers right.
# expect:
#   questions:
#     "*": {status: passed}

import threading
import time

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    thread = threading.Thread(target=time.sleep, args=(3600,))
    thread.start()
    mean = x.sum(dim=0) / x.shape[0]
    return (x - mean) / torch.sqrt(((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
