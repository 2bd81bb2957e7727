# torch.autograd.Function around bmm.
# expect: ok

import torch


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return torch.bmm(x, y)

    @staticmethod
    def backward(ctx, grad):
        return None, None


def batched_matrix_multiply_noloop(x, y):
    return Product.apply(x, y)
