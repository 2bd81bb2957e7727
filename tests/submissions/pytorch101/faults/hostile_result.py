# Returns an object that fights every look at it.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: wrong_type}
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


class Hostile:
    def __getattr__(self, name):
        raise SystemExit(name)

    def __eq__(self, other):
        return True

    def __repr__(self):
        raise MemoryError

    __str__ = __bool__ = __len__ = __iter__ = __repr__


def normalize_columns(x):
    return Hostile()


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
