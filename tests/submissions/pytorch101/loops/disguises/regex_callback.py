# re.sub calls back for each match.
# expect: loop_found

import re

import torch


def batched_matrix_multiply_noloop(x, y):
    products = []

    def multiply(match):
        i = match.start()
        products.append(x[i] @ y[i])
        return ""

    re.sub(".", multiply, "." * len(x))
    return torch.stack(products)
