# exec of text with a loop in it.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    space = {"x": x, "y": y}
    exec("products = []\nfor i in range(len(x)):\n    products.append(x[i] @ y[i])", space)
    return torch.stack(space["products"])
