# Decorators around the functions.
# expect:
#   questions:
#     "*": {status: passed}

import functools
import time

import torch


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        start = time.time()
        result = function(*args, **kwargs)
        print(f"{function.__name__}: {time.time() - start:.6f} s")
        return result

    return wrapper


@timed
def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


@timed
@torch.no_grad()
def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


@torch.inference_mode()
def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
