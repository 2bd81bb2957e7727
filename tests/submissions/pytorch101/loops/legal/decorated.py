# A decorator that measures.
# expect: ok

import functools
import time

import torch


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        start = time.time()
        result = function(*args, **kwargs)
        print(function.__name__, time.time() - start)
        return result

    return wrapper


@timed
@torch.no_grad()
def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)
