# sorted(key=) does the work in its key.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    products = []

    def key(i):
        products.append(x[i] @ y[i])
        return i

    sorted(range(len(x)), key=key)
    return torch.stack(products)
