# Python's own arithmetic on lists.
# expect: loop_found

import torch


def row_times_matrix(row, matrix):
    return [sum(map(float.__mul__, row, column)) for column in zip(*matrix)]


def batched_matrix_multiply_noloop(x, y):
    pairs = zip(x.double().tolist(), y.double().tolist())
    products = [[row_times_matrix(row, b) for row in a] for a, b in pairs]
    return torch.tensor(products, dtype=x.dtype)
