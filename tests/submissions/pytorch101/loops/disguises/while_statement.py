# A while statement.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    products = []
    while len(products) < len(x):
        products.append(torch.mm(x[len(products)], y[len(products)]))
    return torch.stack(products)
