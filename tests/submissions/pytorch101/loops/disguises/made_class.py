# A class made by type(), with a lambda for __getitem__.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    def item(self, i):
        return x[i] @ y[i] if i < len(x) else (_ for _ in ()).throw(IndexError)

    products = type("Products", (), {"__getitem__": item})()
    return torch.stack(list(products))
