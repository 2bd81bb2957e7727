# A class that list() goes through by __getitem__.
# expect: loop_found

import torch


class Products:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __getitem__(self, i):
        if i >= len(self.x):
            raise IndexError
        return self.x[i] @ self.y[i]


def batched_matrix_multiply_noloop(x, y):
    return torch.stack(list(Products(x, y)))
