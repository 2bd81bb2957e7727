# A decorator does the loop; the function itself has none.
# expect: loop_found

import torch


def batched(function):
    def wrapper(x, y):
        return torch.stack([function(a, b) for a, b in zip(x, y)])

    return wrapper


@batched
def batched_matrix_multiply_noloop(x, y):
    return x @ y
