# try and except around the product.
# expect: ok

import torch


def batched_matrix_multiply_noloop(x, y):
    try:
        return torch.bmm(x, y)
    except RuntimeError as error:
        print(error)
        raise
