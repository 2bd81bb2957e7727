# A dict comprehension whose values are the products.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    products = {i: x[i] @ y[i] for i in range(len(x))}
    return torch.stack(list(products.values()))
