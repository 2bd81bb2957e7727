# sum() of objects whose __radd__ does the work.
# expect: loop_found

import torch


class Product:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __radd__(self, done):
        return (done or []) + [self.a @ self.b]


def batched_matrix_multiply_noloop(x, y):
    return torch.stack(sum(map(Product, x, y)))
