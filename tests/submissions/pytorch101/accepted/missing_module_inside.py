# A function imports a module that is missing, but only for its picture.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    try:
        import seaborn
    except ImportError:
        seaborn = None
    mean = x.sum(0) / x.shape[0]
    return (x - mean) / (((x - mean) ** 2).sum(0) / (x.shape[0] - 1)).sqrt()


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
